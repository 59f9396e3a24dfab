package config

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/guard"
)

// Guideline is what a repository wants looked at in some of its files.
type Guideline struct {
	Paths []string `json:"paths"` // globs
	Text  string   `json:"text"`
}

func guidelineKeys(g *Guideline) keys {
	return keys{listed("paths", &g.Paths, wrongGlob), text("text", &g.Text)}
}

func checkGuideline(r *reader, n ast.Node, g Guideline) {
	if len(g.Paths) == 0 || strings.TrimSpace(g.Text) == "" {
		r.fail(n, "a guideline needs paths, a list of globs, and text")
	}
}

func languageKey(into *string) key {
	k := ruled("language", into, wrongLanguage)
	inner := k.read
	k.read = func(r *reader, n ast.Node) {
		inner(r, n)
		*into = strings.TrimSpace(*into)
	}
	k.show = func() any { return cmp.Or(*into, "English") }
	return k
}

func wrongLanguage(s string) string {
	const maxWords, maxLanguage = 3, 40 // and bytes
	foreign := func(c rune) bool { return c != ' ' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	s = strings.TrimSpace(s)
	if words := len(strings.Fields(s)); words == 0 || words > maxWords || len(s) > maxLanguage ||
		strings.ContainsFunc(s, foreign) || guard.Visible(s) != s {
		return mistake("%.60q is not a language: name it in up to %d words of letters, digits and hyphens, "+
			"%d bytes in all", s, maxWords, maxLanguage)
	}
	return ""
}

func wrongPath(path string) string {
	if diff.CheckPath(path) != nil || strings.ContainsAny(path, "*?[]{}") {
		return mistake("%.60q is not a file's path from the repository's top", path)
	}
	return ""
}
