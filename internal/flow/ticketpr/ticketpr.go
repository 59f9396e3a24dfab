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

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/trace"
)

// Name and Version name the graph in every snapshot. Version rises when what a snapshot
// means changes.
const (
	Name    = "ticketpr"
	Version = 2
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

// Steps is the outside world of a run. A job that decides needs Apply, Applied and, as far
// as they are its own, Open and Comment.
type Steps struct {
	Fetch func(context.Context) (ticket.Ticket, error) // in full; once in a process
	Show  ticket.Show                                  // how much of it may leave the job
	Model *implement.Model                             // nil where a draft is decided

	Modules []config.Module // of the settings, or derived
	Only    []string        // names of those that alone may change; empty for all
	Paths   []string        // of the base commit
	// what may be done to the base where modules are chosen
	Base   func([]config.Module) implement.Base
	Search implement.Search // nil for nothing
	// runs the command of who asked for it on the change; nil where none was given
	Check func(context.Context, []change.File) (*Check, error)
	// has the change reviewed; nil for nobody
	Review func(context.Context, State, ticket.Ticket) (Seen, error)
	// gives a draft that another run began the facts of this one; nil for those it has
	Revised func(checkpoint.Manifest) checkpoint.Manifest

	Apply func(context.Context, State) (Applied, error) // commits the approved files
	// looks whether they are, after a run that did not live to say so; nil where Apply looks
	Applied func(context.Context, State) (Applied, bool, error)
	Open    func(context.Context, State) (url string, err error) // the pull request, once; nil for none
	Comment func(context.Context, State) (url string, err error) // on the ticket, once; nil for none

	full *ticket.Ticket
}

// New builds the graph over a store. Progress hangs on the observers in o.
func New(steps Steps, store graph.Store, o ...graph.RunOption) (*graph.Flow[State], error) {
	g := graph.New[State](Name, Version)
	f := declare(g)
	world := &steps
	node := func(name string, step func(context.Context, State) (graph.Update, error), w ...graph.Writable) graph.Node {
		return g.Node(name, traced(name, step), graph.Writes(w...))
	}
	fetch := node(fetchNode, world.fetch(f), f.facts, f.ticket, f.flags, f.err)
	classify := node(classifyNode, world.classify(f), f.class, f.usage, f.err)
	modules := node(modulesNode, world.modules(f), f.scope, f.usage, f.err)
	chunks := node(contextNode, world.retrieve(f), f.chunks, f.scope, f.usage)
	code := node(codeNode, world.code(f), f.cause, f.changes, f.usage, f.err)
	tests := node(testsNode, world.tests(f), f.tests, f.usage, f.err)
	summary := node(summaryNode, world.summary(f), f.facts, f.seen, f.check, f.usage)
	gate := graph.Gate(g, gateNode, ask, decide(f), graph.Writes(f.approved, f.decision, f.err))
	again := node(regenerateNode, world.regenerate(f), f.decision, f.rounds, f.iteration)
	apply := effect(g, applyNode, f.applied, world.apply, world.looked)
	pull := effect(g, pullNode, f.pull, addressed(steps.Open), nil)
	comment := effect(g, commentNode, f.comment, addressed(steps.Comment), nil)
	abort := node(abortNode, leave)
	failed := node(errorNode, leave)

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

// fields are the state's, as nodes write them.
type fields struct {
	facts          graph.Field[checkpoint.Manifest]
	ticket         graph.Field[ticket.Ticket]
	flags          graph.Field[[]ticket.Flag]
	class          graph.Field[implement.Class]
	scope          graph.Field[implement.Scope]
	chunks         graph.Field[[]implement.Chunk]
	cause, err     graph.Field[string]
	pull, comment  graph.Field[string]
	changes, tests graph.Field[[]change.File]
	seen           graph.Field[Seen]
	check          graph.Field[*Check]
	approved       graph.Field[*bool]
	decision       graph.Field[*decision.Record]
	rounds         graph.Field[[]decision.Record]
	iteration      graph.Field[int]
	applied        graph.Field[Applied]
	usage          graph.Field[cost.Usage]
}

func declare(g *graph.Graph[State]) fields {
	graph.Value(g, "branch", func(s *State) *Branch { return &s.Branch })
	graph.Value(g, "limit", func(s *State) *cost.MicroUSD { return &s.Limit })
	graph.Value(g, "model", func(s *State) *string { return &s.Model })
	return fields{
		facts:     graph.Value(g, "facts", func(s *State) *checkpoint.Manifest { return &s.Facts }),
		ticket:    graph.Value(g, "ticket", func(s *State) *ticket.Ticket { return &s.Ticket }),
		flags:     graph.Value(g, "flags", func(s *State) *[]ticket.Flag { return &s.Flags }),
		class:     graph.Value(g, "classification", func(s *State) *implement.Class { return &s.Class }),
		scope:     graph.Value(g, "affected_modules", func(s *State) *implement.Scope { return &s.Scope }),
		chunks:    graph.Value(g, "code_chunks", func(s *State) *[]implement.Chunk { return &s.Chunks }),
		cause:     graph.Value(g, "root_cause", func(s *State) *string { return &s.RootCause }),
		changes:   graph.Value(g, "proposed_changes", func(s *State) *[]change.File { return &s.Changes }),
		tests:     graph.Value(g, "proposed_tests", func(s *State) *[]change.File { return &s.Tests }),
		seen:      graph.Value(g, "diff_summary", func(s *State) *Seen { return &s.Seen }),
		check:     graph.Value(g, "check", func(s *State) **Check { return &s.Check }),
		approved:  graph.Value(g, "human_approved", func(s *State) **bool { return &s.Approved }),
		decision:  graph.Value(g, "decision", func(s *State) **decision.Record { return &s.Decision }),
		rounds:    graph.Append(g, "human_feedback", func(s *State) *[]decision.Record { return &s.Rounds }),
		iteration: graph.Value(g, "iteration", func(s *State) *int { return &s.Iteration }),
		applied:   graph.Value(g, "applied", func(s *State) *Applied { return &s.Applied }),
		pull:      graph.Value(g, "pull_request_url", func(s *State) *string { return &s.PullRequest }),
		comment:   graph.Value(g, "ticket_comment_url", func(s *State) *string { return &s.Comment }),
		err:       graph.Value(g, "error", func(s *State) *string { return &s.Error }),
		usage:     graph.Reduce(g, "usage", func(s *State) *cost.Usage { return &s.Usage }, cost.Add),
	}
}

// traced makes a span of a step.
func traced(name string, step func(context.Context, State) (graph.Update, error)) func(context.Context, State) (
	graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		ctx, span := trace.Step(ctx, name)
		u, err := step(ctx, s)
		span.End(err)
		return u, err
	}
}

// leave is the end of a run that writes nothing.
func leave(context.Context, State) (graph.Update, error) { return graph.Update{}, nil }

// effect is a node that acts outside and keeps where. Without look, act looks itself.
func effect[T any](g *graph.Graph[State], name string, into graph.Field[T],
	act func(context.Context, State) (T, error),
	look func(context.Context, State) (T, bool, error)) graph.Node {
	return g.Effect(name, traced(name, func(ctx context.Context, s State) (graph.Update, error) {
		where, err := act(ctx, s)
		return into.Set(where), err
	}), func(ctx context.Context, s State) (graph.Update, bool, error) {
		if look == nil {
			return graph.Update{}, false, nil
		}
		where, done, err := look(ctx, s)
		return into.Set(where), done, err
	}, graph.Writes(into))
}

func addressed(act func(context.Context, State) (string, error)) func(context.Context, State) (string, error) {
	return func(ctx context.Context, s State) (string, error) {
		if act == nil {
			return "", nil
		}
		return act(ctx, s)
	}
}

func (steps *Steps) apply(ctx context.Context, s State) (Applied, error) {
	if steps.Apply == nil {
		return Applied{}, errors.New("this job cannot write")
	}
	return steps.Apply(ctx, s)
}

func (steps *Steps) looked(ctx context.Context, s State) (Applied, bool, error) {
	if steps.Applied == nil {
		return Applied{}, false, nil
	}
	return steps.Applied(ctx, s)
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
func decide(f fields) func(State, decision.Answer) (graph.Update, error) {
	return func(s State, a decision.Answer) (graph.Update, error) {
		d, err := s.check(a.Decision)
		if err != nil {
			return graph.Update{}, err
		}
		a.Record.Dropped = d.Drop
		approved := d.Verdict == decision.Approve
		update := graph.Updates(f.decision.Set(&a.Record), f.approved.Set(&approved))
		if d.Verdict != decision.Revise {
			return update, nil
		}
		if gate.CheckRounds(s.Iteration) != nil {
			ended := fmt.Sprintf("the draft was revised %d times, and its approver asked for more: it has ended",
				gate.MaxRounds)
			return graph.Updates(update, f.err.Set(ended)), nil
		}
		return graph.Updates(f.decision.Set(&a.Record), f.approved.Set(nil)), nil
	}
}

// Decide reads a decision on the draft, commands one a line; given is the verdict of a flag
// or an input, possibly none.
func (s State) Decide(text string, given decision.Verdict) (decision.Decision, error) {
	d, err := decision.Parse(secret.Redact(text)) // what is kept holds no credential
	if err == nil && given != "" {
		d, err = d.Under(given)
	}
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

// failure is a run's end where an answer could not be used; any other error stops the run,
// which can go on.
func failure(f fields, used cost.Usage, err error) (graph.Update, error) {
	switch unusable, ok := errors.AsType[*implement.Unusable](err); {
	case ok:
		return graph.Updates(f.usage.Set(used), f.err.Set(unusable.Error())), nil
	case errors.Is(err, cost.ErrSpent):
		err = problem.As(problem.Spent, err, "raise max-cost and run this again: what was paid is kept")
	}
	return graph.Update{}, err
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
				"draft it anew, or decide with the version that drafted", problem.At(view.State.Facts.Thread))
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
