package eval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// ErrNoCase reports that a run has no case of that name.
var ErrNoCase = errors.New("the run has no such case")

// Page returns all that a finished run knows about one case, as Markdown.
func Page(ctx context.Context, dir, id string) (string, error) {
	kept, err := ReadRun(dir)
	if err != nil {
		return "", err
	}
	cases, err := dataset.Read(filepath.Join(dir, casesFile))
	if err != nil {
		return "", fmt.Errorf("reading a run: %w", err)
	}
	i := slices.IndexFunc(kept.Results, func(r score.Result) bool { return r.ID == id })
	at := slices.IndexFunc(cases, func(c dataset.Case) bool { return c.ID == id })
	if i < 0 || at < 0 {
		return "", fmt.Errorf("%s: %w: %q", dir, ErrNoCase, id)
	}
	p := page{c: cases[at], r: kept.Results[i]}
	if p.review, p.judging, err = caseExchanges(ctx, dir, p.c, kept.Report.Fingerprints); err != nil {
		return "", err
	}
	return p.text(), nil
}

func caseExchanges(ctx context.Context, dir string, c dataset.Case,
	fingerprints map[string]string) (review, judging []Exchange, err error) {
	store, err := filestore.New(journalDir(dir))
	if err != nil {
		return nil, nil, err
	}
	review, err = exchanges(ctx, store, reviewThread(c, fingerprints["reviewer"]))
	if err == nil {
		judging, err = exchanges(ctx, store, judgeThread(c, fingerprints["reviewer"], fingerprints["judge"]))
	}
	return review, judging, errors.Join(err, store.Close())
}

type page struct {
	c               dataset.Case
	r               score.Result
	review, judging []Exchange
	out             strings.Builder
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

func (p *page) text() string {
	p.line("# %s: %s\n", guard.Code(p.c.ID), guard.Inline(p.c.Title, 200))
	passed := "passed"
	if !p.r.Passed {
		passed = "did not pass: " + guard.Inline(p.r.Why, 0)
	}
	p.line("%s, %s · %s · %s", guard.Inline(p.c.Language, 0), p.c.Kind, p.r.Outcome, passed)
	for _, unread := range p.r.Unread {
		p.line("\nNot read: %s", guard.Inline(unread, 0))
	}
	p.writeKnown()
	p.writeTicket()
	p.writePosted()
	p.writeRulings()
	p.writeLosses()
	p.writeExchanges("What the reviewer was given and answered", p.review)
	p.writeExchanges("What the judge was given and answered", p.judging)
	p.line("\n## Diff\n\n%s", guard.Fence(p.c.Diff, "diff"))
	p.writeSystems(slices.Concat(p.review, p.judging))
	return guard.Text(p.out.String())
}

func (p *page) writeKnown() {
	p.line("\n## Known defects")
	if len(p.r.Golden) == 0 {
		p.line("\nNone: the change is clean as far as anybody knows.")
	}
	for i, g := range p.r.Golden {
		state := "missed"
		switch {
		case g.Hit != "":
			state = "hit by " + g.Hit
		case g.LostAt != "":
			state = "missed; a finding near it was lost at " + g.LostAt
		case g.FileHit:
			state = "missed; something else was posted on its file"
		}
		p.line("\n%d. **%s** · %s, %s · %s · %s\n   %s", i+1, state, guard.Code(g.Path),
			lineRange(g.LineStart, g.LineEnd), g.Severity, g.Visibility, guard.Inline(g.Issue, 0))
	}
}

// writeTicket writes the ticket's criteria, each with the true verdict and the reported one.
func (p *page) writeTicket() {
	if p.c.Ticket == nil || p.r.Asked == nil {
		return
	}
	p.line("\n## %s: %s", guard.Code(p.c.Ticket.Key), guard.Inline(p.c.Ticket.Summary, 0))
	for i, j := range p.r.Criteria {
		p.line("\n%d. **%s**, said to be %s · %s", j.N, j.Want, j.Said, guard.Inline(p.c.Ticket.Criteria[i].Text, 0))
	}
	a := p.r.Asked
	if a.Unasked+a.Beside > 0 {
		p.line("\nParts nobody asked for: %d of %d named; %d others named.", a.Named, a.Unasked, a.Beside)
	}
}

func (p *page) writePosted() {
	p.line("\n## What would be posted")
	if len(p.r.Posted) == 0 {
		p.line("\nNothing.")
	}
	for _, f := range p.r.Posted {
		notes := []string{string(f.Severity), string(f.Placement)}
		if f.Golden >= 0 {
			notes = append(notes, fmt.Sprintf("hits %d", f.Golden+1))
		}
		if f.Valid {
			notes = append(notes, "the judge calls it valid")
		}
		p.line("\n- **%s** %s:%d · %s\n  %s", f.ID, guard.Code(f.Path), f.Line, strings.Join(notes, " · "),
			guard.Inline(f.Title, 0))
	}
}

func (p *page) writeRulings() {
	if len(p.r.Rulings) > 0 {
		p.line("\n## Decisions")
	}
	for _, r := range p.r.Rulings {
		question := fmt.Sprintf("%s is a true defect", r.Finding)
		if r.Golden >= 0 {
			question = fmt.Sprintf("%s means known defect %d, %s away", r.Finding, r.Golden+1,
				wording.Count(r.Distance, "line"))
		}
		p.line("\n- %s: %s", question, rulingText(r))
	}
}

func rulingText(r score.Ruling) string {
	if len(r.Votes) == 0 {
		return "**yes, only by place**"
	}
	word, yes := "no", 0
	for _, v := range r.Votes {
		if v {
			yes++
		}
	}
	switch {
	case r.Steered:
		word = "no, the judge was steered by the text"
	case r.Yes:
		word = "yes"
	}
	return fmt.Sprintf("**%s** (%d of %d votes) %s", word, yes, len(r.Votes), guard.Inline(r.Reason, 0))
}

func (p *page) writeLosses() {
	if len(p.r.Lost)+len(p.r.Moved) > 0 {
		p.line("\n## Lost and moved on the way\n")
	}
	for i, l := range slices.Concat(p.r.Lost, p.r.Moved) {
		what, known := "lost", ""
		if i >= len(p.r.Lost) {
			what = "moved"
		}
		if l.Known {
			known = " **near a known defect**"
		}
		p.line("- %s at %s%s: %s:%d %s (%s)", what, l.Stage, known, guard.Code(l.Path), l.Line,
			guard.Inline(l.Title, 0), guard.Inline(l.Why, 0))
	}
}

// writeExchanges writes questions and answers, and the results of the tools that an answer called.
// System texts are long and shared by many questions, so systems writes each once at the end.
func (p *page) writeExchanges(heading string, all []Exchange) {
	if len(all) > 0 {
		p.line("\n## %s", heading)
	}
	for _, e := range all {
		if len(e.Answer.Results) > 0 {
			p.line("\n### %s: what the tools gave", guard.Code(e.About))
			for _, r := range e.Answer.Results {
				p.line("\n%s with %s\n\n%s", guard.Code(r.Name), guard.Code(r.Arguments),
					guard.Fence(r.Text+r.Problem, ""))
			}
			continue
		}
		u, ended := e.Answer.Usage, ""
		p.line("\n### %s\n\n%d input and %d output tokens, %s, %.1f s\n", guard.Code(e.About), u.InputTokens,
			u.OutputTokens, wording.Price(u, 0), e.Seconds)
		p.line("%s\n", guard.Fence(e.User, ""))
		for _, c := range e.Answer.Calls {
			p.line("Calls %s with %s\n", guard.Code(c.Name), guard.Code(c.Arguments))
		}
		if e.Answer.Ended != "" {
			ended = " (" + e.Answer.Ended + ")"
		}
		p.line("Answer%s:\n\n%s", ended, guard.Fence(e.Answer.Text, ""))
	}
}

func (p *page) writeSystems(all []Exchange) {
	var shown []string
	for _, e := range all {
		if !slices.Contains(shown, e.System) {
			shown = append(shown, e.System)
			p.line("\n## System text of %s\n\n%s", guard.Code(e.About), guard.Fence(e.System, ""))
		}
	}
}

func lineRange(start, end int) string {
	if start == end {
		return fmt.Sprintf("line %d", end)
	}
	return fmt.Sprintf("lines %d to %d", start, end)
}
