package finding

import "slices"

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
	Announced    bool   `json:"announced,omitempty"` // a posted review has said that it is resolved
	Now          Status `json:"now,omitempty"`       // set by aggregation
}

// NewlyResolved are the earlier findings whose resolution is to be announced, in their order.
func NewlyResolved(all []Earlier) []Earlier {
	return slices.DeleteFunc(slices.Clone(all), func(e Earlier) bool {
		return e.Fate != WasPosted || e.Now != Resolved || e.Announced
	})
}
