package graph_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

func TestG27_InspectShowsAPausedThread(t *testing.T) {
	k := newKit()
	k.line(k.node("a"), k.gate("gate"), k.node("z"))
	f := k.build(t, graph.NewMemory())
	paused := run(t, f)
	v, err := f.Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.View[state]{
		Status: graph.Paused, State: state{Log: []string{"a"}}, Next: []string{"gate"}, Pending: paused.Pending,
		Steps: []graph.Step{{Step: 1, Node: "a", Visit: 1, Tasks: 1}},
	}, v)
	require.JSONEq(t, `{"log":{"Seen":["a"]}}`, string(v.Pending[0].Ask))
	_, err = f.Resume(t.Context(), "t", graph.Answer{Value: "yes"})
	require.NoError(t, err)
	v, err = f.Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, graph.Ended, v.Status)
	require.Equal(t, "Done", v.End)
	require.Equal(t, []string{paused.Pending[0].ID}, v.Answered)
	require.Len(t, v.Steps, 3)
	_, err = f.Inspect(t.Context(), "other")
	require.ErrorIs(t, err, graph.ErrNoThread)
}

func TestG27_InspectTellsWhatATaskIsDoing(t *testing.T) {
	k := newKit()
	store := graph.NewMemory()
	var f *graph.Flow[state]
	seen := func() []string {
		v, err := f.Inspect(t.Context(), "t")
		require.NoError(t, err)
		return v.Doing
	}
	a := k.Node("a", func(ctx context.Context, _ state) (graph.Update, error) {
		require.Empty(t, seen())
		require.NoError(t, graph.Doing(ctx, "tickets", "pages"))
		require.Equal(t, []string{"tickets", "pages"}, seen())
		require.NoError(t, graph.Doing(ctx, "pages"))
		require.Equal(t, []string{"pages"}, seen())
		return k.log.Set([]string{"a"}), nil
	}, graph.Writes(k.log))
	k.line(a, k.gate("gate"), k.node("z"))
	f = k.build(t, store)
	run(t, f)
	require.Empty(t, seen(), "it is done")
	require.NoError(t, graph.Doing(t.Context(), "nothing"), "of no task")
}

func TestG28_MermaidDrawsWhatWasBuilt(t *testing.T) {
	k := newKit()
	split, redo := k.node("split"), k.node("redo")
	work := graph.Each(k.Graph, "work", func(context.Context, state, int) (graph.Update, error) {
		return graph.Update{}, nil
	})
	gate := k.gate("gate")
	post := k.Effect("post", k.says("post"), unseen, graph.Writes(k.log))
	k.Start(split)
	k.Route(split, func(state) graph.Next {
		return graph.Next{}
	}, work.OrElse(graph.End("Clean")), graph.End("Skipped"))
	k.Edge(work, gate)
	k.Route(gate, func(state) graph.Next { return graph.Next{} }, post, redo, graph.End("Aborted"))
	k.Edge(redo, gate)
	k.Edge(post, graph.End("Posted"))
	k.InterruptBefore(post)
	f := k.build(t, graph.NewMemory())
	require.Equal(t, `flowchart TD
    start((start)) --> n_split
    n_split["split"]
    n_redo["redo"]
    n_work@{ shape: procs, label: "work" }
    n_gate{"gate"}
    n_post[["pause, then post"]]
    e_Clean([Clean])
    e_Skipped([Skipped])
    e_Aborted([Aborted])
    e_Posted([Posted])
    n_split -.->|each| n_work
    n_split -.->|none| e_Clean
    n_split -.-> e_Skipped
    n_redo --> n_gate
    n_work --> n_gate
    n_gate -.-> n_post
    n_gate -.-> n_redo
    n_gate -.-> e_Aborted
    n_post --> e_Posted
`, f.Mermaid())
}

func TestG29_EventsTellTheRun(t *testing.T) {
	k := newKit()
	a, gate := k.node("a"), k.gate("gate")
	k.line(a, gate)
	var got []string
	f := k.build(t, graph.NewMemory(), graph.Observe(func(e graph.Event) {
		got = append(got, fmt.Sprintf("%s %s %d/%d", e.Kind, e.Node, e.Done, e.Total))
	}))
	run(t, f)
	_, err := f.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.NoError(t, err)
	require.Equal(t, []string{"step started a 0/1", "task done a 1/1", "gate reached gate 0/0", "run ended Done 0/0"},
		got)
}

func TestG29_ProgressCountsEveryTask(t *testing.T) {
	k := newKit()
	k.fan(100, func(context.Context, state, int) (graph.Update, error) { return graph.Update{}, nil })
	var got []int
	run(t, k.build(t, nil, graph.Observe(func(e graph.Event) {
		if e.Kind == graph.TaskDone && e.Node == "work" {
			got = append(got, e.Done)
		}
	})))
	require.Len(t, got, 100)
	require.True(t, slices.IsSorted(got))
	require.Equal(t, 100, got[99])
}
