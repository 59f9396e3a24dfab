package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render/terminal"
)

// answer hands a decision to the graph. A revision is drafted in place.
func (p *proposing) answer(ctx context.Context, r driver.Proposal, given decision.Verdict,
	text string) (driver.Proposal, error) {
	m := r.Packed.Manifest
	if err := checkpoint.CheckExpiry(m, p.app.Now()); err != nil {
		return r, err
	}
	d, err := r.State.Decide(text, given, "", time.Time{})
	if err != nil {
		return r, err
	}
	by, err := p.app.user(ctx, session{})
	if err != nil {
		return r, err
	}
	if p.push != nil && p.push.By != "" {
		by = p.push.By
	}
	record := decision.Record{Thread: r.Thread, Digest: r.Digest, Code: r.Code, By: by, At: p.app.Clock(),
		Via: decision.ByCommandLine}
	return p.advance(ctx, d.Verdict == decision.Revise, driver.AnswerTo(m, decision.Answer{Decision: d,
		Record: record.With(d)}))
}

// ask asks the person at the terminal. An empty verdict means later. Words that are no
// answer and no command are feedback.
func (p *proposing) ask(ctx context.Context, r driver.Proposal) (decision.Verdict, string) {
	var drops []string
	for {
		fmt.Fprint(p.app.Stderr, "Commit this change? approve, reject, later, /drop PATH, or say what should be "+
			"different: ")
		line, ok := ask.Prompt{Front: p.app.Front}.Line(ctx)
		answer := strings.TrimSpace(line)
		switch strings.ToLower(answer) {
		case "approve", "/approve":
			return decision.Approve, strings.Join(drops, "\n")
		case "reject", "/abort", "abort":
			return decision.Abort, ""
		case "", "l", "later":
			if !ok {
				fmt.Fprintln(p.app.Stderr)
			}
			return "", ""
		case "y", "yes", "n", "no", "?":
			fmt.Fprintln(p.app.Stderr, "  approve commits it to a branch of its own, reject drops it for good")
			continue
		}
		text := answer
		if !strings.HasPrefix(answer, "/") {
			text = decision.ReviseCommand(answer)
		}
		given := append(slices.Clone(drops), text)
		if strings.HasPrefix(text, "/revise") {
			given = []string{text} // what was dropped is of this draft
		}
		d, err := r.State.Decide(strings.Join(given, "\n"), "", decision.Approve, time.Time{})
		switch {
		case err != nil:
			fmt.Fprintln(p.app.Stderr, guard.Text(driver.Explain(err)))
		case d.Verdict == decision.Revise:
			if len(drops) > 0 {
				fmt.Fprintln(p.app.Stderr, "  what you dropped may be in the next draft again")
			}
			return d.Verdict, text
		default:
			drops = append(drops, text)
		}
	}
}

// resumeProposal decides a ticket's draft of the local store.
func (a *app) resumeProposal(ctx context.Context, s session, o *implementOptions) error {
	a.ticketed = true
	given, err := o.given()
	if err != nil {
		return err
	}
	p := &proposing{session: s, app: a, o: o}
	r, err := p.driver().Proposed(ctx)
	if err != nil {
		return err
	}
	p.ticket = r.State.Ticket
	if o.Expires == 0 {
		o.Expires = r.State.Facts.ExpiresAt.Sub(r.State.Facts.CreatedAt)
	}
	if p.base, err = ingest.BaseAt(ctx, ".", r.State.Facts.Subject.Head, o.File()); err != nil {
		return problem.As(problem.Misuse, err, "go into the clone that the draft was made in")
	}
	p.base.Branch = r.State.Into
	if err := p.mayPush(ctx); err != nil {
		return err
	}
	if r.Outcome == ticketpr.Failed && r.Error == "" { // a process before this one began it
		was := r.State.Decision
		if r, err = p.advance(ctx, was == nil || was.Decision != decision.Approve, nil); err != nil {
			return err
		}
	}
	return p.decide(ctx, r, given)
}

// decide takes the decision: from the flags, else from the person at the terminal; else
// the draft stays parked.
func (p *proposing) decide(ctx context.Context, r driver.Proposal, given decision.Verdict) error {
	if r.Outcome != ticketpr.Paused {
		if err := repeats(r, given, p.o.text()); err != nil {
			return err
		}
		return p.finish(ctx, r)
	}
	text := p.o.text()
	if given == "" {
		p.show(r)
		if !p.app.interactive(&p.o.options) {
			return p.park(r)
		}
		if given, text = p.ask(ctx, r); given == "" {
			return p.park(r)
		}
	}
	after, err := p.answer(ctx, r, given, text)
	if err != nil {
		return err
	}
	p.o.undecided()
	if after.Outcome == ticketpr.Paused {
		return p.decide(ctx, after, "")
	}
	return p.finish(ctx, after)
}

// repeats refuses a decision that is not the one by which the draft was decided, changes
// included. What failed before anybody could decide tells why itself.
func repeats(r driver.Proposal, given decision.Verdict, text string) error {
	was := r.State.Decision
	if given == "" || was == nil {
		return nil
	}
	d, err := r.State.Decide(text, given, "", time.Time{})
	if now := (decision.Record{Digest: was.Digest}).With(d); err == nil && !now.Same(*was) {
		err = problem.Refuse(13, "this draft has already been decided differently",
			"draft the ticket again with --again", problem.At(r.Thread))
	}
	return err
}

func (p *proposing) show(r driver.Proposal) {
	if !p.o.json {
		fmt.Fprint(p.app.Stdout, terminal.Proposal(r.State.Proposal(), p.app.look()), "\n")
	}
}

// park says how the draft can be decided later.
func (p *proposing) park(r driver.Proposal) error {
	if p.o.json {
		return r.Print(p.app.Stdout)
	}
	fmt.Fprintf(p.app.Stdout, "Parked. Decide with\n  %s --approve\n(or --abort, --revise TEXT; without a file: "+
		"--drop PATH)\n", p.resuming())
	if p.o.resumed {
		fmt.Fprintln(p.app.Stdout, r.Outcome, r.Thread)
	}
	return nil
}

// finish prints what became of the draft. With --push one that was approved without is
// pushed now.
func (p *proposing) finish(ctx context.Context, r driver.Proposal) (err error) {
	if p.push != nil && r.Outcome == ticketpr.Posted && r.PullRequest == "" {
		if r, err = p.push.Carry(ctx, r); err != nil {
			return err
		}
	}
	failed := driver.Failure(driver.Report{Outcome: r.Outcome, Message: r.Error})
	if p.o.json {
		return errors.Join(r.Print(p.app.Stdout), failed)
	}
	place := r.Thread
	if r.Branch != "" {
		place = r.Branch + " " + r.Commit
		get := map[bool]string{true: "git fetch origin && "}[r.PullRequest != ""]
		fmt.Fprintf(p.app.Stderr, "Your work tree is as it was. %sgit switch %s shows the change.\n", get,
			driver.Quoted(r.Branch))
	}
	if place = cmp.Or(r.PullRequest, place); p.push != nil {
		place = cmp.Or(p.push.Form(r.State), place)
	}
	if r.Error != "" {
		word := map[bool]string{true: "error: "}[r.Outcome == ticketpr.Failed]
		fmt.Fprintln(p.app.Stderr, guard.Text(word+r.Error))
	}
	fmt.Fprintln(p.app.Stdout, r.Outcome, place)
	return failed
}
