// Package lang knows languages: which files belong to one, what their comments, strings and definitions look like,
// how tests are named, and which words Markdown uses for a language.
//
// It goes by names and by the form of lines, and parses nothing, so it can be wrong. A language is just a row of
// table.go. Start reading at Of.
package lang

import (
	"cmp"
	"path"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/pattern"
)

// Of returns the language of a file, by its name.
func Of(file string) Language {
	base := strings.ToLower(path.Base(file))
	switch {
	case strings.HasPrefix(base, "dockerfile"), strings.HasPrefix(base, "containerfile"):
		return Named("dockerfile")
	case base == "rakefile", base == "gemfile":
		return Named("ruby")
	}
	return byExtension()[path.Ext(base)]
}

// Named returns the language with a name, or the zero value.
func Named(name string) Language {
	for _, l := range table {
		if l.Name == name {
			return l
		}
	}
	return Language{}
}

// MarkdownWord reports whether a word only selects a language for highlighting in Markdown. The words that GitHub
// renders (mermaid, math, geojson, stl) or applies (suggestion) do not.
func MarkdownWord(word string) bool { return markdownWords()[word] }

var byExtension = sync.OnceValue(func() map[string]Language {
	all := map[string]Language{}
	for _, l := range table {
		for _, extension := range strings.Fields(l.extensions) {
			all[extension] = l
		}
	}
	return all
})

var markdownWords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, l := range table {
		for _, word := range strings.Fields(cmp.Or(l.words, l.Name)) {
			all[word] = true
		}
	}
	for _, word := range strings.Fields(onlyWords) {
		all[word] = true
	}
	return all
})

// Language describes the files of one language. The zero value is for any other file: all of its text is code.
type Language struct {
	Name string // in lower case, such as typescript
	Like string // another language whose readers can read this one, such as javascript; may be empty
	Kind Kind

	extensions string // with dots, separated by spaces
	words      string // that name it in a Markdown block, separated by spaces
	notCode    form
	defines    forms
}

// Kind says what a file's text is for.
type Kind int

// The kinds of text.
const (
	Code Kind = iota
	Settings
	Prose
)

// Defines returns a function that reports whether a line, comments and strings blanked, defines the name. It goes by
// the form of the line, so it can be wrong. Prose defines nothing.
func (l Language) Defines(name string) func(line string) bool {
	switch {
	case l.Kind == Prose:
		return func(string) bool { return false }
	case l.defines.source == "":
		return anyForms.defines(name)
	}
	return l.defines.defines(name)
}

// testFolders match the names of folders with tests and test data, such as App.Tests and integrationTest.
var testFolders = pattern.Lazy(`^(?i:tests?|testdata|testing|spec|fixtures?|e2e|mocks?|integration|` +
	`__(?:test|mock|fixture)\w*__)$|[.a-z]Tests?$`)

var testNames = pattern.Lazy(`(?i:[.\-_](?:test|spec)\.\w+$|^(?:test_.*|tests|conftest)\.py$|^tests?\.rs$|\.bats$)` +
	`|Tests?\.(?:java|cs|kt|php|swift)$`)

// IsTest reports whether a file belongs to tests, by its path. Below src/main such a folder name is part of a
// package name.
func IsTest(file string) bool {
	folders, name := path.Split(file)
	tests := testNames().MatchString(name)
	for folder := range strings.SplitSeq(folders, "/") {
		tests = tests || testFolders().MatchString(folder)
	}
	return tests && !strings.Contains("/"+file, "/src/main/")
}
