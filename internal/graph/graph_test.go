package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type state struct {
	Log   []string
	Name  string
	Flag  bool
	Total int
	Items []int
}

// kit is a graph over state with its fields declared.
type kit struct {
	*graph.Graph[state]
	log   graph.Field[[]string]
	name  graph.Field[string]
	flag  graph.Field[bool]
	total graph.Field[int]
	items graph.Field[[]int]
}

func newKit() kit { return newKitOf(1) }

func newKitOf(version int) kit {
	g := graph.New[state]("test", version)
	return kit{
		Graph: g,
		log:   graph.Append(g, "log", func(s *state) *[]string { return &s.Log }),
		name:  graph.Value(g, "name", func(s *state) *string { return &s.Name }),
		flag:  graph.Value(g, "flag", func(s *state) *bool { return &s.Flag }),
		total: graph.Sum(g, "total", func(s *state) *int { return &s.Total }),
		items: graph.Value(g, "items", func(s *state) *[]int { return &s.Items }),
	}
}

type step = func(context.Context, state) (graph.Update, error)

// says is a step that adds a word to the log.
func (k kit) says(word string) step {
	return func(context.Context, state) (graph.Update, error) { return k.log.Set([]string{word}), nil }
}

// node declares a node that logs its own name.
func (k kit) node(name string) graph.Node { return k.Node(name, k.says(name), graph.Writes(k.log)) }

// gate declares a gate that asks for the log and logs the answer.
func (k kit) gate(name string) graph.Node {
	return graph.Gate(k.Graph, name,
		func(s state) (map[string]question, error) { return map[string]question{"log": {s.Log}}, nil },
		func(_ state, a string) (graph.Update, error) {
			if a == "bad" {
				return graph.Update{}, errors.New("bad answer")
			}
			return k.log.Set([]string{name + "=" + a}), nil
		}, graph.Writes(k.log))
}

type question struct{ Seen []string }

// line wires nodes one after the other to the end "Done".
func (k kit) line(ts ...graph.Target) {
	k.Start(ts[0])
	for i, t := range ts[1:] {
		k.Edge(ts[i], t)
	}
	k.Edge(ts[len(ts)-1], graph.End("Done"))
}

// fan wires split -> work (one task per number below n) -> join, and returns join.
func (k kit) fan(n int, work func(context.Context, state, int) (graph.Update, error), o ...graph.Option) graph.Node {
	split, join := k.node("split"), k.node("join")
	each := graph.Each(k.Graph, "work", work, append(o, graph.Writes(k.log, k.total))...)
	k.Start(split)
	k.Route(split, func(state) graph.Next { return each.Over(upTo(n)) }, each.OrElse(graph.End("Empty")))
	k.Edge(each, join)
	k.Edge(join, graph.End("Done"))
	return join
}

func upTo(n int) []int {
	var list []int
	for i := range n {
		list = append(list, i)
	}
	return list
}

// clock stands still.
func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }

func (k kit) build(t *testing.T, store graph.Store, o ...graph.RunOption) *graph.Flow[state] {
	t.Helper()
	f, err := k.Build(store, append([]graph.RunOption{graph.WithClock(clock)}, o...)...)
	require.NoError(t, err)
	return f
}

// refused builds a graph that must not build, and returns why.
func (k kit) refused(t *testing.T) string {
	t.Helper()
	_, err := k.Build(graph.NewMemory())
	require.Error(t, err)
	return err.Error()
}

func run(t *testing.T, f *graph.Flow[state]) graph.Result[state] {
	t.Helper()
	r, err := f.Run(t.Context(), "t", state{})
	require.NoError(t, err)
	return r
}

func TestG2_ReducersOverwriteAppendAddAndOwn(t *testing.T) {
	type all struct {
		V, S int
		A    []int
		R    string
	}
	g := graph.New[all]("test", 1)
	v := graph.Value(g, "v", func(s *all) *int { return &s.V })
	sum := graph.Sum(g, "s", func(s *all) *int { return &s.S })
	a := graph.Append(g, "a", func(s *all) *[]int { return &s.A })
	r := graph.Reduce(g, "r", func(s *all) *string {
		return &s.R
	}, func(old, n string) string { return old + "<" + n + ">" })
	n := g.Node("n", func(context.Context, all) (graph.Update, error) {
		return graph.Updates(v.Set(5), v.Set(6), sum.Set(5), sum.Set(6), a.Set([]int{5}), a.Set([]int{6, 7}),
			r.Set("x")), nil
	}, graph.Writes(v, sum, a, r))
	g.Start(n)
	g.Edge(n, graph.End("Done"))
	f, err := g.Build(nil)
	require.NoError(t, err)
	got, err := f.Run(t.Context(), "t", all{V: 1, S: 1, A: []int{1}, R: "1"})
	require.NoError(t, err)
	require.Equal(t, all{V: 6, S: 12, A: []int{1, 5, 6, 7}, R: "1<x>"}, got.State)
}

func TestG2_PanicOfAReducerNamesTheField(t *testing.T) {
	type one struct{ R int }
	g := graph.New[one]("test", 1)
	r := graph.Reduce(g, "rating", func(s *one) *int { return &s.R }, func(int, int) int { panic("no") })
	n := g.Node("n", func(context.Context, one) (graph.Update, error) { return r.Set(1), nil }, graph.Writes(r))
	g.Start(n)
	g.Edge(n, graph.End("Done"))
	f, err := g.Build(nil)
	require.NoError(t, err)
	_, err = f.Run(t.Context(), "t", one{})
	require.ErrorContains(t, err, `merging field "rating": panic: no`)
}

// finishing runs a fan of n tasks that finish in the given order, one after
// the other, and returns what the store then holds.
func finishing(t *testing.T, order []int) []byte {
	k := newKit()
	turn := make([]chan struct{}, len(order)+1)
	for i := range turn {
		turn[i] = make(chan struct{})
	}
	var mu sync.Mutex
	finished := 0
	after := map[int]int{}
	for pos, task := range order {
		after[task] = pos
	}
	k.InterruptAfter(k.fan(len(order), func(_ context.Context, _ state, p int) (graph.Update, error) {
		<-turn[after[p]]
		return graph.Updates(k.log.Set([]string{fmt.Sprint("task ", p)}), k.total.Set(p)), nil
	}, graph.Concurrency(len(order))))
	store := graph.NewMemory()
	f := k.build(t, store, graph.Observe(func(e graph.Event) {
		if e.Kind != graph.TaskDone && e.Kind != graph.StepStarted || e.Node != "work" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		close(turn[finished])
		finished++
	}))
	run(t, f)
	saved, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	return saved.Snapshot
}

func TestG3_AnyFinishOrderGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	want := finishing(t, []int{0, 1, 2, 3})
	require.Contains(t, string(want), `"task 0","task 1","task 2","task 3","join"`)
	for order := range permutations(upTo(4)) {
		require.Equal(t, string(want), string(finishing(t, order)), "finish order %v", order)
	}
}

func permutations(list []int) func(yield func([]int) bool) {
	var rec func(done, rest []int, yield func([]int) bool) bool
	rec = func(done, rest []int, yield func([]int) bool) bool {
		if len(rest) == 0 {
			return yield(done)
		}
		for i := range rest {
			left := slices.Delete(slices.Clone(rest), i, i+1)
			if !rec(append(slices.Clone(done), rest[i]), left, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func([]int) bool) { rec(nil, list, yield) }
}

func TestG4_WhatIsNotNamedStaysAndZeroValuesAreSet(t *testing.T) {
	k := newKit()
	quiet := k.Node("quiet", func(context.Context, state) (graph.Update, error) { return graph.Update{}, nil })
	zero := k.Node("zero", func(_ context.Context, s state) (graph.Update, error) {
		if s.Name != "n" || !s.Flag {
			return graph.Update{}, errors.New("the quiet node changed something")
		}
		return graph.Updates(k.name.Set(""), k.flag.Set(false), k.items.Set(nil)), nil
	}, graph.Writes(k.name, k.flag, k.items))
	k.line(quiet, zero)
	r, err := k.build(t, nil).Run(t.Context(), "t", state{Name: "n", Flag: true, Total: 3, Items: []int{1}})
	require.NoError(t, err)
	require.Equal(t, state{Total: 3}, r.State)
}

func TestG4_FieldsAreWrittenByTheirNames(t *testing.T) {
	k := newKit()
	a := k.Node("a", func(_ context.Context, s state) (graph.Update, error) {
		s.Name, s.Flag, s.Log = "new", true, []string{"new"}
		return k.Kept(s, "name", "log"), nil
	}, k.Named("name", "log"))
	k.line(a)
	result, err := k.build(t, nil).Run(t.Context(), "t", state{Name: "old", Log: []string{"old"}})
	require.NoError(t, err)
	require.Equal(t, state{Name: "new", Log: []string{"old", "new"}}, result.State)

	k = newKit()
	k.line(k.Node("a", silent, k.Named("nmae")))
	require.Contains(t, k.refused(t), `it writes field "nmae", which this graph does not declare`)
}

func TestG6_RouteWithoutTargetNamesNodeAndState(t *testing.T) {
	for name, next := range map[string]func(graph.Target, graph.Fan[int]) graph.Next{
		"it returned no target": func(graph.Target, graph.Fan[int]) graph.Next {
			return graph.Next{}
		},
		`it returned "Other", which it does not declare`: func(graph.Target, graph.Fan[int]) graph.Next {
			return graph.To(graph.End("Other"))
		},
		`it returned "undecided", which it does not declare`: func(n graph.Target, _ graph.Fan[int]) graph.Next {
			return graph.To(n)
		},
		`it returned fan "work" without payloads`: func(_ graph.Target, f graph.Fan[int]) graph.Next {
			return graph.To(f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit()
			n := k.node("undecided")
			work := graph.Each(k.Graph, "work", func(context.Context, state, int) (graph.Update, error) {
				return graph.Update{}, nil
			})
			k.Start(n)
			k.Route(n, func(state) graph.Next { return next(n, work) }, graph.End("Done"), work)
			k.Edge(work, graph.End("Done"))
			_, err := k.build(t, nil).Run(t.Context(), "t", state{Name: "abc"})
			require.ErrorContains(t, err, `route from "undecided": `+name+"; state: ")
			require.ErrorContains(t, err, `name="abc"`)
		})
	}
}

func TestG7_FanOutToZeroTasksNeedsAnEmptyBranch(t *testing.T) {
	work := func(context.Context, state, int) (graph.Update, error) { return graph.Update{}, nil }
	k := newKit()
	k.fan(0, work)
	r := run(t, k.build(t, nil))
	require.Equal(t, "Empty", r.End)

	k = newKit()
	split := k.node("split")
	each := graph.Each(k.Graph, "work", work)
	k.Start(split)
	k.Route(split, func(state) graph.Next { return each.Over(nil) }, each)
	k.Edge(each, graph.End("Done"))
	_, err := k.build(t, nil).Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, graph.ErrEmptyFan)
	require.ErrorContains(t, err, `node "split": routing to "work"`)
}

func TestG8_FanInRunsTheNextNodeOnce(t *testing.T) {
	k := newKit()
	k.fan(50, func(_ context.Context, _ state, p int) (graph.Update, error) { return k.total.Set(1), nil })
	r := run(t, k.build(t, nil))
	require.Equal(t, []string{"split", "join"}, r.State.Log)
	require.Equal(t, 50, r.State.Total)
}

func TestG8_BranchesThatMeetRunTheNextNodeOnce(t *testing.T) {
	k := newKit()
	split, a, b, join := k.node("split"), k.node("a"), k.node("b"), k.node("join")
	k.Start(split)
	k.Edge(split, a)
	k.Edge(split, b)
	k.Edge(a, join)
	k.Edge(b, join)
	k.Edge(join, graph.End("Done"))
	require.Equal(t, []string{"split", "a", "b", "join"}, run(t, k.build(t, nil)).State.Log)
}

func TestG12_StepCapPrintsThePath(t *testing.T) {
	k := newKit()
	a, b := k.node("a"), k.node("b")
	k.Start(a)
	k.Edge(a, b)
	k.Route(b, func(state) graph.Next { return graph.To(a) }, a, graph.End("Done"))
	store := graph.NewMemory()
	_, err := k.build(t, store, graph.StepCap(3)).Run(t.Context(), "t", state{})
	require.EqualError(t, err, "more than 3 steps: a → b → a → b")
	_, err = k.build(t, store).Continue(t.Context(), "t")
	require.EqualError(t, err, "more than 25 steps: "+strings.Repeat("a → b → ", 12)+"a → b")
}

func TestFiveThousandTasksStayLinear(t *testing.T) {
	k := newKit()
	text := string(bytes.Repeat([]byte("x"), 1000))
	k.fan(5000, func(context.Context, state, int) (graph.Update, error) { return k.log.Set([]string{text}), nil })
	started := time.Now()
	r := run(t, k.build(t, nil))
	require.Len(t, r.State.Log, 5002)
	require.Less(t, time.Since(started), 10*time.Second)
}

func TestStateOfTheCallerAndOfSiblingsIsNotShared(t *testing.T) {
	for n := range 9 { // whatever capacity a list of this length happens to have
		k := newKit()
		var all sync.WaitGroup
		all.Add(3)
		k.fan(3, func(_ context.Context, s state, p int) (graph.Update, error) {
			s.Log = append(s.Log, fmt.Sprint(p)) // a node may build on its copy
			all.Done()
			all.Wait()
			return k.log.Set(s.Log[len(s.Log)-1:]), nil
		})
		mine := state{Log: make([]string, n, 20)}
		r, err := k.build(t, nil).Run(t.Context(), "t", mine)
		require.NoError(t, err)
		require.Equal(t, []string{"split", "0", "1", "2", "join"}, r.State.Log[n:])
		require.Equal(t, make([]string, 20), mine.Log[:20])
	}
}
