package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/wording"
)

// Judged is one criterion of a case's ticket: the true verdict and the reported one.
type Judged struct {
	N         int             `json:"n"`
	Want      finding.Verdict `json:"want"`
	Said      finding.Verdict `json:"said"`
	Evidenced bool            `json:"evidenced,omitempty"` // rightly said to be met, citing a line that proves it
}

// TicketScore counts how well changes were checked against their tickets.
type TicketScore struct {
	Criteria  int `json:"criteria"`
	Right     int `json:"right"` // verdicts that equal the known ones
	Wrong     int `json:"wrong"`
	Met       int `json:"met"`       // rightly said to be met
	Evidenced int `json:"evidenced"` // those of Met that cite a line that proves it
	Unasked   int `json:"unasked"`   // parts that nobody asked for
	Named     int `json:"named"`     // those of Unasked that were reported
	Beside    int `json:"beside"`    // places that were reported although a ticket asks for them
}

// ScoreTicket compares what was reported with a case's ticket: the verdicts on its criteria, and the
// places that nobody asked for. It sets Criteria and Asked.
func (r *Result) ScoreTicket(t dataset.Ticket, said []finding.Criterion, unasked []finding.Unasked) {
	a := TicketScore{Criteria: len(t.Criteria), Unasked: len(t.Unasked)}
	for i, k := range t.Criteria {
		j := Judged{N: i + 1, Want: k.Verdict, Said: finding.Unknown}
		if at := slices.IndexFunc(said, func(c finding.Criterion) bool { return c.N == j.N }); at >= 0 {
			j.Said = said[at].Verdict
			j.Evidenced = j.Want == finding.Met && j.Said == finding.Met &&
				slices.ContainsFunc(said[at].Evidence, func(l finding.Lines) bool { return overlapsAny(l, k.Evidence) })
		}
		a.Right += boolToInt(j.Want == j.Said)
		a.Met += boolToInt(j.Want == finding.Met && j.Said == finding.Met)
		a.Evidenced += boolToInt(j.Evidenced)
		r.Criteria = append(r.Criteria, j)
	}
	a.Wrong = a.Criteria - a.Right
	for _, p := range t.Unasked {
		a.Named += boolToInt(slices.ContainsFunc(unasked, func(u finding.Unasked) bool { return overlap(u.Lines, p) }))
	}
	for _, u := range unasked {
		a.Beside += boolToInt(!overlapsAny(u.Lines, t.Unasked))
	}
	r.Asked = &a
}

func overlapsAny(l finding.Lines, known []dataset.Place) bool {
	return slices.ContainsFunc(known, func(p dataset.Place) bool { return overlap(l, p) })
}

// overlap reports whether two places share a line. The margin of the matching rule does not
// apply: a line next to the evidence is not evidence.
func overlap(l finding.Lines, p dataset.Place) bool {
	return l.Path == p.Path && l.StartLine <= p.LineEnd && p.LineStart <= l.EndLine
}

// plus returns the sum of two counts. Either is nil for a case without a ticket.
func (a *TicketScore) plus(o *TicketScore) *TicketScore {
	if a == nil || o == nil {
		return cmp.Or(a, o)
	}
	return &TicketScore{Criteria: a.Criteria + o.Criteria, Right: a.Right + o.Right, Wrong: a.Wrong + o.Wrong,
		Met: a.Met + o.Met, Evidenced: a.Evidenced + o.Evidenced, Unasked: a.Unasked + o.Unasked,
		Named: a.Named + o.Named, Beside: a.Beside + o.Beside}
}

// whyMisjudged describes which criteria got a wrong verdict or wrong evidence, and how many
// parts that nobody asked for were not reported. It is empty if all is right.
func (r Result) whyMisjudged() string {
	var wrong []string
	for _, j := range r.Criteria {
		switch {
		case j.Want != j.Said:
			said := strings.ReplaceAll(fmt.Sprintf("%d (%s, said to be %s)", j.N, j.Want, j.Said), "_", " ")
			wrong = append(wrong, said)
		case j.Want == finding.Met && !j.Evidenced:
			wrong = append(wrong, fmt.Sprintf("%d (met, at other lines than those named)", j.N))
		}
	}
	says := ""
	if len(wrong) > 0 {
		says = fmt.Sprintf("misjudged %d of %s: %s", len(wrong), criteria(len(r.Criteria)), strings.Join(wrong, ", "))
	}
	if u := r.Asked; u != nil && u.Named < u.Unasked {
		says = wording.Joined("; ", says, fmt.Sprintf("did not name %d of %s that nobody asked for", u.Unasked-u.Named,
			wording.Count(u.Unasked, "part")))
	}
	return says
}

func criteria(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return fmt.Sprintf("%d criteria", n)
}

func (r Report) ticketTable() string {
	a := r.Asked
	if a == nil {
		return ""
	}
	t := table{head: []string{"what was asked", "right", "of"}, align: "lrr"}
	t.add("verdicts on criteria", fmt.Sprint(a.Right), criteria(a.Criteria))
	t.add("… met, with a line that supports it", fmt.Sprint(a.Evidenced), wording.Count(a.Met, "right verdict"))
	t.add("parts nobody asked for that were named", fmt.Sprint(a.Named), wording.Count(a.Unasked, "part"))
	t.add("… named, though a ticket asks for them", fmt.Sprint(a.Beside), none)
	return paragraphs("### Against the tickets", t.String())
}
