package finding

import (
	"fmt"
	"strconv"

	"github.com/org/pr-review-action/internal/cost"
)

// Overview is what the step over the whole change came to, once every file was reviewed.
// Text, and what its lists say, are a model's words.
type Overview struct {
	Key      string      `json:"key,omitempty"`  // names what was looked at; empty where something is missing
	Text     string      `json:"text,omitempty"` // two or three sentences on what the change does; for the approver
	Findings []Finding   `json:"findings,omitempty"`
	Criteria []Criterion `json:"criteria,omitempty"`
	Unasked  []Unasked   `json:"unasked,omitempty"`
	Notes    []string    `json:"notes,omitempty"`   // what could not be looked at, in our own words
	Dropped  bool        `json:"dropped,omitempty"` // by the approver, where it was to be posted
	Usage    cost.Usage  `json:"usage,omitzero"`
	Calls    []Call      `json:"calls,omitempty"`
}

// Verdict says whether a change does what a criterion asks.
type Verdict string

// The verdicts.
const (
	Met     Verdict = "met" // with evidence in the diff
	NotMet  Verdict = "not_met"
	Unknown Verdict = "unknown"
)

// Lines are lines of the diff, of the new side where the diff shows them there.
type Lines struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

// Numbers is "14" for one line and "14–20" for several.
func (l Lines) Numbers() string {
	if l.StartLine == l.EndLine {
		return strconv.Itoa(l.EndLine)
	}
	return fmt.Sprintf("%d–%d", l.StartLine, l.EndLine)
}

// Criterion is an acceptance criterion and what the change does about it.
type Criterion struct {
	N        int     `json:"n"`
	Text     string  `json:"text,omitempty"` // of the ticket, where context.show allows it; untrusted
	Verdict  Verdict `json:"verdict"`
	Evidence []Lines `json:"evidence"`
}

// Unasked is a part of the change that no ticket asks for.
type Unasked struct {
	Lines
	Text string `json:"text,omitempty"` // what it does; empty where no words may leave the job
}
