package finding

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/order"
)

// Fate says what became of an earlier finding, or that a person said it.
type Fate string

// The fates.
const (
	WasPosted    Fate = "posted"  // by us, after a decision
	WasDropped   Fate = "dropped" // by an approver
	WasCommented Fate = "said"    // by a person, in a comment on the lines
)

// Status says what the draft under way found of an earlier finding.
type Status string

// The standings; an empty one is not known.
const (
	StillThere Status = "still_there" // found again
	Resolved   Status = "resolved"    // its lines are gone or were changed, and it was not found again
)

// Earlier is a finding of an earlier draft of the same pull request, or what a
// person said of a line. Path, Quote, Title, Category and By are untrusted text.
type Earlier struct {
	Fate        Fate   `json:"fate"`
	Fingerprint string `json:"fingerprint,omitempty"` // empty for what a person said
	ID          string `json:"id,omitempty"`          // that it was posted under, F1; empty where it is not known
	Listed      bool   `json:"listed,omitempty"`      // the finding of that id lists its line
	// at the reviewed head, after renames; empty where it is not known
	Path      string   `json:"path,omitempty"`
	Side      Side     `json:"side,omitempty"`
	StartLine int      `json:"start_line,omitempty"` // at the reviewed head; 0 where the lines are gone or not known
	Line      int      `json:"line,omitempty"`
	Quote     string   `json:"quote,omitempty"` // the line of code that it is about
	Title     string   `json:"title,omitempty"`
	Category  string   `json:"category,omitempty"`
	Severity  Severity `json:"severity,omitempty"`
	By        string   `json:"by,omitempty"`  // login of who said or dropped it
	URL       string   `json:"url,omitempty"` // of the comment
	// id of a thread of ours that is open and in which nobody answered
	ReviewThread string `json:"thread,omitempty"`
	Closed       string `json:"closed,omitempty"`    // login of the writer, not the author, who resolved its thread
	Announced    bool   `json:"announced,omitempty"` // a posted review has said that it is resolved
	Now          Status `json:"now,omitempty"`       // set by aggregation
}

// NewlyResolved are the earlier findings whose resolution is to be announced, in their
// order: not those of which somebody said already that nothing is left to do.
func NewlyResolved(all []Earlier) []Earlier {
	return slices.DeleteFunc(slices.Clone(all), func(e Earlier) bool {
		return e.Fate != WasPosted || e.Now != Resolved || e.Announced || e.Closed != ""
	})
}

// Standing are the earlier findings that were posted and stand, the gravest first:
// neither resolved nor dropped, and in no thread that somebody closed who may. Those that
// one finding lists are that one, also where its own line is the one that is gone.
func Standing(all []Earlier) []Earlier {
	var stand, listed []Earlier
	told := map[string]bool{} // ids
	for _, e := range all {
		switch {
		case e.Fate != WasPosted || e.Announced || e.Now == Resolved:
		case e.Listed:
			listed = append(listed, e)
		case e.Closed == "":
			stand = append(stand, e)
			fallthrough
		default:
			told[e.ID] = true
		}
	}
	for _, e := range listed {
		if !told[e.ID] {
			stand, told[e.ID] = append(stand, e), true
		}
	}
	order.Stable(stand, func(a, b Earlier) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line))
	})
	return stand
}

// Finding is what is known of an earlier finding, in the form of one of now.
func (e Earlier) Finding() Finding {
	return Finding{ID: e.ID, Path: e.Path, Side: e.Side, StartLine: e.StartLine, Line: e.Line, Severity: e.Severity,
		Category: e.Category, Title: e.Title, Quote: e.Quote, Fingerprint: e.Fingerprint}
}
