// Package ticketpr is the graph that turns a ticket into a pull request:
//
//	fetch_ticket → classify_ticket → identify_modules → retrieve_context → generate_code_changes
//	→ generate_tests → prepare_diff_summary → human_review_gate → apply_changes
//	→ create_pull_request → post_ticket_comment
//	                      ↑ regenerate_with_feedback ←┘ └→ abort
//
// It wires steps to fields and routes; the outside world comes in through Steps. Nothing is
// written anywhere before a person has approved the draft. Start reading at New.
package ticketpr

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/trace"
)

// Name and Version identify the graph in every snapshot. Version rises when the meaning of a
// snapshot changes.
const (
	Name    = "ticketpr"
	Version = 4
)

// Names makes this graph's artifact names, which begin with pr-implement-.
const Names handoff.Names = "pr-implement-"

// The outcomes of a run: a waiting draft, and the graph's ends.
const (
	Paused  = "PAUSED"
	Posted  = "POSTED"
	Aborted = "ABORTED"
	Failed  = "FAILED"
)

// Nodes that are named more than once; a run is at fetchNode before its first step ended.
const (
	fetchNode   = "fetch_ticket"
	openNode    = "create_pull_request"
	commentNode = "post_ticket_comment"
)

// Steps gives a run access to the outside world. A job that decides needs Apply and Open. A job
// of its own, which has the tracker's credentials, comments on the ticket.
type Steps struct {
	Ticket ticket.Ticket    // in full, as this process read it
	Show   ticket.Show      // how much of it may leave the job
	Model  *implement.Model // nil in a job that decides
	Base   implement.Base   // with rules for all modules that may change
	Search implement.Search
	// runs the requester's command on the change; nil if none was given
	Check  func(context.Context, []change.File) (*change.Check, error)
	Review func(context.Context, State, ticket.Ticket) (Seen, error) // has the change reviewed
	Facts  checkpoint.Manifest                                       // of this run, for a draft that another run began

	// Apply commits the approved files and Open opens their pull request; a nil Open opens none.
	// Each first checks whether an earlier run did it without recording it
	Apply func(context.Context, State) (apply.Applied, error)
	Open  func(context.Context, State) (url string, err error)
}

// Skips reports whether a node does nothing in this run, although its name promises it.
func (s Steps) Skips(node string) bool {
	return node == openNode && s.Open == nil || node == commentNode
}

// run is a running graph with its steps.
type run struct {
	Steps
	graph *graph.Graph[State]
}

// New builds the graph over a store, with the nodes of the reference design. Observers in o report its
// progress.
func New(steps Steps, store graph.Store, o ...graph.RunOption) (*graph.Flow[State], error) {
	g := graph.New[State](Name, Version)
	r := &run{Steps: steps, graph: g}
	declare(g)
	fetch := r.node(fetchNode, r.fetch, "facts", "ticket", "flags", "error")
	classify := r.node("classify_ticket", r.withTicket(r.classify), "classification", "usage", "error")
	modules := r.node("identify_modules", r.withTicket(r.chooseModules), "affected_modules", "usage", "error")
	chunks := r.node("retrieve_context", r.withTicket(r.retrieve), "code_chunks", "affected_modules", "usage")
	code := r.node("generate_code_changes", r.withTicket(r.writeCode), "root_cause", "proposed_changes", "usage",
		"error")
	tests := r.node("generate_tests", r.withTicket(r.writeTests), "proposed_tests", "usage", "error")
	summary := r.node("prepare_diff_summary", r.withTicket(r.summarize), "facts", "diff_summary", "check", "usage",
		"classification", "root_cause", "affected_modules", "proposed_changes", "proposed_tests")
	asked := graph.Gate(g, "human_review_gate", ask, r.decide, g.Named("human_approved", "decision", "error"))
	again := r.node("regenerate_with_feedback", r.regenerate, "decision", "human_feedback", "iteration")
	apply := r.effect("apply_changes", r.apply, "applied")
	pull := r.effect(openNode, r.open, "pull_request_url")
	comment := r.node(commentNode, doNothing)
	abort, failed := r.node("abort", doNothing), r.node("handle_error", doNothing)

	g.Start(fetch)
	for _, way := range [][2]graph.Node{{fetch, classify}, {classify, modules}, {modules, chunks}, {code, tests},
		{tests, summary}} {
		g.Route(way[0], unlessFailed(way[1], failed), way[1], failed)
	}
	g.Edge(chunks, code)
	g.Edge(summary, asked)
	approved := func(s State) *bool { return s.Approved }
	g.Route(asked, handoff.Next(approved, apply, again, abort), apply, again, abort)
	g.Edge(again, code)
	g.Edge(apply, pull)
	g.Edge(pull, comment)
	g.Edge(comment, graph.End(Posted))
	g.Edge(abort, graph.End(Aborted))
	g.Edge(failed, graph.End(Failed))
	return g.Build(store, append(slices.Clip(o), graph.StepCap(40))...) // a draft with three revisions takes fewer
}

// step changes its copy of the state, of which its node keeps the fields that it declares. paid
// is valid even with an error.
type step func(context.Context, *State) (paid cost.Usage, err error)

// node adds a step with the fields that it writes. An unusable answer ends the run; any other
// error stops it, and the run can be resumed.
func (r *run) node(name string, do step, writes ...string) graph.Node {
	return r.graph.Node(name, r.traced(name, do, writes), r.graph.Named(writes...))
}

// effect adds a step that acts on the outside world. If its outcome is unknown it runs again,
// since the step itself looks for what was done.
func (r *run) effect(name string, do step, writes ...string) graph.Node {
	return r.graph.Effect(name, r.traced(name, do, writes), func(context.Context, State) (u graph.Update, done bool,
		err error) {
		return u, false, nil
	}, r.graph.Named(writes...))
}

// traced returns a step as the graph runs it, in its own trace span.
func (r *run) traced(name string, do step, writes []string) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (_ graph.Update, err error) {
		ctx, span := trace.Step(ctx, name)
		defer func() { span.End(err) }()
		paid, err := do(ctx, &s)
		s.Usage = paid // the field's reducer adds it to what was paid before
		switch unusable, ok := errors.AsType[implement.Unusable](err); {
		case ok:
			s.Error = unusable.Error()
			return r.graph.Kept(s, "usage", "error"), nil
		case errors.Is(err, cost.ErrSpent):
			err = problem.As(problem.Spent, err, "raise max-cost and run this again: what was paid is kept")
		}
		return r.graph.Kept(s, writes...), err
	}
}

func declare(g *graph.Graph[State]) {
	graph.Value(g, "into", func(s *State) *string { return &s.Into })
	graph.Value(g, "limit", func(s *State) *cost.MicroUSD { return &s.Limit })
	graph.Value(g, "model", func(s *State) *string { return &s.Model })
	graph.Value(g, "facts", func(s *State) *checkpoint.Manifest { return &s.Facts })
	graph.Value(g, "ticket", func(s *State) *ticket.Ticket { return &s.Ticket })
	graph.Value(g, "flags", func(s *State) *[]ticket.Flag { return &s.Flags })
	graph.Value(g, "classification", func(s *State) *change.Class { return &s.Class })
	graph.Value(g, "affected_modules", func(s *State) *change.Scope { return &s.Scope })
	graph.Value(g, "code_chunks", func(s *State) *[]change.Chunk { return &s.Chunks })
	graph.Value(g, "root_cause", func(s *State) *string { return &s.RootCause })
	graph.Value(g, "proposed_changes", func(s *State) *[]change.File { return &s.Changes })
	graph.Value(g, "proposed_tests", func(s *State) *[]change.File { return &s.Tests })
	graph.Value(g, "diff_summary", func(s *State) *Seen { return &s.Seen })
	graph.Value(g, "check", func(s *State) **change.Check { return &s.Check })
	graph.Value(g, "human_approved", func(s *State) **bool { return &s.Approved })
	graph.Value(g, "decision", func(s *State) **decision.Record { return &s.Decision })
	graph.Append(g, "human_feedback", func(s *State) *[]decision.Record { return &s.Rounds })
	graph.Value(g, "iteration", func(s *State) *int { return &s.Iteration })
	graph.Value(g, "applied", func(s *State) *apply.Applied { return &s.Applied })
	graph.Value(g, "pull_request_url", func(s *State) *string { return &s.PullRequest })
	graph.Value(g, "error", func(s *State) *string { return &s.Error })
	graph.Reduce(g, "usage", func(s *State) *cost.Usage { return &s.Usage }, cost.Add)
}

func doNothing(context.Context, *State) (paid cost.Usage, err error) { return paid, nil }

func (r *run) apply(ctx context.Context, s *State) (paid cost.Usage, err error) {
	s.Applied, err = r.Apply(ctx, *s)
	return paid, err
}

func (r *run) open(ctx context.Context, s *State) (paid cost.Usage, err error) {
	if r.Open != nil {
		s.PullRequest, err = r.Open(ctx, *s)
	}
	return paid, err
}

// unlessFailed routes to failed if a step has set an error, otherwise to next.
func unlessFailed(next, failed graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		if s.Error != "" {
			return graph.To(failed)
		}
		return graph.To(next)
	}
}

// decide checks and stores the decision. Feedback after the last revision ends the draft.
func (r *run) decide(s State, a decision.Answer) (graph.Update, error) {
	d, err := a.Decision.Check(s.Items())
	if err != nil {
		return graph.Update{}, err
	}
	a.Record.Dropped = d.Drop
	approved := d.Verdict == decision.Approve
	s.Decision, s.Approved = &a.Record, &approved
	switch {
	case d.Verdict != decision.Revise:
	case gate.CheckRounds(s.Iteration) != nil:
		s.Error = fmt.Sprintf("the draft was revised %d times, and its approver asked for more: it has ended",
			gate.MaxRounds)
	default:
		s.Approved = nil
	}
	return r.graph.Kept(s, "human_approved", "decision", "error"), nil
}

// Intact refuses a parked draft that differs from the one its gate asks about.
func Intact(view graph.View[State]) error {
	s := view.State
	same := func(asked []byte) error {
		now, _ := ask(s)
		return gate.Same(asked, now)
	}
	return handoff.Intact(view, same, s.Facts.Thread, s.Facts.ToolVersion)
}

// StatusAt returns the node whose error stopped a run, or the first node if err is from none.
func StatusAt(err error) string {
	if step, ok := errors.AsType[*graph.NodeError](err); ok {
		return step.Node
	}
	return fetchNode
}

// Status returns the node that a thread is at: the next one, which is the gate while it waits, or the last that ran.
func Status(v graph.View[State]) string {
	if len(v.Next) > 0 {
		return v.Next[0]
	}
	if n := len(v.Steps); n > 0 {
		return v.Steps[n-1].Node
	}
	return fetchNode
}
