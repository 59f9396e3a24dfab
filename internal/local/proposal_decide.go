package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render/terminal"
)

// checkUnmoved finds nothing moved: the base is a commit in the clone.
func (p *proposing) checkUnmoved(context.Context, driver.Report) error { return nil }

func (p *proposing) items(driver.Report) []decision.Item { return p.last.State.Items() }

func (p *proposing) deciderName(ctx context.Context) (string, error) {
	if p.onto == nil {
		return p.user(ctx, nil)
	}
	return p.user(ctx, p.onto.Read)
}

func (p *proposing) carryOut(ctx context.Context, r driver.Report, answer decision.Answer) (driver.Report, error) {
	return p.advance(ctx, answer.Decision.Verdict == decision.Revise, driver.AnswerTo(r.Packed.Manifest, answer))
}

// ask shows the draft, and asks the person at the terminal. Text that is neither an answer nor
// a command is feedback.
func (p *proposing) ask(ctx context.Context, r driver.Report) (given decision.Verdict, text string,
	shown driver.Report, err error) {
	if text = p.Text(); text != "" {
		d, err := gate.Decide(text, "", decision.Approve, p.items(r), r.Packed.Manifest.ExpiresAt)
		if err != nil {
			return "", text, r, err
		}
		record := decision.Record{}.With(d) // shown as its approval would carry it out
		p.last.State.Decision = &record
	}
	if p.show(); !p.Interactive(p.Options) {
		return "", text, r, nil
	}
	given, text = ask.Prompt{Front: p.Front}.Ask(ctx, ask.Draft{
		Question: "Commit this change? approve, reject, later, /drop PATH, or say what should be different: ",
		Answers: map[string]decision.Verdict{"approve": decision.Approve, "reject": decision.Abort,
			"abort": decision.Abort, "y": "", "yes": "", "n": "", "no": "", "?": ""},
		Help:  "  approve commits it to a new branch, reject drops it",
		Items: p.items(r), Free: true,
		Revise: func(drops []string) error {
			if len(drops) > 0 {
				fmt.Fprintln(p.Stderr, "  what you dropped may be in the next draft again")
			}
			return nil
		},
	}, text)
	return given, text, r, nil
}

// ResumeProposal decides a ticket's draft in the local store.
func (a *Terminal) ResumeProposal(ctx context.Context, s Session, given decision.Verdict) error {
	p, err := a.stored(s)
	if err != nil {
		return err
	}
	return a.Traced(ctx, "resume", func(ctx context.Context) error { return p.resume(ctx, given) })
}

func (p *proposing) resume(ctx context.Context, given decision.Verdict) error {
	r, err := p.readState(ctx)
	if err != nil {
		return err
	}
	state := p.last.State
	p.ticket = state.Ticket
	if p.Expires == 0 {
		p.Expires = state.Facts.ExpiresAt.Sub(state.Facts.CreatedAt)
	}
	if err := p.InRepository(); err != nil {
		return err
	}
	if p.base, err = ingest.BaseAt(ctx, ".", state.Facts.Subject.Head, p.File()); err != nil {
		return problem.As(problem.Misuse, err, "go into the clone that the draft was made in")
	}
	p.base.Branch = state.Into
	if err := p.checkMayPush(ctx); err != nil {
		return err
	}
	if r.Running {
		if r, err = p.advance(ctx, p.isUnfinished(), nil); err != nil {
			return err
		}
	}
	return p.GoFrom(ctx, r, given)
}

// GoFrom continues a thread from its current state: a waiting draft, or one that ended.
func (p *proposing) GoFrom(ctx context.Context, r driver.Report, given decision.Verdict) error {
	if r.Parked() {
		return p.decide(ctx, p, r, given)
	}
	if err := p.checkSameDecision(p.last.State.Decision, given, p.items(r)); err != nil {
		return err
	}
	return p.Decided(ctx, r)
}

func (p *proposing) show() {
	if !p.JSON {
		fmt.Fprint(p.Stdout, terminal.Proposal(p.last.State.Proposal(), p.Look()), "\n")
	}
}

// Park prints how the draft can be decided later.
func (p *proposing) Park(r driver.Report, changes string) error {
	if p.came = r; p.JSON {
		return p.last.Print(p.Stdout)
	}
	p.printParked(r, "Parked.", p.Resuming(), "or --abort, --revise TEXT; to leave out a file: --drop PATH)", changes)
	return nil
}

// Decided prints the result of the decision. With --push it first pushes a draft that was
// approved without --push, or checks whether a person has opened its pull request.
func (p *proposing) Decided(ctx context.Context, r driver.Report) (err error) {
	if p.onto != nil && r.Outcome == ticketpr.Posted && (r.PullRequest == "" || p.onto.Form(p.last.State) != "") {
		if p.last, err = p.onto.Carry(ctx, p.last); err != nil {
			return err
		}
	}
	p.came = r
	last, failed := p.last, driver.Failure(r)
	if failed != nil && last.Outcome == ticketpr.Failed {
		last.Message = driver.Explain(failed) // with what to do next
	}
	if p.JSON {
		return errors.Join(last.Print(p.Stdout), failed)
	}
	place := last.Thread
	if last.Branch != "" {
		place = last.Branch + " " + last.State.Applied.Commit
		get := map[bool]string{true: "git fetch origin && "}[last.PullRequest != ""]
		fmt.Fprintf(p.Stderr, "Your work tree is as it was. %sgit switch %s shows the change.\n", get,
			driver.Quoted(last.Branch))
	}
	if place = cmp.Or(last.PullRequest, place); p.onto != nil {
		place = cmp.Or(p.onto.Form(last.State), place)
	}
	if last.Message != "" {
		word := map[bool]string{true: "error: "}[last.Outcome == ticketpr.Failed]
		fmt.Fprintln(p.Stderr, guard.Text(word+last.Message))
	}
	fmt.Fprintln(p.Stdout, last.Outcome, place)
	return failed
}
