// Package ingest reads a change: a pull request through the API, a range of a
// clone, or a diff.
//
// It gives back the same shape for each and judges nothing. Of a pull request
// nothing is checked out and nothing from its head is trusted: settings come
// from the base. Start reading at Change.
package ingest

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
)

// Change is what a review is about.
type Change struct {
	Name     string     // as people call it: #42, main...HEAD, demo
	Thread   string     // the thread's id
	Pull     *pull.Pull // nil for local input
	Head     string     // the reviewed commit; empty for a diff
	Files    []diff.File
	Unlisted int // changed files that GitHub does not list

	Config config.Config
	// path of the settings file in the repository; empty for a diff, which has no base to read it from
	Settings   string
	Attributes []byte // .gitattributes of the base, or empty
	// of the trusted commit: how to work on the repository; it guides a review and orders nothing
	Guidance []prompt.Document
	Base     string // the commit that the change starts from; empty for a diff
	Tree     string // of a work tree: its files as a tree of Git's; else empty
	Objects  string // of a work tree: the folder that holds what the clone does not; else empty
}

// maxGuidance bounds a file of guidance, in bytes. A larger one is left out.
const maxGuidance = 64 << 10

// guide takes up a document that is there and of bounded size.
func (c *Change) guide(path string, text []byte) {
	if len(text) > 0 && len(text) <= maxGuidance {
		c.Guidance = append(c.Guidance, prompt.Document{Path: path, Text: string(text)})
	}
}

// Digest names the change's diff; see diff.Digest.
func (c Change) Digest() string { return diff.Digest(c.Files) }

// byPath puts files in the order in which they are reviewed, shown and hashed.
func byPath(files []diff.File) []diff.File {
	slices.SortStableFunc(files, func(a, b diff.File) int { return cmp.Compare(a.Path, b.Path) })
	return files
}
