package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/trace"
)

// implementOptions are the flags of implement.
type implementOptions struct {
	options
	base    string // branch or commit that is built on
	check   string // the project's own command
	modules []string
	drop    []string // paths
	trace   string
}

func (a *app) implementCommand() command {
	o := &implementOptions{options: newOptions()}
	return command{
		"implement", "<FILE.md | KEY | owner/repo#n>",
		"write the change that a ticket asks for, and stop for a decision before it is committed", o.flags,
		func(ctx context.Context, args []string) error { return a.implement(ctx, args, o) }, &o.json,
	}
}

func (o *implementOptions) flags(f *pflag.FlagSet) {
	o.Flags(f, "provider", "base-url", "model", "concurrency", "config", "defaults", "expires", "again", "max-cost",
		"allow-http")
	f.StringVar(&o.base, "base", "", "`branch` or commit to build on; HEAD where nothing is named")
	f.StringSliceVar(&o.modules, "modules", nil, "`names` of modules that alone may change")
	f.StringVar(&o.check, "check", "", "`command` of the project to run on the change before you see it, in a folder "+
		"of its own")
	o.proposalFlags(f)
	traceFlag(f, &o.trace)
	o.storeFlags(f)
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}

// proposalFlags decide a proposed change.
func (o *implementOptions) proposalFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.approve, "approve", false, "approve: commit the change to a branch of its own")
	f.BoolVar(&o.abort, "abort", false, "abort: commit nothing")
	f.StringVar(&o.revise, "revise", "", "ask for another draft, with this `text` as feedback")
	f.StringArrayVar(&o.drop, "drop", nil, "leave the file at this `path` out, with --approve; may be repeated")
	o.pushFlags(f)
	f.BoolVar(&o.noInput, "no-input", false, "never ask: leave the draft waiting")
}

// implement drafts a change for a ticket, up to the decision.
func (a *app) implement(ctx context.Context, args []string, o *implementOptions) (err error) {
	a.ticketed = true
	if len(args) != 1 {
		return problem.Usage("implement takes one ticket",
			a.name+" implement TICKET.md, a ticket's key, or owner/repo#7")
	}
	given, err := o.given()
	if err != nil {
		return err
	}
	o.Expires = cmp.Or(o.Expires, settings.DefaultExpires)
	ctx, over, err := a.Traced(ctx, o.Settings, o.trace, a.warn)
	if err != nil {
		return err
	}
	defer over()
	ctx, span := trace.Run(ctx, "implement", a.Now())
	defer func() { span.End(err) }()
	p := &proposing{app: a, o: o}
	if p.base, err = ingest.BaseAt(ctx, ".", o.base, o.File()); err != nil {
		next := ""
		switch {
		case errors.Is(err, ingest.ErrNoClone):
			next = "go into the clone of the repository that is to be changed"
		case errors.Is(err, ingest.ErrNoRange) && o.base == "":
			return problem.Usage("this clone has no commit yet", "commit what is to be built on")
		case errors.Is(err, ingest.ErrNoRange):
			return problem.Usage(fmt.Sprintf("%.100q is no commit of this clone", o.base),
				"name a branch or a commit of it with --base")
		}
		return problem.As(problem.Misuse, err, next)
	}
	a.overruled(p.base.Config, &o.options)
	if p.ticket, err = a.ticketOf(ctx, args[0], p.base.Config, o); err != nil {
		return err
	}
	if p.store, err = a.OpenStore(ctx, o.store); err != nil {
		return err
	}
	p.thread = fmt.Sprintf("local/%s~%s:%s", strings.ReplaceAll(p.base.Folder, "#", "_"), p.ticket.Key, p.base.Commit)
	if err = p.mayPush(ctx); err != nil {
		return err
	}
	report, err := p.draft(ctx)
	if err != nil {
		return err
	}
	return p.decide(ctx, report, given)
}

// given is the decision that the flags hold; an empty verdict asks.
func (o *implementOptions) given() (decision.Verdict, error) {
	for _, path := range o.drop {
		o.commands = append(o.commands, "/drop "+path)
	}
	given, err := o.verdict()
	if err == nil && len(o.drop) > 0 && given != decision.Approve {
		err = problem.Usage("--drop goes with --approve", "say both: --approve --drop PATH")
	}
	return given, err
}

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
	before, err := p.driver().Proposed(ctx)
	s := before.State
	another := s.Decision == nil && s.Facts.Subject.Digest != "" && s.Facts.Subject.Digest != implement.Digest(p.ticket)
	switch {
	case errors.Is(err, graph.ErrNoThread):
	case p.o.Anew, err == nil && (another || p.late(before) || before.Outcome == ticketpr.Failed && s.Error != ""):
		err = p.forget(ctx)
	case err != nil || before.Outcome != ticketpr.Failed:
		return before, err
	default:
		err = nil
	}
	if err != nil && !errors.Is(err, graph.ErrNoThread) {
		return before, err
	}
	steps, begin, err := p.steps(ctx, before)
	if err != nil {
		return before, err
	}
	flow, err := p.driver().Ticketpr(steps)
	if err != nil {
		return before, err
	}
	if _, err := flow.Run(ctx, p.thread, begin); err != nil {
		return before, err
	}
	return p.driver().Proposed(ctx)
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

// steps are those that draft and revise, with what the thread has cost before.
func (p *proposing) steps(ctx context.Context, before driver.Proposal) (ticketpr.Steps, ticketpr.State, error) {
	place, err := p.app.Place(ctx, "", p.base.Commit)
	if err != nil {
		return ticketpr.Steps{}, ticketpr.State{}, err
	}
	what := driver.Proposing{
		Branch: ticketpr.Branch{Base: p.base.Branch, Slug: true}, Show: ticket.ShowFull, Config: p.base.Config,
		Fetch: func(context.Context) (ticket.Ticket, error) { return p.ticket, nil }, Settings: p.o.Settings,
		Place: place, Only: p.o.modules, Before: before.State.Usage.Cost,
	}
	if p.push != nil {
		if err := p.push.OnTip(ctx, p.base); err != nil {
			return ticketpr.Steps{}, ticketpr.State{}, err
		}
	}
	what.Facts = p.facts()
	if p.o.check != "" {
		what.Check = p.check
	}
	steps, begin, err := p.driver().Propose(ctx, what)
	return p.acting(steps), begin, err
}

// acting are steps that carry the change out: on GitHub with --push, else in the clone.
func (p *proposing) acting(steps ticketpr.Steps) ticketpr.Steps {
	if steps.Apply = p.apply; p.push != nil {
		p.push.Into(&steps)
	}
	return steps
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

// apply commits the approved files to a branch of the clone.
func (p *proposing) apply(ctx context.Context, s ticketpr.State) (apply.Applied, error) {
	headline, body := s.Message()
	n := ingest.NewCommit{Branch: s.BranchName(), Message: headline + "\n\n" + body, Files: map[string]string{}}
	for _, f := range s.Files() {
		n.Files[f.Path] = f.Content
	}
	branch, commit, err := p.base.Write(ctx, n)
	return apply.Applied{Branch: branch, Commit: commit}, err
}

// decide takes the decision: from the flags, else from the person at the terminal; else
// the draft stays parked.
func (p *proposing) decide(ctx context.Context, r driver.Proposal, given decision.Verdict) error {
	if r.Outcome != ticketpr.Paused {
		if given != "" && (r.State.Decision == nil || r.State.Decision.Decision != given) {
			return problem.Refuse(13, "this draft was decided otherwise before", "draft the ticket anew with --again",
				problem.At(r.Thread))
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

func (p *proposing) show(r driver.Proposal) {
	if !p.o.json {
		columns, _ := terminal(p.app.Stdout)
		fmt.Fprint(p.app.Stdout, render.ProposalTerminal(r.State.Proposal(), p.app.look(columns)), "\n")
	}
}

// park says how the draft can be decided later.
func (p *proposing) park(r driver.Proposal) error {
	if p.o.json {
		return r.Print(p.app.Stdout)
	}
	fmt.Fprintf(p.app.Stdout, "Parked. Decide with\n  %s --approve\n(or --abort, --revise TEXT; without a file: "+
		"--drop PATH)\n", p.resuming())
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
	if p.o.json {
		return errors.Join(r.Print(p.app.Stdout), r.Failure())
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
	return r.Failure()
}
