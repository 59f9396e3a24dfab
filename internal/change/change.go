// Package change holds what is proposed for the files of a commit: whole new texts, each
// with the blob that it replaces, so that what a person approved is what is committed.
//
// It holds values and pure functions. Texts and paths are a model's: untrusted. Start
// reading at File, then Draft, which is all of a ticket's change, and Apply, which takes a
// model's edits.
package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/ticket"
)

// File is one file as it is to be. Its mode is 100644.
type File struct {
	Path        string `json:"path"`
	Description string `json:"description,omitzero"` // why, in the model's words
	Base        string `json:"base,omitzero"`        // Git's name of the blob that it replaces; empty of a new file
	Content     string `json:"content"`              // all of the new text
	Patch       string `json:"patch"`                // hunks, from base to content
	Added       int    `json:"added"`
	Removed     int    `json:"removed"`
}

// Of returns a file that has before where base names a blob, and is new where it is empty.
func Of(path, description, base, before, after string) File {
	f := File{Path: path, Description: description, Base: base, Content: after}
	f.Patch, f.Added, f.Removed = diff.Between(before, after)
	return f
}

// New reports whether the base has no such file.
func (f File) New() bool { return f.Base == "" }

// Digest is the SHA-256, in hex, over paths, base blobs and contents in order.
func Digest(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d:%s,%s,%d:%s,", len(f.Path), f.Path, f.Base, len(f.Content), f.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Lines counts the changed lines of all files.
func Lines(files []File) (n int) {
	for _, f := range files {
		n += f.Added + f.Removed
	}
	return n
}

// Diffs are the files as a review reads them.
func Diffs(files []File) []diff.File {
	all := make([]diff.File, len(files))
	for i, f := range files {
		all[i] = diff.File{Path: f.Path, Status: diff.Modified, Additions: f.Added, Deletions: f.Removed,
			Patch: f.Patch}
		if f.New() {
			all[i].Status = diff.Added
		}
	}
	order.Stable(all, func(a, b diff.File) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// Unified is all files as one diff, which git apply takes at the base.
func Unified(files []File) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "diff --git a/%s b/%s\n", f.Path, f.Path)
		from := "a/" + f.Path
		if f.New() {
			b.WriteString("new file mode 100644\n")
			from = "/dev/null"
		}
		if f.Patch != "" {
			fmt.Fprintf(&b, "--- %s\n+++ b/%s\n%s\n", from, f.Path, f.Patch)
		}
	}
	return b.String()
}

// The types that a ticket is implemented as.
const (
	Bug   = "Bug"
	Story = "Story"
)

// Draft is a change for a ticket as far as it has come. Texts are the ticket's and a
// model's.
type Draft struct {
	Ticket    ticket.Ticket // as much of it as may be shown
	Class     Class
	Scope     Scope
	Chunks    []Chunk // that a search found, the best first
	RootCause string  // of a bug
	Changes   []File
	Tests     []File
	Check     *Check // nil where no command was asked for
}

// Proposed are all files of the draft: the change, then its tests.
func (d Draft) Proposed() []File { return slices.Concat(d.Changes, d.Tests) }

// Class is what a ticket asks for, in the model's words but for Type and Note.
type Class struct {
	Type       string   `json:"type,omitzero"` // Bug or Story
	Summary    string   `json:"summary,omitzero"`
	Components []string `json:"components,omitempty"`
	Complexity string   `json:"complexity,omitzero"` // low, medium or high
	Note       string   `json:"note,omitzero"`       // ours: where the type is not the tracker's
}

// Scope is where the change takes place.
type Scope struct {
	Modules []Module `json:"modules,omitempty"`
	Likely  []string `json:"likely,omitempty"` // files that the model expects to change
	Notes   []string `json:"notes,omitempty"`  // ours
}

// Beyond is the name of a module that a list of names leaves out; an empty one names all.
func (s Scope) Beyond(names []string) string {
	for _, m := range s.Modules {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			return m.Name
		}
	}
	return ""
}

// Module is one that the change may touch, and the model's reason for it.
type Module struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Chunk is a piece of the repository that a search found for the ticket.
type Chunk struct {
	Path      string  `json:"path"`
	StartLine int     `json:"start_line"`
	EndLine   int     `json:"end_line"`
	Score     float64 `json:"score"`
	Text      string  `json:"text,omitempty"`
}

// Check is what the project's own command said of the change, on the machine of who asked
// for it. Output is untrusted text, its end where it is long.
type Check struct {
	Command string `json:"command"`
	Passed  bool   `json:"passed"`
	Output  string `json:"output,omitzero"`
}

// Verdict is what came of the command.
func (c Check) Verdict() string {
	if c.Passed {
		return "passed"
	}
	return "failed"
}
