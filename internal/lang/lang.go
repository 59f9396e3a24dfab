// Package lang is what is known of languages: which files are of one, what their comments, strings and definitions
// look like, which names tests have, and by which words Markdown calls a language.
//
// It goes by names and by the form of lines, and parses nothing, so it can err.
// A language is a row of table.go and nothing else. Start reading at Of.
package lang

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Of is the language of a file, by its name.
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

// Named is the language of a name.
func Named(name string) Language {
	for _, l := range table {
		if l.Name == name {
			return l
		}
	}
	return Language{}
}

// MarkdownWord reports whether a word names a language whose blocks are coloured in Markdown and nothing else: those
// that GitHub draws (mermaid, math, geojson, stl) or applies (suggestion) are none.
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

// Language is what is known of the files of one language. The zero value stands
// for any other file: its text is all code.
type Language struct {
	Name string // in lower case, such as typescript
	Like string // another language whose readers can read this one, such as javascript; may be empty
	Kind Kind

	extensions string // with their dots, separated by spaces
	words      string // by which a Markdown block is said to be in it, separated by spaces
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

// NotCode is the first comment or string in a text from an offset on; to is 0 where there is none.
func (l Language) NotCode(text string, at int) (from, to int) { return l.notCode.next(text, at) }

// Blank overwrites comments and strings with spaces, line breaks kept, byte for
// byte as long. A string with a brace or a dollar stays: there may be code in it.
func (l Language) Blank(text string) string { return l.notCode.blank(text) }

// Defines tells of a line, comments and strings blanked, whether it defines the
// name. It goes by the form of the line, so it can err.
func (l Language) Defines(name string) func(line string) bool {
	if l.defines.source == "" {
		return anyForms.defines(name)
	}
	return l.defines.defines(name)
}

// testFolders hold tests and what they read.
var testFolders = strings.Fields("test tests __tests__ testdata testing spec fixture fixtures e2e mock mocks " +
	"__mocks__ integration")

var testNames = regexp.MustCompile(`(?i:[.\-_](?:test|spec)\.\w+$|^(?:test_.*|conftest)\.py$|\.bats$)` +
	`|Tests?\.(?:java|cs|kt)$`)

// IsTest reports whether a file is of tests, by its path. Below src/main a folder
// of such a name is part of a package's name.
func IsTest(file string) bool {
	folders, name := path.Split(file)
	tests := testNames.MatchString(name)
	for folder := range strings.SplitSeq(folders, "/") {
		tests = tests || slices.Contains(testFolders, strings.ToLower(folder))
	}
	return tests && !strings.Contains("/"+file, "/src/main/")
}
