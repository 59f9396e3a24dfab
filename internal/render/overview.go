package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/ticket"
)

const overviewTitle = "**What it does, in a model's words"

// WhatItDoes returns the paragraph above the findings of a draft.
func (r Review) WhatItDoes() string {
	text := guard.Inline(r.Overview, OverviewRunes)
	switch {
	case text == "":
		return ""
	case !r.Posts:
		return overviewTitle + "** (not posted): " + text
	}
	return fmt.Sprintf("%s** (%s, posted with the review): %s", overviewTitle, decision.OverviewID, text)
}

// postedOverview returns the paragraph of WhatItDoes for the posted review, or "".
func (r Review) postedOverview() string {
	if !r.Posts || r.Overview == "" {
		return ""
	}
	title := overviewTitle
	if r.Edited {
		title = "**What it does"
	}
	return title + ":** " + guard.Inline(r.Overview, OverviewRunes)
}

// WhatWasAsked returns the section on the purpose of the change.
func (r Review) WhatWasAsked() string {
	a := r.Asked
	if len(a.Tickets)+len(a.Criteria)+len(a.Unasked) == 0 {
		return r.Missing()
	}
	var names []string
	for _, t := range a.Tickets {
		name := guard.Code(t.Key)
		if s := guard.Inline(t.Summary, AskedRunes); s != "" {
			name += " " + s
		}
		names = append(names, name)
	}
	return Paragraphs("### What was asked", strings.Join(names, "; "), r.criteria(), r.unasked(), r.Missing())
}

// postedAsked returns what the posted review contains of it: the section, or only what was
// missing.
func (r Review) postedAsked() string {
	if r.Asked.Posted {
		return r.WhatWasAsked()
	}
	return r.Missing()
}

// Missing returns what could not be read, in one line.
func (r Review) Missing() string {
	var kinds []string
	for _, g := range order.Grouped(r.Asked.Missing, missingKind) {
		var all []string
		for _, m := range g {
			all = append(all, guard.Inline(strings.TrimPrefix(m, missingKind(m)+": "), AskedRunes))
		}
		kinds = append(kinds, guard.Inline(missingKind(g[0]), TitleRunes)+": "+strings.Join(all, "; "))
	}
	return strings.Join(kinds, ". ")
}

// missingKind returns what a line says is missing: "Without page"; by default, a ticket.
func missingKind(line string) string {
	if kind, _, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(kind, "Without ") {
		return kind
	}
	return "Without ticket"
}

// Flagged returns, for each line of a ticket or page that addresses the reviewer, a warning
// to the approver.
func Flagged(flags []ticket.Flag) (all []string) {
	for _, f := range flags {
		line := fmt.Sprintf("%s, line %d of what was asked, addresses the reviewer", guard.Code(f.ID), f.Line)
		if f.Text != "" {
			line += ": " + guard.Code(guard.Line(f.Text, TitleRunes))
		}
		all = append(all, line+".")
	}
	return slices.Compact(all)
}

func (r Review) criteria() string {
	if len(r.Asked.Criteria) == 0 {
		return ""
	}
	rows := []string{"| asked for | in the change |", "|---|---|"}
	for i, c := range r.Asked.Criteria {
		if i == AskedRows {
			rows = append(rows, fmt.Sprintf("| | and %d more |", len(r.Asked.Criteria)-i))
			break
		}
		text := fmt.Sprintf("%d. %s", c.N, cell(guard.Inline(c.Text, AskedRunes)))
		if c.Text == "" {
			text = fmt.Sprintf("criterion %d", c.N)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", text, cell(Verdict(c, r.evidenceLinks(c.Evidence)))))
	}
	return strings.Join(rows, "\n")
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, `\|`, "|"), "|", `\|`)
}

// Verdict says what the change does about a criterion; where is the place of the evidence.
// Under a bot's name "met" would read as acceptance.
func Verdict(c finding.Criterion, where string) string {
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

// placeRunes bounds a path in a cell, where it does not wrap, to what a phone shows.
const placeRunes = 20

func (r Review) evidenceLinks(all []finding.Lines) string {
	var places []string
	for _, group := range order.Grouped(all, func(l finding.Lines) string { return l.Path }) {
		where := guard.Code(lastFolders(group[0].Path, placeRunes))
		for i, l := range group {
			if i > 0 {
				where += ","
			}
			where += " " + r.link(l.Numbers(), findingAt(l))
		}
		places = append(places, where)
	}
	return strings.Join(places, "; ")
}

func findingAt(l finding.Lines) finding.Finding {
	return finding.Finding{Path: l.Path, Side: finding.Right, StartLine: l.StartLine, Line: l.EndLine}
}

// unasked lists the parts of the change that no ticket asks for.
func (r Review) unasked() string {
	var rows []string
	for _, u := range r.Asked.Unasked {
		row := "- " + guard.Code(u.Path) + " " + r.link(u.Numbers(), findingAt(u.Lines))
		if text := guard.Inline(u.Text, AskedRunes); text != "" {
			row += ": " + text
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return ""
	}
	return "Not asked for:\n\n" + strings.Join(rows, "\n")
}
