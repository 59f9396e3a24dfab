// Package change holds proposed changes to files: the whole new text of each, with the blob
// that it replaces, so that exactly what a person approved is committed.
//
// It holds values and pure functions. Texts and paths come from a model and are untrusted.
// Start reading at File, then Draft, which is the whole change for a ticket, and Apply, which
// applies a model's edits.
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

// File is the proposed state of one file. Its mode is 100644.
type File struct {
	Path        string `json:"path"`
	Description string `json:"description,omitzero"` // why it changes, in the model's words
	Base        string `json:"base,omitzero"`        // Git's hash of the blob that it replaces; empty for a new file
	Content     string `json:"content"`              // the whole new text
	Patch       string `json:"patch"`                // the hunks from base to content
	Added       int    `json:"added"`
	Removed     int    `json:"removed"`
	Doubt       bool   `json:"doubt,omitzero"` // it may not parse
}

// Of returns the File that changes before into after. base is the blob of before, or "" if the
// file is new.
func Of(path, description, base, before, after string) File {
	f := File{Path: path, Description: description, Base: base, Content: after}
	f.Patch, f.Added, f.Removed = diff.Between(before, after)
	return f
}

// New reports whether the base commit lacks the file.
func (f File) New() bool { return f.Base == "" }

// Digest returns the SHA-256, in hex, over the paths, base blobs and contents, in order.
func Digest(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d:%s,%s,%d:%s,", len(f.Path), f.Path, f.Base, len(f.Content), f.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Lines counts the added and removed lines of all files.
func Lines(files []File) (n int) {
	for _, f := range files {
		n += f.Added + f.Removed
	}
	return n
}

// Diffs returns the files as input for a review, sorted by path.
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

// Unified returns all files as one diff, which git apply accepts at the base.
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

// The types of ticket, as Class.Type has them.
const (
	Bug   = "Bug"
	Story = "Story"
)

// Draft is the change for a ticket so far. Its texts come from the ticket and a model, and are
// untrusted.
type Draft struct {
	Ticket    ticket.Ticket // only as much of it as may be shown
	Class     Class
	Scope     Scope
	Chunks    []Chunk // search results, best first
	RootCause string  // of a bug
	Changes   []File
	Tests     []File
	Check     *Check // nil if no command was requested
}

// Proposed returns all files of the draft: the change, then its tests.
func (d Draft) Proposed() []File { return slices.Concat(d.Changes, d.Tests) }

// Class says what a ticket asks for, under the keys of the model's answer. All but Type and Note is
// in the model's words.
type Class struct {
	Type       string   `json:"confirmed_type,omitzero"` // Bug or Story
	Summary    string   `json:"technical_summary,omitzero"`
	Components []string `json:"affected_components,omitempty"`
	Complexity string   `json:"complexity,omitzero"` // low, medium or high
	Note       string   `json:"note,omitzero"`       // in our words, if the type differs from the tracker's
}

// Kind returns fix for a bug and feat for anything else, as branches and commits name it.
func (c Class) Kind() string {
	if c.Type == Bug {
		return "fix"
	}
	return "feat"
}

// Scope says which parts of the repository the change concerns.
type Scope struct {
	Modules []Module `json:"modules,omitempty"`
	Likely  []string `json:"likely,omitempty"` // files that the model expects to change
	Notes   []string `json:"notes,omitempty"`  // in our words: what the search could not do
}

// Beyond returns the first module of the scope that is not in names, or "". Empty names allow all.
func (s Scope) Beyond(names []string) string {
	for _, m := range s.Modules {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			return m.Name
		}
	}
	return ""
}

// Module is a module that the change may touch, with the model's reason.
type Module struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Chunk is a piece of a file that a search found for the ticket.
type Chunk struct {
	Path      string  `json:"path"`
	StartLine int     `json:"start_line"`
	EndLine   int     `json:"end_line"`
	Score     float64 `json:"score"`
	Text      string  `json:"text,omitempty"`
}

// Check is the result of running the project's own command on the change, on the machine of
// the person who requested it. Output is untrusted; of a long one only the end is kept.
type Check struct {
	Command string `json:"command"`
	Passed  bool   `json:"passed"`
	Output  string `json:"output,omitzero"`
}

// Verdict returns "passed" or "failed".
func (c Check) Verdict() string {
	if c.Passed {
		return "passed"
	}
	return "failed"
}
