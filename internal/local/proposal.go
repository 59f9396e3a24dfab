package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/wording"
)

// proposing is a ticket's thread in the local store.
type proposing struct {
	*Terminal
	Session
	base   ingest.Base
	ticket ticket.Ticket
	onto   *driver.Push    // nil for a branch of the clone
	last   driver.Proposal // the thread's last known state
}

func (p *proposing) driver() driver.Driver {
	return driver.Driver{Front: p.Front, Store: p.Store, Thread: p.Thread, Warn: p.Warn,
		Tell: func(line string) { p.Say(guard.Line(line, driver.MaxLine)) }}
}

// draft continues the ticket's thread, or starts it. A thread that is parked or decided is only
// reported. One that failed or expired, or whose ticket changed, starts again.
func (p *proposing) draft(ctx context.Context) (driver.Report, error) {
	r, err := p.readState(ctx)
	s := p.last.State
	another := s.Decision == nil && s.Facts.Subject.Digest != "" && s.Facts.Subject.Digest != implement.Digest(p.ticket)
	switch {
	case errors.Is(err, graph.ErrNoThread):
	case p.Anew && (err == nil || isUseless(err)),
		err == nil && (another || p.isExpired(r) || r.Outcome == ticketpr.Failed && s.Error != ""):
		return p.replaceThread(ctx, r)
	case err != nil || r.Outcome != ticketpr.Failed:
		return r, cmp.Or(err, p.checkSameFlags(s))
	}
	return p.advance(ctx, p.isUnfinished(), nil) // else what was approved is carried out
}

func (p *proposing) readState(ctx context.Context) (_ driver.Report, err error) {
	p.last, err = p.driver().Proposed(ctx)
	return p.last.Report, err
}

// advance continues the thread, with an answer if that is not nil. An approved change goes to
// GitHub with --push, otherwise to the clone. drafts is true if the thread may have to draft.
func (p *proposing) advance(ctx context.Context, drafts bool, answer *graph.Answer) (_ driver.Report, err error) {
	var steps ticketpr.Steps
	var begin ticketpr.State
	if drafts {
		if steps, begin, err = p.steps(ctx); err != nil {
			return driver.Report{}, err
		}
	}
	if steps.Apply = driver.CommitTo(p.base); p.onto != nil {
		p.onto.Into(&steps)
	}
	p.last, err = p.driver().Advance(ctx, steps, begin, answer)
	return p.last.Report, err
}

// checkSameFlags refuses a draft that was made without the command of --check, or changes a module that
// --modules does not name.
func (p *proposing) checkSameFlags(s ticketpr.State) error {
	if p.check != "" && p.Revise == "" && (s.Check == nil || s.Check.Command != secret.Redact(p.check)) {
		return problem.Usage("there is a draft already, and it was made without this --check",
			"leave out --check, or draft the ticket again with --again")
	}
	if module := s.Scope.Beyond(p.modules); module != "" {
		return problem.Usage(fmt.Sprintf("there is a draft already, and it changes the module %q, which --modules "+
			"leaves out", module), "leave out --modules, or draft the ticket again with --again")
	}
	return nil
}

func (a *Terminal) isExpired(r driver.Report) bool {
	return r.Parked() && checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()) != nil
}

// replaceThread drafts the ticket again. The thread that was makes room once the new draft waits; one that is damaged,
// or whose draft failed, does so at once.
func (p *proposing) replaceThread(ctx context.Context, was driver.Report) (_ driver.Report, err error) {
	release, err := p.Store.Lock(ctx, p.Thread)
	if err != nil {
		return was, err
	}
	done, err := finishReplacement(ctx, p.Store, p.Thread)
	if err != nil || p.Anew && isSuccessorFor(done, implement.Digest(p.ticket)) {
		r, unread := p.readState(ctx)
		return r, errors.Join(err, unread, release())
	}
	saved, err := p.Store.Load(ctx, p.Thread)
	if err != nil && !isUseless(err) {
		return was, errors.Join(err, release())
	}
	if err != nil || p.last.State.Facts.Subject.Digest == "" || was.Outcome == ticketpr.Failed && !was.Running {
		if err = errors.Join(p.Store.Remove(ctx, p.Thread), release()); err != nil {
			return was, err
		}
		return p.advance(ctx, true, nil)
	}
	defer func() { err = errors.Join(err, release()) }()
	next := successor{p.Store, p.Thread, successorPrefix(p.Thread, p.Anew, saved) + implement.Digest(p.ticket)[:12]}
	p.Store = next
	r, err := p.readState(ctx)
	if isUseless(err) || err == nil && !r.Running && (!r.Parked() || p.isExpired(r)) {
		err = next.Remove(ctx, p.Thread)
	}
	if err == nil {
		r, err = p.advance(ctx, true, nil)
	}
	switch p.Store = next.Store; {
	case err == nil && r.Outcome != ticketpr.Failed:
		err = next.replaceThread(context.WithoutCancel(ctx))
	case was.Parked() && !p.isExpired(was):
		p.Warn(stillWaits + p.Resuming())
	}
	return r, err
}

// steps returns the steps that draft and revise, and the initial state of the thread.
func (p *proposing) steps(ctx context.Context) (steps ticketpr.Steps, begin ticketpr.State, err error) {
	if p.onto != nil {
		if err := p.onto.MayDraft(ctx, p.base, p.ticket); err != nil {
			return steps, begin, err
		}
	}
	place := p.PlaceOf(p.base.Clone, p.base.Commit)
	entries, err := place.Tree.Entries(ctx)
	if err != nil {
		return steps, begin, err
	}
	facts := p.Manifest(checkpoint.Subject{Kind: "ticket", Head: p.base.Commit}, p.Settings, implement.Fingerprint())
	facts.Thread, facts.ConfigFingerprint = p.Thread, p.base.Config.Fingerprint()
	what := driver.Proposing{
		Facts: facts, Into: p.base.Branch, Show: ticket.ShowFull, Config: p.base.Config, Ticket: p.ticket,
		Settings: p.Settings, Place: place, Entries: entries, Only: p.modules,
	}
	if p.check != "" {
		what.Check = p.runCheck
	}
	return p.driver().Propose(ctx, what)
}

// checkMayPush checks that --push is possible, before anything is paid for, and sets p.onto. Without
// --push it only refuses a tracker's ticket that the change would reveal on a public repository.
func (p *proposing) checkMayPush(ctx context.Context) (err error) {
	if own := p.ticket.Source == "file" || ticketpr.IssueNumber(p.ticket.Key) > 0; own && !p.Push {
		return nil
	}
	ref, err := ingest.Origin(ctx, ".")
	if p.repo != "" {
		ref, err = p.Repository(p.repo)
	}
	switch {
	case err != nil && p.Push:
		return problem.Usage("--push: "+err.Error(), "name the repository: --repo owner/name")
	case err != nil:
		return nil
	case !p.Push:
		return p.MayReveal(ctx, ref, p.Settings, p.base.Config.Context, p.ticket.Key)
	}
	p.onto, err = p.NewPush(ctx, ref, p.Settings, p.base, p.ticket, p.Resuming())
	return err
}

// Resuming returns the command that continues the thread.
func (p *proposing) Resuming() string {
	command := p.Terminal.Resuming(p.Thread)
	if p.Push {
		command += " --push"
	}
	if p.repo != "" {
		command += " --repo " + driver.Quoted(p.repo)
	}
	return command
}

// runCheck runs the user's command on the change, in a folder that contains the base with the
// change and nothing else. The command gets no credential of this process.
func (p *proposing) runCheck(ctx context.Context, files []change.File) (*change.Check, error) {
	dir, err := os.MkdirTemp("", "pr-review-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := p.base.Export(ctx, dir, files); err != nil {
		return nil, fmt.Errorf("writing the change for --check: %w", err)
	}
	limited, stop := context.WithTimeout(ctx, checkTime)
	defer stop()
	passed, output, err := ingest.Shell(limited, dir, p.check, p.withoutCredentials(p.base.Config))
	if ctx.Err() == nil && limited.Err() != nil {
		passed, output, err = false, fmt.Sprintf("it did not end within %s", wording.Span(checkTime)), nil
	}
	output = strings.ReplaceAll(secret.Redact(paint().ReplaceAllString(output, "")), dir, ".")
	return &change.Check{Command: secret.Redact(p.check), Passed: passed, Output: guard.Text(output)}, err
}

// paint matches terminal colour codes.
var paint = pattern.Lazy("\x1b\\[[0-9;]*m")

// checkTime is the time limit for a check.
const checkTime = 15 * time.Minute

var credentialName = pattern.Lazy(
	`(?i)TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|^PR_REVIEW_|^INPUT_|^ACTIONS_|_KEY$`)

// withoutCredentials returns the environment for running code that a model wrote.
func (a *Terminal) withoutCredentials(c config.Config) (env []string) {
	named := c.Variables()
	for _, v := range a.Environ {
		name, _, _ := strings.Cut(v, "=")
		if !credentialName().MatchString(name) && !slices.Contains(named, name) {
			env = append(env, v)
		}
	}
	return env
}

// stored returns a ticket's thread in the local store. It refuses flags that are for reviews.
func (a *Terminal) stored(s Session) (*proposing, error) {
	a.Ticketed, a.About = true, s.Thread
	return &proposing{Terminal: a, Session: s}, a.refuseReviewFlags()
}

// ShowProposal prints a ticket's draft in the local store.
func (a *Terminal) ShowProposal(ctx context.Context, s Session) error {
	p, err := a.stored(s)
	if err != nil {
		return err
	}
	r, err := p.readState(ctx)
	if err != nil {
		return err
	}
	switch {
	case !r.Running:
	case p.JSON:
		p.last.Outcome = ""
		return p.last.Print(p.Stdout)
	default:
		return p.PrintUnderWay(r.Thread, strings.ReplaceAll(p.last.Node, "_", " "), "command")
	}
	if p.show(); r.Parked() {
		return p.Park(r, "")
	}
	return p.Decided(ctx, r)
}

// isUnfinished reports whether a thread has no draft, or a revision was requested and is not made.
func (p *proposing) isUnfinished() bool {
	was := p.last.State.Decision
	return was == nil || was.Decision != decision.Approve
}
