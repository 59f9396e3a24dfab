package finding

import (
	"cmp"
	"slices"

	"github.com/org/pr-review-action/internal/order"
)

// Fate says what happened to an earlier finding, or that it is a person's comment.
type Fate string

// The fates.
const (
	WasPosted    Fate = "posted"  // by this tool, after a decision
	WasDropped   Fate = "dropped" // by an approver
	WasCommented Fate = "said"    // by a person, in a comment on the lines
)

// Status says whether the current draft found an earlier finding again.
type Status string

// The statuses; empty means unknown.
const (
	StillThere Status = "still_there" // found again
	Resolved   Status = "resolved"    // its lines were removed or changed, and it was not found again
)

// Earlier is a finding of an earlier draft of the same pull request, or a person's comment on a
// line. Path, Quote, Title, Category and By are untrusted text.
type Earlier struct {
	Fate        Fate   `json:"fate"`
	Fingerprint string `json:"fingerprint,omitempty"` // empty for a person's comment
	ID          string `json:"id,omitempty"`          // that it was posted under, such as F1; empty if unknown
	Listed      bool   `json:"listed,omitempty"`      // the finding with this id lists its line
	// at the reviewed head, after renames; empty if unknown
	Path      string   `json:"path,omitempty"`
	Side      Side     `json:"side,omitempty"`
	StartLine int      `json:"start_line,omitempty"` // at the reviewed head; 0 if the lines are gone or unknown
	Line      int      `json:"line,omitempty"`
	Quote     string   `json:"quote,omitempty"` // the line of code that it is about
	Title     string   `json:"title,omitempty"`
	Category  string   `json:"category,omitempty"`
	Severity  Severity `json:"severity,omitempty"`
	By        string   `json:"by,omitempty"`  // login of the person who wrote or dropped it
	URL       string   `json:"url,omitempty"` // of the comment
	// id of an open thread of this tool without an answer
	ReviewThread string `json:"thread,omitempty"`
	Closed       string `json:"closed,omitempty"`    // login of the writer, not the author, who resolved its thread
	Announced    bool   `json:"announced,omitempty"` // a posted review has reported it as resolved
	Now          Status `json:"now,omitempty"`       // set by aggregation
}

// NewlyResolved returns the resolved findings that are still to be announced, most severe first. A
// finding whose thread was closed by a person is not one of them.
func NewlyResolved(all []Earlier) []Earlier {
	return sorted(slices.DeleteFunc(slices.Clone(all), func(e Earlier) bool {
		return e.Fate != WasPosted || e.Now != Resolved || e.Announced || e.Closed != ""
	}))
}

// Standing returns the posted findings that are still open, most severe first: neither resolved nor
// dropped, and not in a thread closed by someone entitled to. Findings listed by another are
// represented once, even if the line of the listing finding is gone.
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
	return sorted(stand)
}

// sorted sorts findings: the most severe first, then by path and line.
func sorted(all []Earlier) []Earlier {
	order.Stable(all, func(a, b Earlier) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line))
	})
	return all
}

// Finding returns the earlier finding's fields as a Finding.
func (e Earlier) Finding() Finding {
	return Finding{ID: e.ID, Path: e.Path, Side: e.Side, StartLine: e.StartLine, Line: e.Line, Severity: e.Severity,
		Category: e.Category, Title: e.Title, Quote: e.Quote, Fingerprint: e.Fingerprint}
}
