package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

func TestG14_InterruptsAndGatesBehaveAlike(t *testing.T) {
	for name, wire := range map[string]struct {
		gate string
		next []string
		wire func(k kit)
	}{
		"gate": {"gate", []string{"gate"}, func(k kit) { k.line(k.node("a"), k.gate("gate"), k.node("z")) }},
		"before": {"before:z", []string{"z"}, func(k kit) {
			z := k.node("z")
			k.line(k.node("a"), z)
			k.InterruptBefore(z)
		}},
		"after": {"after:a", []string{"z"}, func(k kit) {
			a := k.node("a")
			k.line(a, k.node("z"))
			k.InterruptAfter(a)
		}},
		"last":  {"after:a", nil, func(k kit) { a := k.node("a"); k.line(a); k.InterruptAfter(a) }},
		"first": {"before:a", []string{"a"}, func(k kit) { a := k.node("a"); k.line(a); k.InterruptBefore(a) }},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit()
			wire.wire(k)
			store := graph.NewMemory()
			r := run(t, k.build(t, store))
			require.Equal(t, graph.Paused, r.Status)
			require.Len(t, r.Pending, 1)
			require.Equal(t, wire.gate, r.Pending[0].Gate)
			saved, err := store.Load(t.Context(), "t")
			require.NoError(t, err)
			require.Empty(t, saved.Journal, "something ran that should wait")
			elsewhere := k.build(t, store)
			v, err := elsewhere.Inspect(t.Context(), "t")
			require.NoError(t, err)
			require.Equal(t, wire.next, v.Next)
			again, err := elsewhere.Continue(t.Context(), "t")
			require.NoError(t, err)
			require.Equal(t, r, again)

			a := graph.Answer{Gate: r.Pending[0].ID}
			if name == "gate" {
				a.Value = "y"
			}
			done, err := elsewhere.Resume(t.Context(), "t", a)
			require.NoError(t, err)
			require.Equal(t, graph.Ended, done.Status)
			require.Empty(t, done.Pending)
			_, err = elsewhere.Resume(t.Context(), "t", a)
			require.ErrorIs(t, err, graph.ErrAnswered)
		})
	}
}

func TestG15_GateIdHashesThreadGateVisitAndAsk(t *testing.T) {
	id := func(thread, gate, asked string) string {
		k := newKit()
		k.line(k.node("a"), k.gate(gate))
		r, err := k.build(t, graph.NewMemory()).Run(t.Context(), thread, state{Log: []string{asked}})
		require.NoError(t, err)
		require.Len(t, r.Pending[0].ID, 32)
		return r.Pending[0].ID
	}
	base := id("t", "gate", "x")
	require.Equal(t, base, id("t", "gate", "x"))
	require.NotEqual(t, base, id("u", "gate", "x"))
	require.NotEqual(t, base, id("t", "gate2", "x"))
	require.NotEqual(t, base, id("t", "gate", "y"))
}

func TestG15_AnswerForAnotherGateIsRefused(t *testing.T) {
	k := newKit()
	k.line(k.node("a"), k.gate("gate"))
	f := k.build(t, graph.NewMemory())
	paused := run(t, f)
	r, err := f.Resume(t.Context(), "t", graph.Answer{Gate: "beef", Value: "y"})
	require.ErrorIs(t, err, graph.ErrWrongGate)
	require.ErrorContains(t, err, paused.Pending[0].ID)
	require.Equal(t, paused, r)
}

// twoGates pauses at two gates of one step, beside a node.
func twoGates(k kit) {
	split, join := k.node("split"), k.node("join")
	k.Start(split)
	for _, n := range []graph.Node{k.gate("g1"), k.node("side"), k.gate("g2")} {
		k.Edge(split, n)
		k.Edge(n, join)
	}
	k.Edge(join, graph.End("Done"))
}

func TestG15_WithTwoGatesWaitingAnAnswerNeedsAnId(t *testing.T) {
	k := newKit()
	twoGates(k)
	store := graph.NewMemory()
	f := k.build(t, store)
	r := run(t, f)
	require.Len(t, r.Pending, 2)
	_, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.ErrorIs(t, err, graph.ErrWrongGate)
	require.ErrorContains(t, err, "2 wait")

	r, err = f.Resume(t.Context(), "t", graph.Answer{Gate: r.Pending[1].ID, Value: "second"})
	require.NoError(t, err)
	require.Equal(t, graph.Paused, r.Status)
	require.Len(t, r.Pending, 1)
	r, err = k.build(t, store).Resume(t.Context(), "t", graph.Answer{Value: "first"})
	require.NoError(t, err)
	require.Equal(t, []string{"split", "g1=first", "side", "g2=second", "join"}, r.State.Log)
}

func TestG16_SecondAnswerIsRefusedAlsoInAnotherProcess(t *testing.T) {
	k := newKit()
	k.line(k.node("a"), k.gate("one"), k.gate("two"))
	store := graph.NewMemory()
	f := k.build(t, store)
	first := run(t, f).Pending[0]
	r, err := f.Resume(t.Context(), "t", graph.Answer{Gate: first.ID, Value: "y"})
	require.NoError(t, err)
	require.Equal(t, "two", r.Pending[0].Gate)
	for _, flow := range []*graph.Flow[state]{f, k.build(t, store)} {
		again, err := flow.Resume(t.Context(), "t", graph.Answer{Gate: first.ID, Value: "n"})
		require.ErrorIs(t, err, graph.ErrAnswered)
		require.Equal(t, r, again)
	}
}

func TestG16_AnswerIsInTheStoreBeforeWhatFollowsRuns(t *testing.T) {
	k := newKit()
	store := graph.NewMemory()
	var atPost graph.Saved
	post := k.Effect("post", func(ctx context.Context, s state) (graph.Update, error) {
		var err error
		atPost, err = store.Load(ctx, "t")
		return graph.Update{}, errors.Join(err, errors.New("power cut"))
	}, unseen)
	k.line(k.gate("gate"), post)
	f := k.build(t, store)
	p := run(t, f).Pending[0]
	_, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.ErrorContains(t, err, "power cut")
	require.Contains(t, string(atPost.Journal[0]), `"gate":"`+p.ID+`"`)
	_, err = f.Resume(t.Context(), "t", graph.Answer{Gate: p.ID, Value: "y"})
	require.ErrorIs(t, err, graph.ErrAnswered)
}

func TestG16_AnswerThatWasRecordedBeforeACrashCounts(t *testing.T) {
	k := newKit()
	k.line(k.gate("gate"), k.node("z"))
	store := &faulty{Memory: graph.NewMemory()}
	f := k.build(t, store)
	p := run(t, f).Pending[0]
	store.afterAppend = func() { store.failAppend.Store(true) }
	_, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.ErrorIs(t, err, errDisk)
	store.failAppend.Store(false)
	store.afterAppend = nil
	elsewhere := k.build(t, store)
	_, err = elsewhere.Resume(t.Context(), "t", graph.Answer{Gate: p.ID, Value: "n"})
	require.ErrorIs(t, err, graph.ErrAnswered)
	v, err := elsewhere.Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.Running, v.Status)
	require.Equal(t, []string{p.ID}, v.Answered)
	_, err = elsewhere.Resume(t.Context(), "t", graph.Answer{Value: "n"})
	require.ErrorIs(t, err, graph.ErrNoGate)
	r, err := elsewhere.Continue(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, []string{"gate=y", "z"}, r.State.Log)
}

func TestG21_PauseThatCannotBeSavedIsNoneAndRunsNothingAgain(t *testing.T) {
	k := newKit()
	runs := 0
	a := k.Node("a", func(context.Context, state) (graph.Update, error) {
		runs++
		return k.log.Set([]string{"a"}), nil
	}, graph.Writes(k.log))
	k.line(k.node("start"), a, k.gate("gate"))
	store := &faulty{Memory: graph.NewMemory()}
	store.afterAppend = func() { store.failSave = true }
	_, err := k.build(t, store).Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, errDisk)
	v, err := k.build(t, store).Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.Running, v.Status, "what is packed is the snapshot, and it has no gate")
	require.Equal(t, []string{"a"}, v.Next)
	require.Equal(t, 1, v.Done)
	store.failSave, store.afterAppend = false, nil
	r := run(t, k.build(t, store))
	require.Equal(t, graph.Paused, r.Status)
	require.Equal(t, []string{"start", "a"}, r.State.Log)
	require.Equal(t, 1, runs)
}

func TestG20_AFinishedThreadIsReadFromItsJournal(t *testing.T) {
	k := newKit()
	k.line(k.node("a"), k.node("b"))
	store := graph.NewMemory()
	done := run(t, k.build(t, store))
	v, err := k.build(t, store).Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.Ended, v.Status)
	require.Equal(t, "Done", v.End)
	require.Equal(t, done.State, v.State)
	require.Len(t, v.Steps, 2)
}

func TestG16_RecordOfAnotherGateAnswersNone(t *testing.T) {
	k := newKit()
	k.line(k.gate("gate"))
	store := graph.NewMemory()
	f := k.build(t, store)
	paused := run(t, f)
	require.NoError(t, store.Append(t.Context(), "t",
		[]byte(`{"step":1,"node":"gate","task":0,"gate":"beef","update":[]}`)))
	r, err := f.Continue(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, paused, r)
}

func TestG16_AnswerThatCannotBeRecordedRunsNothing(t *testing.T) {
	k := newKit()
	posted := false
	k.line(k.gate("gate"), k.Effect("post", func(context.Context, state) (graph.Update, error) {
		posted = true
		return graph.Update{}, nil
	}, unseen))
	store := &faulty{Memory: graph.NewMemory()}
	f := k.build(t, store)
	run(t, f)
	store.failAppend.Store(true)
	_, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.ErrorIs(t, err, errDisk)
	require.False(t, posted)
	store.failAppend.Store(false)
	r, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.NoError(t, err)
	require.Equal(t, graph.Ended, r.Status)
}

func TestRefusedAnswerLeavesTheGateWaiting(t *testing.T) {
	k := newKit()
	k.line(k.gate("gate"))
	f := k.build(t, graph.NewMemory())
	paused := run(t, f)
	for name, value := range map[string]any{"type": 5, "nil": nil, "json": json.RawMessage("{"),
		"json type": json.RawMessage("5")} {
		r, err := f.Resume(t.Context(), "t", graph.Answer{Value: value})
		require.ErrorIs(t, err, graph.ErrAnswer, name)
		require.Equal(t, paused, r)
	}
	r, err := f.Resume(t.Context(), "t", graph.Answer{Value: "bad"})
	require.ErrorContains(t, err, "bad answer")
	require.Equal(t, paused, r)
	r, err = f.Resume(t.Context(), "t", graph.Answer{Value: json.RawMessage(`"good"`)})
	require.NoError(t, err)
	require.Equal(t, []string{"gate=good"}, r.State.Log)
}

func TestG17_NothingBeforeAGateRunsAgain(t *testing.T) {
	k := newKit()
	runs, asks := 0, 0
	a := k.Node("a", func(context.Context, state) (graph.Update, error) { runs++; return graph.Update{}, nil })
	gate := graph.Gate(k.Graph, "gate",
		func(state) (int, error) { asks++; return asks, nil },
		func(state, bool) (graph.Update, error) { return graph.Update{}, nil })
	k.line(a, gate)
	store := graph.NewMemory()
	run(t, k.build(t, store))
	run(t, k.build(t, store))
	_, err := k.build(t, store).Resume(t.Context(), "t", graph.Answer{Value: true})
	require.NoError(t, err)
	require.Equal(t, 1, runs)
	require.Equal(t, 1, asks)
}

func TestG18_ResumeOfAFinishedThreadReportsAndRunsNothing(t *testing.T) {
	k := newKit()
	runs := 0
	k.line(k.gate("gate"), k.Effect("post", func(context.Context, state) (graph.Update, error) {
		runs++
		return graph.Update{}, nil
	}, unseen))
	store := graph.NewMemory()
	f := k.build(t, store)
	run(t, f)
	done, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.NoError(t, err)
	before, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	again, err := f.Resume(t.Context(), "t", graph.Answer{Value: "n"})
	require.NoError(t, err)
	require.Equal(t, done, again)
	after, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, 1, runs)
}

func TestG32_EachVisitOfALoopHasItsOwnGate(t *testing.T) {
	k := newKit()
	redraft := k.Node("redraft", silent)
	gate := graph.Gate(k.Graph, "gate",
		func(state) (string, error) { return "the same question", nil },
		func(_ state, a string) (graph.Update, error) { return k.name.Set(a), nil }, graph.Writes(k.name))
	k.Start(redraft)
	k.Edge(redraft, gate)
	k.Route(gate, func(s state) graph.Next {
		if s.Name == "again" {
			return graph.To(redraft)
		}
		return graph.To(graph.End("Done"))
	}, redraft, graph.End("Done"))
	f := k.build(t, graph.NewMemory())
	r := run(t, f)
	seen := map[string]bool{}
	for visit := 1; visit <= 3; visit++ {
		p := r.Pending[0]
		require.Equal(t, visit, p.Visit)
		require.False(t, seen[p.ID])
		seen[p.ID] = true
		var err error
		r, err = f.Resume(t.Context(), "t", graph.Answer{Gate: p.ID, Value: "again"})
		require.NoError(t, err)
		_, err = f.Resume(t.Context(), "t", graph.Answer{Gate: p.ID, Value: "stop"})
		require.ErrorIs(t, err, graph.ErrAnswered)
	}
	v, err := f.Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.Step{Step: 6, Node: "gate", Visit: 3, Tasks: 1}, v.Steps[5])
}
