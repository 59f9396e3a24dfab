package config

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// Report configures what a review reports. Zero values mean the defaults.
type Report struct {
	Criteria   bool             `json:"criteria,omitzero"` // the section "What was asked" in the posted review
	Tests      bool             `json:"tests,omitzero"`    // report that tests are missing
	Style      bool             `json:"style,omitzero"`
	From       finding.Severity `json:"from,omitzero"`       // the least severe that is reported; empty for all
	Categories []string         `json:"categories,omitzero"` // reported categories; empty for all
	Without    []string         `json:"without,omitzero"`    // rules that are not reported: errcheck, revive lll
}

// The categories that are reported only if Report enables them.
const (
	CategoryTests = "tests"
	CategoryStyle = "style"
)

func reportKeys(p *Report) keys {
	known := []string{"correctness", "security", "concurrency", "error-handling", "resource", "data", "compatibility",
		"performance", "design", "maintainability", "requirement", "test", CategoryTests, CategoryStyle, "other",
		finding.Lint, finding.Secret, finding.HiddenText}
	categories := textList("categories", &p.Categories, anyText)
	categories.read = func(r *reader, n ast.Node) { p.Categories = r.texts(n, r.oneOf(known)) }
	return keys{
		flag("criteria", &p.Criteria), flag("tests", &p.Tests), flag("style", &p.Style),
		choice("from", &p.From, finding.Nit, finding.Severities()...),
		categories, textList("without", &p.Without, anyText),
	}
}

// OverviewUse says where the overview, the sentences on what a change does, is shown.
type OverviewUse string

// The values of overview; the empty one is OverviewShow.
const (
	OverviewShow OverviewUse = "show" // to the approver
	OverviewPost OverviewUse = "post" // also in the review
	OverviewOff  OverviewUse = "off"
)

// Guideline is what a repository wants reviewers to check in some of its files.
type Guideline struct {
	Paths []string `json:"paths"` // globs
	Text  string   `json:"text"`
}

func guidelineKeys(g *Guideline) keys {
	return keys{textList("paths", &g.Paths, wrongGlob), text("text", &g.Text)}
}

func checkGuideline(r *reader, n ast.Node, g Guideline) {
	if len(g.Paths) == 0 || strings.TrimSpace(g.Text) == "" {
		r.fail(n, "a guideline needs paths, a list of globs, and text")
	}
}

func languageKey(into *string) key {
	k := checkedText("language", into, wrongLanguage).then(func() { *into = strings.TrimSpace(*into) })
	k.show = func() any { return cmp.Or(*into, "English") }
	return k
}

func wrongLanguage(s string) string {
	const maxWords, maxLanguage = 3, 40 // words, and bytes
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
