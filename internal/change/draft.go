package change

import (
	"slices"

	"github.com/org/pr-review-action/internal/ticket"
)

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
