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

// Subject describes a flow so that its drafts can be passed from job to job. S is the
// state of its graph, which stops at a gate answered by a decision.Answer. Before the
// graph acts on the outside world it looks for an earlier result, as Decisions.Standing does.
type Subject[S any] struct {
	About  func(S) checkpoint.Manifest // returns a draft's thread, subject, run, times, settings and outcome
	Shown  func(S) checkpoint.Shown    // returns all that its approver can read
	Anew   func(S) bool                // reports whether it was drafted again, so that earlier rejections do not apply
	Intact func(graph.View[S]) error   // refuses a draft that its gate does not ask about
}

// ErrNotParked reports that a thread does not wait for a decision.
var ErrNotParked = errors.New("the thread waits for no decision")

// Pack returns the checkpoint of a parked thread. It is a pure function of the
// stored data, so the draft has the same digest on every machine. Only an
// encrypted draft has a different digest each time.
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

// ErrNotRead reports that a thread has not read its subject yet, so that there is nothing
// to pack.
var ErrNotRead = errors.New("the thread has not read what it is about")

// PackPartial returns the n-th partial checkpoint of a run under way, n from 1, with the
// manifest m. It can be continued but not decided.
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

// Draft is a verified draft, loaded into a graph that can decide it.
type Draft[S any] struct {
	checkpoint.Draft
	State S
	Flow  *graph.Flow[S]
	Store graph.Store

	anew bool
}

// Open loads a verified draft into the graph that build returns for a store. It refuses
// a draft whose gate differs from its manifest, or whose review.md or patch differs from
// what would be carried out, because all of them were written by whoever made the zip.
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

// Intact refuses a parked draft that differs from the one its gate asks about (P2): it was edited
// in the store, or this version renders it differently from the one that drafted it. same returns
// an error if a question is about another draft.
func Intact[S any](view graph.View[S], same func(asked []byte) error, thread, drafted string) error {
	for _, p := range view.Pending {
		if same(p.Ask) != nil {
			return problem.Refuse(3, "the stored draft is not the one that was shown, nothing was posted",
				"decide with the version that drafted, or draft again: what was read is not paid for again where it "+
					"is believed", problem.At(thread), [2]string{"drafted", fmt.Sprintf("by version %.40q", drafted)})
		}
	}
	return nil
}

// Next routes a decided draft: if approved to act, if rejected to end, and if neither, because
// there is feedback, to again.
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

// CarryOut records an answer and acts on it.
func (d *Draft[S]) CarryOut(ctx context.Context, decisions *Decisions, answer decision.Answer) error {
	first, err := decisions.Decide(ctx, answer.Record, d.anew, d.Manifest.CreatedAt)
	if err != nil {
		return err
	}
	answer.Record = first
	_, err = d.Flow.Resume(ctx, d.Manifest.Thread, graph.Answer{Gate: d.Manifest.GateID, Value: answer})
	return err
}
