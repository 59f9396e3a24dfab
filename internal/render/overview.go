package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ticket"
)

// Overview is what a model says of the change as a whole.
type Overview struct {
	Text string // untrusted; empty for none
	ID   string // under which the approver changes it; empty where it is not posted
}

// Asked is what a change was made for, as far as it may be shown, and what the change
// does about it. Texts are untrusted.
type Asked struct {
	Tickets  []AskedTicket
	Criteria []finding.Criterion
	Unasked  []finding.Unasked
	Missing  []string // what could not be had, in our own words
	Posted   bool     // the posted review says it too, and not what was missing alone
}

// AskedTicket is a ticket by its key. Summary is empty where it may not be shown.
type AskedTicket struct{ Key, Summary string }

const (
	overviewRunes = 1_300
	askedRows     = 60 // criteria that are listed
	askedRunes    = 300
)

// overview is the paragraph above the findings of a draft.
func (r Review) overview() string {
	text := guard.Inline(r.Overview.Text, overviewRunes)
	switch {
	case text == "":
		return ""
	case r.Overview.ID == "":
		return "**What it does, in a model's words** (not posted): " + text
	}
	return fmt.Sprintf("**What it does, in a model's words** (%s, posted with the review): %s", r.Overview.ID, text)
}

// postedOverview is the same where the review holds it.
func (r Review) postedOverview() string {
	if r.Overview.ID == "" || r.Overview.Text == "" {
		return ""
	}
	return "**What it does, in a model's words:** " + guard.Inline(r.Overview.Text, overviewRunes)
}

// asked is the section on what the change was made for.
func (r Review) asked() string {
	a := r.Asked
	if len(a.Tickets)+len(a.Criteria)+len(a.Unasked) == 0 {
		return r.missing()
	}
	var names []string
	for _, t := range a.Tickets {
		name := guard.Code(t.Key)
		if s := guard.Inline(t.Summary, askedRunes); s != "" {
			name += " " + s
		}
		names = append(names, name)
	}
	return paragraphs("### What was asked", strings.Join(names, "; "), r.criteria(), r.unasked(), r.missing())
}

// postedAsked is what the posted review says of it: the section where it is asked for,
// and what was missing in any case.
func (r Review) postedAsked() string {
	if r.Asked.Posted {
		return r.asked()
	}
	return r.missing()
}

// missing is what could not be had, in one line.
func (r Review) missing() string {
	groups := grouped(r.Asked.Missing, func(m string) string {
		if kind, _, ok := strings.Cut(m, ": "); ok && strings.HasPrefix(kind, "Without ") {
			return kind
		}
		return "Without ticket"
	})
	var kinds []string
	for _, g := range groups {
		kind := "Without ticket"
		for i, m := range g {
			if before, after, ok := strings.Cut(m, ": "); ok && strings.HasPrefix(before, "Without ") {
				kind, m = before, after
			}
			g[i] = guard.Inline(m, askedRunes)
		}
		kinds = append(kinds, guard.Inline(kind, titleRunes)+": "+strings.Join(g, "; "))
	}
	return strings.Join(kinds, ". ")
}

// Flagged says of each line of a ticket or page that it addresses the reviewer: for the
// approver alone.
func Flagged(flags []ticket.Flag) (all []string) {
	for _, f := range flags {
		line := fmt.Sprintf("%s, line %d of what was asked, addresses the reviewer", guard.Code(f.ID), f.Line)
		if f.Text != "" {
			line += ": " + guard.Code(guard.Line(f.Text, titleRunes))
		}
		all = append(all, line+".")
	}
	return slices.Compact(all)
}

// criteria is a table with a row for each.
func (r Review) criteria() string {
	if len(r.Asked.Criteria) == 0 {
		return ""
	}
	rows := []string{"| asked for | in the change |", "|---|---|"}
	for i, c := range r.Asked.Criteria {
		if i == askedRows {
			rows = append(rows, fmt.Sprintf("| | and %d more |", len(r.Asked.Criteria)-i))
			break
		}
		text := fmt.Sprintf("%d. %s", c.N, cell(guard.Inline(c.Text, askedRunes)))
		if c.Text == "" {
			text = fmt.Sprintf("criterion %d", c.N)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", text, cell(verdictOn(c, r.places(c.Evidence)))))
	}
	return strings.Join(rows, "\n")
}

// cell is text that ends no cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, `\|`, "|"), "|", `\|`)
}

// verdictOn says what the change does about a criterion, by the evidence at where. Under a
// bot's name "met" would read as acceptance.
func verdictOn(c finding.Criterion, where string) string {
	switch {
	case c.Verdict == finding.Met && where != "":
		return "evidence at " + where
	case c.Verdict == finding.NotMet && where != "":
		return "no evidence found; see " + where
	case c.Verdict == finding.NotMet:
		return "no evidence found"
	}
	return "cannot tell"
}

// placeRunes bounds a path in a cell, where it is not broken, to what a phone shows.
const placeRunes = 20

func (r Review) places(all []finding.Lines) string {
	var places []string
	for _, group := range grouped(all, func(l finding.Lines) string { return l.Path }) {
		where := guard.Code(lastFolders(group[0].Path, placeRunes))
		for i, l := range group {
			if i > 0 {
				where += ","
			}
			where += " " + r.link(numbers(l), place(l))
		}
		places = append(places, where)
	}
	return strings.Join(places, "; ")
}

func numbers(l finding.Lines) string {
	if l.StartLine == l.EndLine {
		return fmt.Sprint(l.EndLine)
	}
	return fmt.Sprintf("%d–%d", l.StartLine, l.EndLine)
}

func place(l finding.Lines) finding.Finding {
	return finding.Finding{Path: l.Path, Side: finding.Right, StartLine: l.StartLine, Line: l.EndLine}
}

// unasked lists parts of the change that no ticket asks for.
func (r Review) unasked() string {
	var rows []string
	for _, u := range r.Asked.Unasked {
		row := "- " + guard.Code(u.Path) + " " + r.link(numbers(u.Lines), place(u.Lines))
		if text := guard.Inline(u.Text, askedRunes); text != "" {
			row += ": " + text
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return ""
	}
	return "Not asked for:\n\n" + strings.Join(rows, "\n")
}

func plainPlaces(all []finding.Lines) string {
	var places []string
	for _, l := range all {
		places = append(places, guard.Line(l.Path, titleRunes)+":"+numbers(l))
	}
	return strings.Join(slices.Compact(places), ", ")
}
