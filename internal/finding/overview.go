package finding

import (
	"fmt"
	"strconv"

	"github.com/org/pr-review-action/internal/cost"
)

// Overview is the result of the step that looks at the whole change after every file was reviewed.
// Text and the texts in its lists are a model's words.
type Overview struct {
	Key      string      `json:"key,omitempty"`  // identifies what was looked at; empty if something is missing
	Text     string      `json:"text,omitempty"` // two or three sentences on what the change does; for the approver
	Findings []Finding   `json:"findings,omitempty"`
	Criteria []Criterion `json:"criteria,omitempty"`
	Unasked  []Unasked   `json:"unasked,omitempty"`
	Notes    []string    `json:"notes,omitempty"`   // what could not be looked at, in our own words
	Dropped  bool        `json:"dropped,omitempty"` // by the approver, if it was to be posted
	Edited   bool        `json:"edited,omitempty"`  // so that Text is the approver's
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

// Lines is a range of lines of the diff, on the new side if the diff shows them there.
type Lines struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

// Numbers returns "14" for one line and "14–20" for several.
func (l Lines) Numbers() string {
	if l.StartLine == l.EndLine {
		return strconv.Itoa(l.EndLine)
	}
	return fmt.Sprintf("%d–%d", l.StartLine, l.EndLine)
}

// Criterion is an acceptance criterion and the change's verdict on it.
type Criterion struct {
	N        int     `json:"n"`
	Text     string  `json:"text,omitempty"` // from the ticket, if context.show allows it; untrusted
	Verdict  Verdict `json:"verdict"`
	Evidence []Lines `json:"evidence"`
}

// Unasked is a part of the change that no ticket asks for.
type Unasked struct {
	Lines
	Text string `json:"text,omitempty"` // what it does; empty if the text must not leave the job
}
