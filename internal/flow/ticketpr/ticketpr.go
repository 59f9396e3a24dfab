// Package ticketpr is the graph that turns a ticket into a pull request:
//
//	fetch_ticket → classify_ticket → identify_modules → retrieve_context → generate_code_changes
//	→ generate_tests → prepare_diff_summary → human_review_gate → apply_changes
//	→ create_pull_request → post_ticket_comment
//	                      ↑ regenerate_with_feedback ←┘ └→ abort
//
// It wires steps to fields and routes; what the outside world is comes in through Steps.
// Nothing is written anywhere before a person has approved the draft. Start reading at New.
package ticketpr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// Name and Version name the graph in every snapshot. Version rises when what a snapshot
// means changes.
const (
	Name    = "ticketpr"
	Version = 3
)

// Names begin with pr-implement-.
const Names handoff.Names = "pr-implement-"

// The outcomes of a run: of a draft that waits, and the graph's ends.
const (
	Paused  = "PAUSED"
	Posted  = "POSTED"
	Aborted = "ABORTED"
	Failed  = "FAILED"
)

// The nodes, in the names of the reference design.
const (
	fetchNode      = "fetch_ticket"
	classifyNode   = "classify_ticket"
	modulesNode    = "identify_modules"
	contextNode    = "retrieve_context"
	codeNode       = "generate_code_changes"
	testsNode      = "generate_tests"
	summaryNode    = "prepare_diff_summary"
	gateNode       = "human_review_gate"
	regenerateNode = "regenerate_with_feedback"
	applyNode      = "apply_changes"
	pullNode       = "create_pull_request"
	commentNode    = "post_ticket_comment"
	abortNode      = "abort"
	errorNode      = "handle_error"
)

// Steps is the outside world of a run. A job that decides needs Apply and Open. The ticket
// is commented on by a job of its own, which has the tracker's credentials.
type Steps struct {
	Ticket ticket.Ticket    // in full, as this process has read it
	Show   ticket.Show      // how much of it may leave the job
	Model  *implement.Model // nil where a draft is decided
	Base   implement.Base   // its rules are of all modules that may change
	Search implement.Search // nil for nothing
	// runs the command of who asked for it on the change; nil where none was given
	Check func(context.Context, []change.File) (*change.Check, error)
	// has the change reviewed; nil for nobody
	Review func(context.Context, State, ticket.Ticket) (Seen, error)
	Facts  checkpoint.Manifest // of this run, for a draft that another began

	// commits the approved files, and opens their pull request, of which nil opens none. Each
	// looks first whether it was done by a run that did not live to say so
	Apply func(context.Context, State) (apply.Applied, error)
	Open  func(context.Context, State) (url string, err error)
}

// run is a graph as it runs: its steps, and the fields that they write.
type run struct {
	Steps
	graph *graph.Graph[State]
}

// New builds the graph over a store. Progress hangs on the observers in o.
func New(steps Steps, store graph.Store, o ...graph.RunOption) (*graph.Flow[State], error) {
	g := graph.New[State](Name, Version)
	r := &run{Steps: steps, graph: g}
	declare(g)
	fetch := r.node(fetchNode, r.fetch, "facts", "ticket", "flags", "error")
	classify := r.node(classifyNode, r.reading(r.classify), "classification", "usage", "error")
	modules := r.node(modulesNode, r.reading(r.modules), "affected_modules", "usage", "error")
	chunks := r.node(contextNode, r.reading(r.retrieve), "code_chunks", "affected_modules", "usage")
	code := r.node(codeNode, r.reading(r.code), "root_cause", "proposed_changes", "usage", "error")
	tests := r.node(testsNode, r.reading(r.writeTests), "proposed_tests", "usage", "error")
	summary := r.node(summaryNode, r.reading(r.summary), "facts", "diff_summary", "check", "usage",
		"classification", "root_cause", "affected_modules", "proposed_changes", "proposed_tests")
	gate := graph.Gate(g, gateNode, ask, r.decide, g.Named("human_approved", "decision", "error"))
	again := r.node(regenerateNode, r.regenerate, "decision", "human_feedback", "iteration")
	apply := r.effect(applyNode, r.apply, "applied")
	pull := r.effect(pullNode, r.open, "pull_request_url")
	comment, abort, failed := r.node(commentNode, leave), r.node(abortNode, leave), r.node(errorNode, leave)

	g.Start(fetch)
	g.Route(fetch, unlessFailed(classify, failed), classify, failed)
	g.Route(classify, unlessFailed(modules, failed), modules, failed)
	g.Route(modules, unlessFailed(chunks, failed), chunks, failed)
	g.Edge(chunks, code)
	g.Route(code, unlessFailed(tests, failed), tests, failed)
	g.Route(tests, unlessFailed(summary, failed), summary, failed)
	g.Edge(summary, gate)
	g.Route(gate, byDecision(apply, again, abort), apply, again, abort)
	g.Edge(again, code)
	g.Edge(apply, pull)
	g.Edge(pull, comment)
	g.Edge(comment, graph.End(Posted))
	g.Edge(abort, graph.End(Aborted))
	g.Edge(failed, graph.End(Failed))
	return g.Build(store, append(slices.Clip(o), graph.StepCap(stepCap))...)
}

// stepCap is above what a draft of three revisions takes.
const stepCap = 40

// step changes its copy of the state, of which its node keeps the fields that it writes. What
// was paid comes with an error too.
type step func(context.Context, *State) (paid cost.Usage, err error)

// node is a step with the fields that it writes. An answer that could not be used ends the
// run; any other error stops it, and it can go on.
func (r *run) node(name string, do step, writes ...string) graph.Node {
	return r.graph.Node(name, r.running(name, do, writes), r.graph.Named(writes...))
}

// effect is a step that acts outside: again, where it is not known what became of it, since
// it looks itself.
func (r *run) effect(name string, do step, writes ...string) graph.Node {
	return r.graph.Effect(name, r.running(name, do, writes), func(context.Context, State) (u graph.Update, done bool,
		err error) {
		return u, false, nil
	}, r.graph.Named(writes...))
}

// running is a step as the graph runs it, in a span of its own.
func (r *run) running(name string, do step, writes []string) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (_ graph.Update, err error) {
		ctx, span := trace.Step(ctx, name)
		defer func() { span.End(err) }()
		paid, err := do(ctx, &s)
		s.Usage = paid // is added to what was paid before
		switch unusable, ok := errors.AsType[*implement.Unusable](err); {
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

// leave is a step that writes nothing.
func leave(context.Context, *State) (paid cost.Usage, err error) { return paid, nil }

func (r *run) apply(ctx context.Context, s *State) (paid cost.Usage, err error) {
	if r.Apply == nil {
		return paid, errors.New("this job cannot write")
	}
	s.Applied, err = r.Apply(ctx, *s)
	return paid, err
}

func (r *run) open(ctx context.Context, s *State) (paid cost.Usage, err error) {
	if r.Open != nil {
		s.PullRequest, err = r.Open(ctx, *s)
	}
	return paid, err
}

// unlessFailed ends a run whose step could not do what it is for.
func unlessFailed(next, failed graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		if s.Error != "" {
			return graph.To(failed)
		}
		return graph.To(next)
	}
}

func byDecision(apply, again, abort graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		switch {
		case s.Approved == nil:
			return graph.To(again)
		case *s.Approved:
			return graph.To(apply)
		}
		return graph.To(abort)
	}
}

// decide takes the decision. Feedback after the last revision ends the draft.
func (r *run) decide(s State, a decision.Answer) (graph.Update, error) {
	d, err := s.check(a.Decision)
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

// Decide is gate.Decide about the draft's files.
func (s State) Decide(text string, given, fallback decision.Verdict, until time.Time) (decision.Decision, error) {
	d, err := gate.Decide(text, given, fallback, s.Items(), until)
	if err != nil {
		return d, s.byPath(err)
	}
	return s.check(d)
}

// byPath says of a refused decision how a draft's files are named: not as findings are.
func (s State) byPath(err error) error {
	refused, ok := errors.AsType[*decision.Error](err)
	files := s.Proposed()
	if !ok || len(files) == 0 {
		return err
	}
	for i := range refused.Lines {
		l := &refused.Lines[i]
		l.Reason = strings.Replace(l.Reason, "no finding, severity or path", "no path", 1)
		if strings.HasPrefix(l.Meant, "/drop") {
			l.Meant = "/drop " + files[len(files)-1].Path + ": REASON"
		}
	}
	return err
}

// check holds a decision against the draft's files: they are dropped by path, or kept.
func (s State) check(d decision.Decision) (decision.Decision, error) {
	d, err := d.Check(s.Items())
	if err != nil {
		return d, s.byPath(err)
	}
	const next = "/drop PATH leaves a file out; /revise TEXT asks for another draft"
	severity := slices.ContainsFunc(d.Drop, func(x decision.Drop) bool { return x.How == decision.BySeverity })
	if severity || len(d.Edit)+len(d.Move)+len(d.Severity) > 0 {
		return d, problem.Refuse(11, "files of a proposed change are dropped by their paths, or kept as they are", next)
	}
	if all := len(s.Proposed()); d.Verdict == decision.Approve && len(d.Drop) == all && all > 0 {
		return d, problem.Refuse(11, "nothing is left to apply", "abort the draft instead")
	}
	return d, nil
}

// Intact refuses a parked draft that is not the one that its gate asks about.
func Intact(view graph.View[State]) error {
	for _, p := range view.Pending {
		now, err := ask(view.State)
		if err == nil {
			err = gate.Same(p.Ask, now)
		}
		if err != nil {
			return problem.Refuse(3, "the stored draft is not the one that was shown",
				"draft it again, or decide with the version that drafted", problem.At(view.State.Facts.Thread))
		}
	}
	return nil
}

// StatusAt is the node at which an error ended a run; the first where it is of none.
func StatusAt(err error) string {
	if step, ok := errors.AsType[*graph.NodeError](err); ok {
		return step.Node
	}
	return fetchNode
}

// Status is the node at which a thread stands: of one that has ended its last.
func Status(v graph.View[State]) string {
	switch {
	case v.Status == graph.Paused:
		return gateNode
	case v.Status == graph.Running && len(v.Next) > 0:
		return v.Next[0]
	case len(v.Steps) > 0:
		return v.Steps[len(v.Steps)-1].Node
	}
	return cmp.Or(v.End, fetchNode)
}
