package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/scope"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/wire"
)

// Proposing holds the input of a change for a ticket.
type Proposing struct {
	Facts    checkpoint.Manifest // thread, subject (Head is the base commit), run, times
	Into     string              // the branch that the change is for
	Ticket   ticket.Ticket       // in full
	Show     ticket.Show
	Place    wire.Place // the base commit
	Config   config.Config
	Settings settings.Settings
	Only     []string                                                    // modules that may change; all if empty
	Entries  map[string]diff.Entry                                       // every path of the base
	Check    func(context.Context, []change.File) (*change.Check, error) // nil if there is no check
}

// Propose returns the steps that draft a change for a ticket or revise a draft, and the
// initial state of its thread. It pays for nothing.
func (d Driver) Propose(ctx context.Context, p Proposing) (steps ticketpr.Steps, begin ticketpr.State, err error) {
	before, _ := d.Proposed(ctx) // a missing thread has cost nothing
	by, err := d.Implementer(p.Settings, p.Config, before.State.Usage.Cost)
	if err != nil {
		return steps, begin, err
	}
	if by.Account.Notice != "" {
		d.Tell(by.Account.Notice)
	}
	modules := p.Config.Modules
	if len(modules) == 0 {
		modules = scope.Derive(slices.Sorted(maps.Keys(p.Entries)), func(path string) []byte {
			text, _ := p.Place.Tree.Read(ctx, path) // what cannot be read names no workspace
			return text
		})
	}
	if modules, err = selectModules(p.Only, modules); err != nil {
		return steps, begin, err
	}
	search, err := d.Pieces(&p.Place, p.Config, p.Settings, by, p.Show == ticket.ShowFull)
	if err != nil {
		return steps, begin, err
	}
	begin = ticketpr.State{Facts: p.Facts, Into: p.Into, Limit: by.Account.Cap, Model: by.Name}
	return ticketpr.Steps{
		Ticket: p.Ticket, Show: p.Show, Model: &by.Model, Base: implement.Base{
			Tree: p.Place.Tree, Limits: p.Config.Implement, Broken: chunker.New().Broken,
			Instructions: p.Config.InstructionsFor,
			Rules:        &scope.Rules{Modules: modules, Protected: p.Config.Protected, Entries: p.Entries},
		},
		Search: search, Check: p.Check, Facts: p.Facts,
		Review: func(ctx context.Context, s ticketpr.State, t ticket.Ticket) (ticketpr.Seen, error) {
			return d.review(ctx, p, by.Account.Cap, s, t)
		},
	}, begin, nil
}

// selectModules returns the modules with these names, or all if there are no names. It refuses an
// unknown name.
func selectModules(names []string, modules []config.Module) (chosen []config.Module, err error) {
	if len(names) == 0 {
		return modules, nil
	}
	var all []string
	for _, m := range modules {
		if all = append(all, m.Name); slices.Contains(names, m.Name) {
			chosen = append(chosen, m)
		}
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, problem.Usage(fmt.Sprintf("there is no module %q", name),
				"the modules are "+strings.Join(all, ", "))
		}
	}
	return chosen, nil
}

// Advance runs a ticket's thread from its beginning or where it stopped, answers its gate if
// answer is not nil, and describes the result. It tells each step as it begins.
func (d Driver) Advance(ctx context.Context, steps ticketpr.Steps, begin ticketpr.State,
	answer *graph.Answer) (Proposal, error) {
	d.observe = func(e graph.Event) {
		if e.Kind == graph.StepStarted {
			left := map[bool]string{true: ": not in this run"}[steps.Skips(e.Node)]
			d.Tell(strings.ReplaceAll(e.Node, "_", " ") + left)
		}
	}
	flow, err := ticketpr.New(steps, d.Store, d.options()...)
	if err != nil {
		return Proposal{}, err
	}
	before, _ := flow.Inspect(ctx, d.Thread) // nothing is used where there is none yet
	if answer != nil {
		_, err = flow.Resume(ctx, d.Thread, *answer)
	} else {
		_, err = flow.Run(ctx, d.Thread, begin)
	}
	if err != nil {
		return Proposal{}, err
	}
	p, err := d.Proposed(ctx)
	if err == nil {
		d.addSpent(before.State.Usage, p.State.Usage)
	}
	return p, err
}

// review reviews a proposed change with the review graph, in memory, for what the budget has
// left. What it pays for is journaled by the calling step. A failed review becomes a note.
func (d Driver) review(ctx context.Context, p Proposing, limit cost.MicroUSD, s ticketpr.State,
	t ticket.Ticket) (ticketpr.Seen, error) {
	if p.Config.Cap = max(0, limit-s.Usage.Cost); limit > 0 && p.Config.Cap == 0 {
		return ticketpr.Seen{Failed: true, Notes: []string{"The change was not reviewed: the budget was spent."}}, nil
	}
	state, err := d.reviewProposal(ctx, p, s, t)
	switch {
	case ctx.Err() != nil:
		return ticketpr.Seen{}, ctx.Err()
	case err != nil:
		return ticketpr.Seen{Failed: true, Usage: state.Usage,
			Notes: []string{"The change was not reviewed: " + problem.Of(err).What}}, nil
	}
	r := state.Review()
	seen := ticketpr.Seen{Findings: r.Findings, Criteria: state.Whole.Criteria, Overview: state.Whole.Text,
		Notes: state.Notes(), Usage: state.Usage}
	for _, f := range r.Files {
		if f.State != finding.Reviewed && f.State != finding.Skipped {
			seen.Notes = append(seen.Notes, fmt.Sprintf("The review did not read %s.", f.Path))
		}
	}
	return seen, nil
}

func (d Driver) reviewProposal(outer context.Context, p Proposing, s ticketpr.State,
	t ticket.Ticket) (reviewpr.State, error) {
	c := ingest.Change{Name: s.Ticket.Key, Thread: s.Facts.Thread, Files: change.Diffs(s.Proposed()), Config: p.Config}
	by, err := d.NewReviewer(p.Settings, nil)
	if err != nil {
		return reviewpr.State{}, err
	}
	by.NameModel(p.Config)
	files := map[string]string{}
	for _, f := range s.Proposed() {
		files[f.Path] = f.Content
	}
	err = by.Prepare(wire.Brief{Change: c, Proposed: wire.Proposed{On: p.Place, Files: files},
		Once: func(ctx context.Context, key string, do func(context.Context) (review.Recorded, error)) (review.Recorded,
			error) {
			return graph.Once(outer, key, func(context.Context) (review.Recorded, error) { return do(ctx) })
		}})
	if err != nil {
		return reviewpr.State{}, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{
		Ingest: func(context.Context) (ingest.Change, error) { return c, nil }, Reviewer: by, Failed: by.Failed,
		Overview: by.Overview, Concurrency: p.Settings.Concurrency, Show: p.Show,
		Context: func(context.Context, reviewpr.State) ticket.Context {
			return ticket.Context{Tickets: []ticket.Ticket{t}}
		},
	}, graph.NewMemory())
	if err != nil {
		return reviewpr.State{}, err
	}
	result, err := flow.Run(outer, c.Thread, reviewpr.State{Draft: d.Facts(outer, p.Settings, by)})
	if err == nil && result.End == reviewpr.Failed {
		err = cmp.Or(by.Trouble().Cause, errors.New(result.State.Reason))
	}
	return result.State, err
}

// Proposal is the result of a ticket's run.
type Proposal struct {
	Report                // as of every flow's runs; Message says why the run failed, or what ended it
	Node   string         // that the thread is at
	State  ticketpr.State // with the decision so far
}

// Proposed describes the current state of a ticket's thread. For a parked thread it
// packs the checkpoint.
func (d Driver) Proposed(ctx context.Context) (Proposal, error) {
	flow, err := ticketpr.New(ticketpr.Steps{}, d.Store, d.options()...)
	if err != nil {
		return Proposal{}, err
	}
	view, err := flow.Inspect(ctx, d.Thread)
	if err == nil {
		err = ticketpr.Intact(view)
	}
	if err != nil {
		return Proposal{}, err
	}
	s := view.State
	p := Proposal{Node: ticketpr.Status(view), State: s, Report: Report{Outcome: ticketpr.Failed,
		Running: view.Status == graph.Running, Thread: s.Facts.Thread, Head: s.Facts.Subject.Head, Usage: s.Usage,
		Findings: s.Seen.Findings, Proposed: s.Proposed(), Branch: s.Applied.Branch, PullRequest: s.PullRequest,
		Message: s.Error}}
	switch {
	case view.Status == graph.Ended:
		p.Outcome = view.End
	case view.Status == graph.Paused:
		p.Outcome = ticketpr.Paused
		p.Packed, err = ticketpr.Subject().Pack(ctx, flow, d.Store, d.Thread, d.Protect)
		p.Digest, p.Code = p.Packed.Digest, p.Packed.Code
	}
	if s.Decision != nil {
		p.Digest, p.Code = s.Decision.Digest, s.Decision.Code
	}
	if p.Outcome == ticketpr.Failed && s.Error != "" {
		p.Failed = Reported{Err: problem.New(s.Error, "", "say more in the ticket, or choose other modules or another "+
			"model, then draft it again")}
	}
	return p, err
}

// proposedFiles returns files as implement --json prints them.
func proposedFiles(files []change.File) (all []map[string]any) {
	for _, f := range files {
		all = append(all, map[string]any{"path": f.Path, "description": f.Description, "new": f.New(),
			"added": f.Added, "removed": f.Removed})
	}
	return all
}

// Print writes the proposal as the one JSON object of implement --json, with the files that its
// decision keeps. check is null if no command was to be run.
func (p Proposal) Print(w io.Writer) error {
	s, kept := p.State, p.State.Kept()
	chunks := slices.Clone(s.Chunks)
	for i := range chunks {
		chunks[i].Text = ""
	}
	return PrintJSON(w, map[string]any{
		"outcome": p.Outcome, "status": p.Node, "error": p.Message, "iteration": s.Iteration,
		"thread_id": p.Thread, "code": p.Code, "checkpoint_digest": p.Digest,
		"ticket": map[string]string{"key": s.Ticket.Key, "type": s.Class.Type, "summary": s.Ticket.Summary,
			"complexity": s.Class.Complexity},
		"root_cause": s.RootCause, "modules": s.Scope.Modules, "chunks": chunks,
		"changes": proposedFiles(kept.Changes), "tests": proposedFiles(kept.Tests),
		"diff": change.Unified(kept.Proposed()), "check": s.Check,
		"warnings": s.Warnings(),
		"criteria": s.Seen.Criteria, "findings": printedFindings(s.Seen.Findings),
		"branch": p.Branch, "commit": s.Applied.Commit, "pull_request_url": p.PullRequest, "usage": withPrice(s.Usage),
	})
}
