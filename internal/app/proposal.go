package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/wire"
)

// proposing is a ticket's thread of the local store.
type proposing struct {
	session
	app    *app
	o      *implementOptions
	base   ingest.Base
	ticket ticket.Ticket
	push   *driver.Push // nil for a branch of the clone
}

func (p *proposing) driver() driver.Driver {
	d := driver.Driver{Front: p.app.Front, Store: p.store, Thread: p.thread, Observe: p.observe, Warn: p.app.warn}
	if !p.o.quiet {
		d.Tell = func(line string) { fmt.Fprintln(p.app.Stderr, guard.Line(line, driver.MaxLine)) }
	}
	return d
}

// observe tells each step as it begins.
func (p *proposing) observe(e graph.Event) {
	if e.Kind == graph.StepStarted && !p.o.quiet && !p.o.json {
		fmt.Fprintln(p.app.Stderr, strings.ReplaceAll(e.Node, "_", " "))
	}
}

// draft goes on with the ticket's thread, or starts it. One that is parked or decided is
// reported as it stands; one that failed, or whose ticket changed, begins anew.
func (p *proposing) draft(ctx context.Context) (driver.Proposal, error) {
	r, err := p.driver().Proposed(ctx)
	s := r.State
	another := s.Decision == nil && s.Facts.Subject.Digest != "" && s.Facts.Subject.Digest != implement.Digest(p.ticket)
	switch {
	case errors.Is(err, graph.ErrNoThread):
	case p.o.Anew, err == nil && (another || p.late(r) || r.Outcome == ticketpr.Failed && s.Error != ""):
		if err := p.forget(ctx); err != nil {
			return r, err
		}
	case err != nil || r.Outcome != ticketpr.Failed:
		return r, cmp.Or(err, p.leftOut(s))
	}
	return p.advance(ctx, true, nil)
}

// advance takes the thread on with an answer, if any. A change is carried out on GitHub with
// --push, else in the clone; drafts says that one may have to be drafted first.
func (p *proposing) advance(ctx context.Context, drafts bool, answer *graph.Answer) (_ driver.Proposal, err error) {
	var steps ticketpr.Steps
	var begin ticketpr.State
	if drafts {
		if steps, begin, err = p.steps(ctx); err != nil {
			return driver.Proposal{}, err
		}
	}
	if steps.Apply = driver.CommitTo(p.base); p.push != nil {
		p.push.Into(&steps)
	}
	return p.driver().Advance(ctx, steps, begin, answer)
}

// leftOut refuses a draft with a module that --modules does not name.
func (p *proposing) leftOut(s ticketpr.State) error {
	for _, m := range s.Scope.Modules {
		if len(p.o.modules) > 0 && !slices.Contains(p.o.modules, m.Name) {
			return problem.Usage(fmt.Sprintf("there is a draft already, and it changes the module %q, which --modules "+
				"leaves out", m.Name), "leave out --modules, or draft the ticket again with --again")
		}
	}
	return nil
}

// late reports whether a draft waited longer than it may.
func (p *proposing) late(r driver.Proposal) bool {
	return r.Outcome == ticketpr.Paused && checkpoint.CheckExpiry(r.Packed.Manifest, p.app.Now()) != nil
}

// forget drops the thread.
func (p *proposing) forget(ctx context.Context) (err error) {
	release, err := p.store.Lock(ctx, p.thread)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return p.store.Remove(ctx, p.thread)
}

// steps are those that draft and revise.
func (p *proposing) steps(ctx context.Context) (ticketpr.Steps, ticketpr.State, error) {
	place, err := p.app.Place(ctx, "", p.base.Commit)
	if err == nil && p.push != nil {
		err = p.push.OnTip(ctx, p.base)
	}
	var entries map[string]diff.Entry
	if err == nil {
		entries, err = tree.Entries(ctx, place.Tree)
	}
	if err != nil {
		return ticketpr.Steps{}, ticketpr.State{}, err
	}
	now := p.app.Clock()
	what := driver.Proposing{
		Facts: checkpoint.Manifest{Thread: p.thread, Subject: checkpoint.Subject{Kind: "ticket", Head: p.base.Commit},
			CreatedAt: now, ExpiresAt: now.Add(p.o.Expires), ToolVersion: wire.Version(),
			ConfigFingerprint: p.base.Config.Fingerprint(), PromptFingerprint: implement.Fingerprint()},
		Into: p.base.Branch, Show: ticket.ShowFull, Config: p.base.Config,
		Ticket: p.ticket, Settings: p.o.Settings, Place: place, Entries: entries, Only: p.o.modules,
	}
	if p.o.check != "" {
		what.Check = p.check
	}
	return p.driver().Propose(ctx, what)
}

// mayPush looks whether --push can be followed, before anything is paid.
func (p *proposing) mayPush(ctx context.Context) (err error) {
	if !p.o.push {
		return nil
	}
	ref, err := ingest.Origin(ctx, ".")
	if p.o.repo != "" {
		ref = pull.Ref{Host: pull.DefaultHost}.On(p.app.Getenv("GITHUB_SERVER_URL"))
		ref.Owner, ref.Repo, err = pull.ParseRepository(p.o.repo)
	}
	if err != nil {
		return problem.Usage("--push: "+err.Error(), "name the repository: --repo owner/name")
	}
	p.push, err = p.app.NewPush(ctx, ref, p.o.Settings, p.base, p.ticket, p.resuming())
	return err
}

// resuming is the command that goes on with the thread.
func (p *proposing) resuming() string {
	command := p.app.resuming(p.thread, &p.o.options)
	if p.o.push {
		command += " --push"
	}
	if p.o.repo != "" {
		command += " --repo " + driver.Quoted(p.o.repo)
	}
	return command
}

// check runs the user's command on the change, in a folder that holds it and nothing else.
// It gets no credential of this process.
func (p *proposing) check(ctx context.Context, files []change.File) (*change.Check, error) {
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
	passed, output, err := ingest.Shell(limited, dir, p.o.check, p.app.withoutCredentials(p.base.Config))
	if ctx.Err() == nil && limited.Err() != nil {
		passed, output, err = false, fmt.Sprintf("it did not end within %v", checkTime), nil
	}
	output = strings.ReplaceAll(secret.Redact(paint.ReplaceAllString(output, "")), dir, ".")
	return &change.Check{Command: secret.Redact(p.o.check), Passed: passed, Output: guard.Text(output)}, err
}

// paint is what colours a terminal.
var paint = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkTime is how long a check may take.
const checkTime = 15 * time.Minute

var credentialName = regexp.MustCompile(
	`(?i)TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|^PR_REVIEW_|^INPUT_|^ACTIONS_|_KEY$`)

// withoutCredentials is the environment for code that a model wrote.
func (a *app) withoutCredentials(c config.Config) (env []string) {
	named := c.Variables()
	for _, v := range a.Environ {
		name, _, _ := strings.Cut(v, "=")
		if !credentialName.MatchString(name) && !slices.Contains(named, name) {
			env = append(env, v)
		}
	}
	return env
}

// showProposal prints a ticket's draft of the local store.
func (a *app) showProposal(ctx context.Context, s session, o *implementOptions) error {
	p := &proposing{session: s, app: a, o: o}
	r, err := p.driver().Proposed(ctx)
	if err != nil {
		return err
	}
	if p.show(r); r.Outcome == ticketpr.Paused {
		return p.park(r)
	}
	return p.finish(ctx, r)
}

// proposals lists the tickets' drafts that wait in a store.
func (a *app) proposals(ctx context.Context, store wire.Store) (list []listed, err error) {
	ids, err := store.Threads(ctx)
	for _, id := range ids {
		if !isProposal(id) {
			continue
		}
		p := &proposing{session: session{store: store, thread: id}, app: a, o: &implementOptions{}}
		r, err := p.driver().Proposed(ctx)
		if err != nil {
			a.warn(guard.Line(id, driver.MaxLine) + ": " + driver.Explain(err))
			continue
		}
		if r.Outcome != ticketpr.Paused {
			continue
		}
		all := r.State.Proposed()
		one := listed{r.Outcome, r.Thread, r.Code, len(r.Findings), len(all), change.Lines(all)}
		if p.late(r) {
			one.Outcome = driver.Expired
		}
		list = append(list, one)
	}
	return list, err
}
