// Package lang is what is known of languages: which files are of one, what their
// comments, strings and definitions look like, which names tests have, and by
// which words Markdown calls a language.
//
// It goes by names and by the form of lines, and parses nothing, so it can err.
// A language is a row of table.go and nothing else. Start reading at Of.
package lang

import (
	"cmp"
	"path"
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

// MarkdownWord reports whether a word names a language whose blocks are coloured
// in Markdown and nothing else: those that GitHub draws (mermaid, math, geojson,
// stl) or applies (suggestion) are none.
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
