// Package decision parses what an approver wrote about a draft, and holds it against
// the items of that draft, whatever they are.
//
// It holds values and pure functions: it neither asks who decided nor posts
// anything. Text that it keeps (reasons, new bodies, notes, feedback) is
// untrusted and is made safe where it is rendered. Start reading at Decision;
// Parse makes one, Check holds it against a draft; finding.Apply carries it out.
package decision

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is what happens to a draft as a whole.
type Verdict string

// The verdicts. A decision without one leaves it to the caller's default.
const (
	Approve Verdict = "approve"
	Abort   Verdict = "abort"
	Revise  Verdict = "revise"
)

// How says what of a command named a finding that is dropped.
type How string

// The ways to be dropped. Only who wrote the id has judged the finding.
const (
	ByID       How = "id"
	ByRange    How = "range"
	BySeverity How = "severity"
	ByGlob     How = "glob"
	ByKeep     How = "keep" // /keep named others
)

// Item is one thing of a draft that a decision can leave out or change, such as a
// finding. Path may be empty.
type Item struct {
	ID       string // F1, F2, …
	Severity Severity
	Path     string
	Posted   bool // by an earlier review: no part of the draft, and dropped by its id, with a reason, alone
	File     bool // of a proposed change: dropped by its path, or kept as it is
}

// Drop leaves a finding out. Reason may be empty; How is, in records of versions
// that knew ids alone.
type Drop struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
	How    How    `json:"how,omitempty"`
}

// Judged reports whether somebody said of this very finding that it is wrong.
func (d Drop) Judged() bool { return d.Reason != "" && (d.How == ByID || d.How == "") }

// Edit replaces a finding's body; title and severity stay.
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

// Regrade gives a finding another severity.
type Regrade struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
}

// Command is one command line as it was written. Line counts from 1, Text is
// the line without surrounding white space, Name is in small letters, IDs are
// the findings it names. What else it names only Check can find.
type Command struct {
	Line int      `json:"line"`
	Text string   `json:"text"`
	Name string   `json:"name"` // with its slash: /drop
	IDs  []string `json:"ids,omitempty"`

	picks  []pick
	reason string
}

// Decision is a parsed decision: a verdict, possibly none, changes of single
// findings, and the approver's words.
type Decision struct {
	Verdict  Verdict   `json:"verdict,omitempty"`
	Drop     []Drop    `json:"drop,omitempty"`
	Edit     []Edit    `json:"edit,omitempty"`
	Move     []Move    `json:"move,omitempty"`
	Severity []Regrade `json:"severity,omitempty"`
	Feedback string    `json:"feedback,omitempty"` // of /revise
	Note     string    `json:"note,omitempty"`     // the lines that are no commands
	Commands []Command `json:"commands,omitempty"` // in their order, for messages
}

// Under returns the decision with the verdict that was given beside the text
// (the input, a flag). An *Error names the line that contradicts it.
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

// Severity says how grave an item of a draft is.
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

// ParseSeverity reads a severity's name; the error lists the valid ones.
func ParseSeverity(name string) (Severity, error) {
	s := Severity(name)
	if s.Rank() < 0 {
		names := make([]string, 0, len(Severities()))
		for _, v := range Severities() {
			names = append(names, string(v))
		}
		return "", fmt.Errorf("severity %q is none of %s", name, strings.Join(names, ", "))
	}
	return s, nil
}

// OverviewID names, in place of a finding, the sentences on what a change does, where
// they are posted. They can be dropped and edited.
const OverviewID = "O1"

// CheckOverview refuses commands about the overview of a draft that posts none. The error
// is an *Error.
func (d Decision) CheckOverview(posted bool) error {
	var bad Error
	for _, c := range d.Commands {
		if !posted && slices.Contains(c.IDs, OverviewID) {
			bad.add(c, "this draft posts no overview")
		}
	}
	return bad.orNil()
}

// Overview returns the sentences as decided, and whether they are left out.
func (d Decision) Overview(text string) (decided string, dropped bool) {
	for _, e := range d.Edit {
		if e.ID == OverviewID {
			text = e.Body
		}
	}
	return text, slices.ContainsFunc(d.Drop, func(x Drop) bool { return x.ID == OverviewID })
}
