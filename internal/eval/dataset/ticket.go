package dataset

import (
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/ticket"
)

// Ticket is what a change was made for, and the true verdicts. The reviewer only gets what a
// source would provide: key, summary, description and the criteria's texts.
type Ticket struct {
	Key         string      `json:"key"`
	Summary     string      `json:"summary"`
	Description string      `json:"description,omitzero"` // Markdown, without the criteria
	Criteria    []Criterion `json:"criteria"`
	Unasked     []Place     `json:"unasked,omitzero"` // parts of the change that nobody asked for
}

// Criterion is an acceptance criterion and the right verdict. Evidence holds the lines that
// prove it met: on the diff's new side, or on the old side for what was removed.
type Criterion struct {
	Text     string          `json:"text"`
	Verdict  finding.Verdict `json:"verdict"`
	Evidence []Place         `json:"evidence,omitzero"`
}

// Context returns the case's ticket as a source would provide it, or an empty context if the
// case has none.
func (c Case) Context() ticket.Context {
	if c.Ticket == nil {
		return ticket.Context{}
	}
	t := ticket.Ticket{Key: c.Ticket.Key, Source: "case", Summary: c.Ticket.Summary,
		Description: c.Ticket.Description}
	for i, k := range c.Ticket.Criteria {
		t.Criteria = append(t.Criteria, ticket.Criterion{N: i + 1, Text: k.Text})
	}
	return ticket.Context{Keys: []ticket.Key{{Key: t.Key, From: ticket.Title}}, Tickets: []ticket.Ticket{t}}
}

func checkTicket(c Case) (reasons []string) {
	if c.Ticket == nil {
		return nil
	}
	changed, _ := c.Change() // its diff was checked before
	add := func(bad bool, format string, args ...any) {
		if bad {
			reasons = append(reasons, fmt.Sprintf("ticket: "+format, args...))
		}
	}
	place := func(what string, all []Place) {
		for i, p := range all {
			at := slices.IndexFunc(changed.Files, func(f diff.File) bool { return f.Path == p.Path })
			shown := at >= 0 && changed.Files[at].Shows(p.LineStart, p.LineEnd)
			add(!shown, "%s[%d]: the diff does not show lines %d to %d of %.200q", what, i,
				p.LineStart, p.LineEnd, p.Path)
		}
	}
	t := c.Ticket
	add(blank(t.Key) || blank(t.Summary), "key or summary is missing")
	add(len(t.Criteria) == 0, "it has no criteria")
	for i, k := range t.Criteria {
		what := fmt.Sprintf("criteria[%d]", i)
		known := []finding.Verdict{finding.Met, finding.NotMet, finding.Unknown}
		add(blank(k.Text), "%s: text is missing", what)
		add(!slices.Contains(known, k.Verdict), "%s: verdict %.40q is not one of met, not_met, unknown", what,
			k.Verdict)
		add(k.Verdict == finding.Met && len(k.Evidence) == 0, "%s: it is met, and no evidence is named", what)
		place(what+".evidence", k.Evidence)
	}
	place("unasked", t.Unasked)
	return reasons
}

// texts returns all texts of a ticket, for fingerprints.
func (t *Ticket) texts() []string {
	if t == nil {
		return nil
	}
	all := []string{"ticket", t.Key, t.Summary, t.Description, fmt.Sprint(t.Unasked)}
	for _, k := range t.Criteria {
		all = append(all, k.Text, string(k.Verdict), fmt.Sprint(k.Evidence))
	}
	return all
}
