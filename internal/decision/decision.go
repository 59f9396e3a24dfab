// Package decision parses what an approver wrote about a draft and checks it against the
// items of that draft, whatever they are.
//
// It has values and pure functions only: it neither asks who decided nor posts anything.
// Text that it keeps (reasons, new bodies, notes, feedback) is untrusted and is made safe
// where it is rendered. Start reading at Decision; Parse makes one, Check validates it
// against a draft, finding.Apply applies it.
package decision

import (
	"fmt"
	"slices"
)

// Verdict is what happens to a draft as a whole.
type Verdict string

// The verdicts. A decision without one leaves it to the caller's default.
const (
	Approve Verdict = "approve"
	Abort   Verdict = "abort"
	Revise  Verdict = "revise"
)

// How says how a command selected a finding that it drops.
type How string

// The ways to select a finding. Only an approver who wrote the ID has judged the finding itself.
const (
	ByID       How = "id"
	ByRange    How = "range"
	BySeverity How = "severity"
	ByGlob     How = "glob"
	ByKeep     How = "keep" // /keep named others
)

// Item is one element of a draft that a decision can drop or change, such as a finding.
// Path may be empty.
type Item struct {
	ID       string // F1, F2, …
	Severity Severity
	Path     string
	Posted   bool // by an earlier review: not part of the draft; only its ID with a reason drops it
	File     bool // a file of a proposed change: dropped by its path, or kept as it is
}

// Drop leaves a finding out. Reason may be empty. How is empty in records of versions that
// knew only IDs.
type Drop struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
	How    How    `json:"how,omitempty"`
}

// Judged reports whether the approver rejected this very finding, with a reason.
func (d Drop) Judged() bool { return d.Reason != "" && (d.How == ByID || d.How == "") }

// Edit replaces a finding's body; its title and severity stay.
type Edit struct {
	ID   string `json:"id"`
	Body string `json:"body"`
}

// Move puts a finding into the review's body instead of at its line. Reason
// may be empty.
type Move struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
}

// Regrade changes a finding's severity.
type Regrade struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
}

// Command is one command line as it was written. Line counts from 1, Text is the line
// without surrounding white space, Name is in lower case, IDs are the findings that it
// names by ID. Only Check can resolve what else it selects.
type Command struct {
	Line int      `json:"line"`
	Text string   `json:"text"`
	Name string   `json:"name"` // with its slash: /drop
	IDs  []string `json:"ids,omitempty"`

	picks  []pick
	reason string
}

// Decision is a parsed decision: a verdict if there is one, changes to single findings, and
// the approver's words.
type Decision struct {
	Verdict  Verdict   `json:"verdict,omitempty"`
	Drop     []Drop    `json:"drop,omitempty"`
	Edit     []Edit    `json:"edit,omitempty"`
	Move     []Move    `json:"move,omitempty"`
	Severity []Regrade `json:"severity,omitempty"`
	Feedback string    `json:"feedback,omitempty"` // of /revise
	Note     string    `json:"note,omitempty"`     // the lines that are not commands
	Commands []Command `json:"commands,omitempty"` // in the order of the text, for messages
}

// Under returns the decision with a verdict that was given outside the text (by the input
// or a flag). An *Error names each line that contradicts it.
func (d Decision) Under(given Verdict) (Decision, error) {
	var bad Error
	for _, c := range d.Commands {
		if v := verdictOf(c.Name); v != "" && v != given {
			bad.add(c, "the decision was given as "+string(given))
		} else if v == "" && given != Approve {
			bad.add(c, "changes a finding, and "+string(given)+" posts none")
		}
	}
	if given == Revise && d.Feedback == "" {
		bad.add(Command{}, "say what should be different: /revise TEXT")
	}
	d.Verdict = given
	return d, bad.orNil()
}

// Severity says how serious an item of a draft is.
type Severity string

// The severities, weakest first.
const (
	Nit     Severity = "nit"
	Minor   Severity = "minor"
	Major   Severity = "major"
	Blocker Severity = "blocker"
)

// Severities lists every severity, weakest first.
func Severities() []Severity { return []Severity{Nit, Minor, Major, Blocker} }

// Rank orders severities: 0 for nit up to 3 for blocker, -1 for an unknown one.
func (s Severity) Rank() int { return slices.Index(Severities(), s) }

// ParseSeverity parses a severity's name. The error lists the valid ones.
func ParseSeverity(name string) (Severity, error) {
	s := Severity(name)
	if s.Rank() < 0 {
		return "", fmt.Errorf("severity %q is not one of nit, minor, major, blocker", name)
	}
	return s, nil
}

// OverviewID stands for the overview, the sentences on what a change does, in commands
// about a draft that posts them. They can be dropped and edited.
const OverviewID = "O1"

// CheckOverview returns an *Error if a command is about the overview and the draft does not
// post one.
func (d Decision) CheckOverview(posted bool) error {
	var bad Error
	for _, c := range d.Commands {
		if !posted && slices.Contains(c.IDs, OverviewID) {
			bad.add(c, "this draft posts no overview")
		}
	}
	return bad.orNil()
}

// Overview returns the overview after the decision's edits, and whether it is dropped.
func (d Decision) Overview(text string) (decided string, dropped bool) {
	for _, e := range d.Edit {
		if e.ID == OverviewID {
			text = e.Body
		}
	}
	return text, slices.ContainsFunc(d.Drop, func(x Drop) bool { return x.ID == OverviewID })
}
