package handoff

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"
)

// Subject is what a flow says of itself so that its drafts can go from job to job. S
// is its graph's state; the graph stops at a gate, which a decision.Answer answers.
// What it acts on outside looks for it first, as Desk.Standing does.
type Subject[S any] struct {
	About  func(S) checkpoint.Manifest // a draft's thread, subject, run, times, settings and outcome
	Shown  func(S) checkpoint.Shown    // all that its approver can read
	Anew   func(S) bool                // it was drafted again, so an earlier rejection does not hold for it
	Intact func(graph.View[S]) error   // refuses what its gate does not ask about
}

// ErrNotParked says that a thread waits for no decision.
var ErrNotParked = errors.New("the thread waits for no decision")

// Pack makes the checkpoint of a parked thread: a pure function of what the
// store holds, so that every machine gives the draft the same digest. Only an
// encrypted one has another digest each time.
func (s Subject[S]) Pack(ctx context.Context, flow *graph.Flow[S], store graph.Store, thread string,
	p checkpoint.Protection) (checkpoint.Draft, error) {
	view, err := flow.Inspect(ctx, thread)
	if err != nil {
		return checkpoint.Draft{}, fmt.Errorf("reading the draft: %w", err)
	}
	if len(view.Pending) != 1 {
		return checkpoint.Draft{}, ErrNotParked
	}
	saved, err := store.Load(ctx, thread)
	if err != nil {
		return checkpoint.Draft{}, fmt.Errorf("reading the draft: %w", err)
	}
	m := s.About(view.State)
	m.Graph = checkpoint.Graph{Name: flow.Name(), Version: flow.Version(), Fingerprint: flow.Fingerprint()}
	m.GateID = view.Pending[0].ID
	return p.Pack(m, saved.Snapshot, s.Shown(view.State))
}

// ErrNotRead says that a thread has not read what it is about, so that there is nothing to
// carry off yet.
var ErrNotRead = errors.New("the thread has not read what it is about")

// PackPartial makes the n-th partial checkpoint of a run under way, n from 1, about what m
// names. It can be gone on with, and not decided.
func PackPartial(saved graph.Saved, n int, m checkpoint.Manifest, p checkpoint.Protection) (checkpoint.Draft, error) {
	s, err := graph.DecodeSnapshot(saved.Snapshot)
	if err != nil {
		return checkpoint.Draft{}, fmt.Errorf("reading the run under way: %w", err)
	}
	text, err := checkpoint.EncodeSaved(saved)
	if err != nil {
		return checkpoint.Draft{}, err
	}
	m.Graph = checkpoint.Graph{Name: s.Graph, Version: s.Version, Fingerprint: s.Fingerprint}
	m.Partial = n
	return p.Pack(m, text, checkpoint.Shown{})
}

// Draft is a verified draft in a graph that can decide it.
type Draft[S any] struct {
	checkpoint.Draft
	State S
	Flow  *graph.Flow[S]
	Store graph.Store

	anew bool
}

// Open puts a verified draft into the graph that build makes over a store. It refuses
// one whose gate is not the one that its manifest names, or whose review.md or patch is
// not what would be carried out: who made the zip wrote all of them.
func (s Subject[S]) Open(ctx context.Context, verified checkpoint.Draft,
	build func(graph.Store) (*graph.Flow[S], error)) (*Draft[S], error) {
	d := &Draft[S]{Draft: verified, Store: graph.NewMemory()}
	if err := d.Store.Save(ctx, d.Manifest.Thread, d.Snapshot); err != nil {
		return nil, err
	}
	var err error
	if d.Flow, err = build(d.Store); err != nil {
		return nil, err
	}
	view, err := d.Flow.Inspect(ctx, d.Manifest.Thread)
	if err == nil {
		err = s.Intact(view)
	}
	if errors.Is(err, graph.ErrSnapshot) {
		return nil, problem.Refuse(3, "the checkpoint cannot be read, nothing was posted", draftAnew,
			problem.At(err.Error()))
	}
	if err != nil {
		return nil, err
	}
	asks := len(view.Pending) == 1 && view.Pending[0].ID == d.Manifest.GateID
	now := s.Shown(view.State)
	if !asks || d.Review != "" && d.Review != now.Review || d.Patch != "" && d.Patch != now.Patch {
		return nil, problem.Refuse(11, "the draft does not ask what its summary shows, nothing was posted", draftAnew,
			problem.At("artifact of draft "+d.Code))
	}
	d.State, d.anew = view.State, s.Anew(view.State)
	return d, nil
}

// Intact refuses a parked draft that is not the one its gate asks about (P2): it was edited where
// it is stored, or this version shows it differently than the one that drafted it. An error of
// same says that a question is about another draft.
func Intact[S any](view graph.View[S], same func(asked []byte) error, thread, drafted string) error {
	for _, p := range view.Pending {
		if same(p.Ask) != nil {
			return problem.Refuse(3, "the stored draft is not the one that was shown, nothing was posted",
				"decide with the version that drafted, or draft again: what was read is not paid for again where it is "+
					"believed", problem.At(thread), [2]string{"drafted", fmt.Sprintf("by version %.40q", drafted)})
		}
	}
	return nil
}

// Next routes a decided draft: an approved one to act, a rejected one to end, and one that was
// neither, for which feedback was given, to again.
func Next[S any](approved func(S) *bool, act, again, end graph.Target) func(S) graph.Next {
	return func(s S) graph.Next {
		switch yes := approved(s); {
		case yes == nil:
			return graph.To(again)
		case *yes:
			return graph.To(act)
		}
		return graph.To(end)
	}
}

// CarryOut puts an answer on record and acts on it.
func (d *Draft[S]) CarryOut(ctx context.Context, desk *Desk, answer decision.Answer) error {
	first, err := desk.Decide(ctx, answer.Record, d.anew, d.Manifest.CreatedAt)
	if err != nil {
		return err
	}
	answer.Record = first
	_, err = d.Flow.Resume(ctx, d.Manifest.Thread, graph.Answer{Gate: d.Manifest.GateID, Value: answer})
	return err
}
