// Package dataset holds evaluation cases: historical changes with known defects, or
// that are known to have none.
//
// It reads, checks and writes case files, and embeds a starter set. It reviews
// nothing and scores nothing. It reads only the files that it is given, and the
// diffs and trees that they name in their own folder. Start reading at Case, then
// Read, which checks whole files before it returns any case.
package dataset

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/ingest"
)

// Kind tells whether a change is known to have defects.
type Kind string

// The kinds of cases.
const (
	Bug   Kind = "bug"   // has golden findings
	Clean Kind = "clean" // has none
)

// Visibility tells what a reader needs to know to see a defect.
type Visibility string

// The visibilities of golden findings.
const (
	Local   Visibility = "local"   // the diff, and common knowledge of the language
	Context Visibility = "context" // more of the file, another file, or a framework
)

// Place is a range of lines on the new side of a change, 1-based and inclusive.
type Place struct {
	Path      string `json:"path"`
	LineStart int    `json:"line_start"`
	LineEnd   int    `json:"line_end"`
}

// Golden is a finding that is known to be true. A file of cases calls a blocker
// "critical". Path and Issue are untrusted text.
type Golden struct {
	Path       string           `json:"path"`
	LineStart  int              `json:"line_start"` // as in Place
	LineEnd    int              `json:"line_end"`
	Severity   finding.Severity `json:"severity"`
	Visibility Visibility       `json:"visibility"`
	Category   string           `json:"category,omitzero"` // one of those in the reviewer's prompt
	Issue      string           `json:"issue"`             // one sentence
	Source     string           `json:"source,omitzero"`   // the commit that fixed it
	Also       []Place          `json:"also,omitzero"`     // other places where a finding counts as this one
	Evidence   []Place          `json:"evidence,omitzero"` // lines at the head, outside the diff, that decide it
}

// Places returns the finding's own place, then the others where it may be hit.
func (g Golden) Places() []Place {
	return append([]Place{{g.Path, g.LineStart, g.LineEnd}}, g.Also...)
}

// Case is a change and what is known about it. All its text is untrusted, except
// the ID, which consists of visible ASCII.
type Case struct {
	ID          string   `json:"id"`
	Language    string   `json:"language"`
	Kind        Kind     `json:"kind"`
	Repo        string   `json:"repo,omitzero"` // owner/name
	Base        string   `json:"base,omitzero"` // full commit ids
	Head        string   `json:"head,omitzero"`
	PR          int      `json:"pr,omitzero"`   // 0 for a change without a pull request
	Date        string   `json:"date,omitzero"` // of the head commit
	Title       string   `json:"title"`
	Description string   `json:"description,omitzero"`
	Diff        string   `json:"diff"` // unified, of at most MaxDiff bytes
	Golden      []Golden `json:"golden"`
	Ticket      *Ticket  `json:"ticket,omitzero"` // what the change was made for; nil if unknown
	// the files before the change, text by path; nil if the case has only its diff
	Tree          map[string]string `json:"tree,omitzero"`
	Licence       string            `json:"licence,omitzero"` // SPDX, of the diff
	SourceDataset string            `json:"source_dataset,omitzero"`
	Injection     bool              `json:"injection,omitzero"` // the diff tries to steer reviewer or judge
}

// Change parses the case's diff as a review does, and names the change after the
// case. It never fails for a case from Read.
func (c Case) Change() (ingest.Change, error) {
	change, err := ingest.Diff(c.ID, strings.NewReader(c.Diff))
	if err != nil {
		return ingest.Change{}, fmt.Errorf("case %s: %w", c.ID, err)
	}
	return change, nil
}

// The names of the embedded sets, which were written for this project. Read takes them in
// place of a file name.
const (
	// StarterName has 40 small changes, five in each of eight languages, and 14 whose
	// defect depends on a line of another file, with the tree that contains it.
	StarterName = "starter"
	// TicketsName has eight clean changes and the tickets that they were made for.
	TicketsName = "tickets"
)

//go:embed starter tickets
var embedded embed.FS

// filesOf returns the files of an embedded set, in the order of its cases. It returns nil if
// there is no such set.
func filesOf(set string) []string {
	switch set {
	case StarterName:
		return []string{"go", "typescript", "python", "java", "rust", "ruby", "csharp", "c", "trees"}
	case TicketsName:
		return []string{"tickets"}
	}
	return nil
}

// Embedded reports whether name is the name of an embedded set.
func Embedded(name string) bool { return len(filesOf(name)) > 0 }

func (r *reader) addSet(of string) {
	folder, _ := fs.Sub(embedded, of) // it is embedded
	for _, language := range filesOf(of) {
		file := language + ".jsonl"
		text, _ := fs.ReadFile(folder, file) // an empty text is a problem
		r.addText(source{of + "/" + file, folder}, text)
	}
}
