package ticketcontext

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/injection"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/ticket"
)

// finish puts what came in at its own pace into one order, numbers the criteria,
// finds those of pages where no ticket has any, and flags what addresses the reviewer.
func (g *gathering) finish() {
	c := &g.found
	order.Stable(c.Sources, func(a, b ticket.SourceReport) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(g.place(a.ID), g.place(b.ID)))
	})
	order.Stable(g.lost, func(a, b lost) int {
		return cmp.Or(-cmp.Compare(a.kind, b.kind), cmp.Compare(g.place(a.id), g.place(b.id)))
	})
	for _, l := range g.lost {
		c.Missing = append(c.Missing, l.line)
	}
	for i, p := range c.Pages {
		if len(c.Criteria()) == 0 {
			c.Pages[i].Criteria = ticket.CriteriaIn(p.Text)
		}
	}
	n := 0
	for i := range c.Tickets {
		n = number(c.Tickets[i].Criteria, n)
	}
	for i := range c.Pages {
		n = number(c.Pages[i].Criteria, n)
	}
	for _, t := range c.Tickets {
		c.Flags = append(c.Flags, Flags(t)...)
	}
	for _, p := range c.Pages {
		c.Flags = append(c.Flags, flags(p.ID, []string{p.Title, p.Text})...)
	}
	for _, s := range g.o.Sources {
		if s.Notes != nil {
			g.note(s.Name, s.Notes())
		}
	}
}

// place is where a ticket or page was named.
func (g *gathering) place(id string) int {
	if at := slices.IndexFunc(g.found.Keys, func(k ticket.Key) bool { return k.Key == id }); at >= 0 {
		return at
	}
	return slices.IndexFunc(g.found.PageIDs, func(p ticket.PageID) bool { return p.ID == id })
}

func number(all []ticket.Criterion, n int) int {
	for i := range all {
		n++
		all[i].N = n
	}
	return n
}

// Flags are the lines of a ticket that address whoever reads it for a person.
func Flags(t ticket.Ticket) []ticket.Flag {
	texts := []string{t.Summary, t.Description}
	for _, c := range t.Criteria {
		texts = append(texts, c.Text)
	}
	return flags(t.Key, texts)
}

// maxFlags is how many lines of one ticket or page are flagged.
const maxFlags = 5

// flags are the lines that speak to the reviewer, of any of a thing's texts, each once.
func flags(id string, texts []string) (all []ticket.Flag) {
	for _, text := range texts {
		seen := injection.Scan(text)
		for _, hit := range slices.Concat(seen.Hidden, seen.Instructions) {
			f := ticket.Flag{ID: id, Line: hit.Line, Text: strings.TrimSpace(hit.Excerpt)}
			known := slices.ContainsFunc(all, func(have ticket.Flag) bool { return have.Text == f.Text })
			if !known && len(all) < maxFlags {
				all = append(all, f)
			}
		}
	}
	return all
}

// note adds notes to the first report of a source that was asked.
func (g *gathering) note(source string, notes []string) {
	for i, r := range g.found.Sources {
		if r.Source == source {
			g.found.Sources[i].Note = strings.Join(slices.DeleteFunc(append([]string{r.Note}, notes...),
				func(s string) bool { return s == "" }), "; ")
			return
		}
	}
}
