package graph_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// asking is a task that asks a model that counts its calls: once per turn, and
// the answers become words of the log.
type asking struct {
	mu    sync.Mutex
	calls map[string]int
}

func (a *asking) ask(key string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.calls == nil {
			a.calls = map[string]int{}
		}
		a.calls[key]++
		return fmt.Sprintf("answer %d to %s", a.calls[key], key), nil
	}
}

// turns asks for each turn of a task once.
func (a *asking) turns(ctx context.Context, task, n int) (words []string, err error) {
	for turn := range n {
		key := fmt.Sprintf("%d/%d", task, turn)
		word, err := graph.Once(ctx, key, a.ask(key))
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

func (a *asking) fan(k kit, tasks, turns int) {
	k.fan(tasks, func(ctx context.Context, _ state, p int) (graph.Update, error) {
		words, err := a.turns(ctx, p, turns)
		return k.log.Set(words), err
	}, graph.Concurrency(1))
}

// refusing is a store that takes n records and then dies, or refuses one alone.
type refusing struct {
	*graph.Memory
	left  atomic.Int64
	heals bool
}

func (s *refusing) Append(ctx context.Context, thread string, record ...[]byte) error {
	if n := s.left.Add(-1); n == -1 || n < 0 && !s.heals {
		return errDisk
	}
	return s.Memory.Append(ctx, thread, record...)
}

func TestG20_AnswersThatWereJournalledAreNotPaidAgain(t *testing.T) {
	t.Parallel()
	const tasks, turns = 3, 2
	for kept := range 1 + tasks*(turns+1) {
		var a asking
		k := newKit()
		a.fan(k, tasks, turns)
		store := &refusing{Memory: graph.NewMemory()}
		store.left.Store(int64(kept))
		_, err := k.build(t, store).Run(t.Context(), "t", state{})
		require.ErrorIs(t, err, errDisk)
		paid := 0
		saved, err := store.Load(t.Context(), "t")
		require.NoError(t, err)
		for _, data := range saved.Journal {
			r, err := graph.DecodeRecord(data)
			require.NoError(t, err)
			if r.Answer != "" {
				paid++
				require.Equal(t, 1, a.calls[r.Answer])
				require.JSONEq(t, fmt.Sprintf(`"answer 1 to %s"`, r.Answer), string(r.Value))
			}
		}
		store.left.Store(1000)
		r := run(t, k.build(t, store))
		require.Len(t, r.State.Log, tasks*turns+2)
		total := 0
		for key, n := range a.calls {
			total += n
			require.LessOrEqual(t, n, 2, key)
		}
		require.LessOrEqual(t, total, tasks*turns+1, "only the answer that the store refused is paid twice")
		require.GreaterOrEqual(t, total, tasks*turns)
		require.Contains(t, []int{paid, tasks * turns}, min(paid, tasks*turns))
	}
}

func TestG20_OneKeyOfATaskIsPaidOnce(t *testing.T) {
	t.Parallel()
	k := newKit()
	var a asking
	k.line(k.Node("a", func(ctx context.Context, _ state) (graph.Update, error) {
		var all sync.WaitGroup
		words := make([]string, 8)
		release := make(chan struct{})
		for i := range words {
			all.Go(func() {
				words[i], _ = graph.Once(ctx, "key", func(ctx context.Context) (string, error) {
					<-release
					return a.ask("key")(ctx)
				})
			})
		}
		for range 1000 {
			runtime.Gosched() // the others wait for the one that pays, or pay too
		}
		close(release)
		all.Wait()
		return k.log.Set(words), nil
	}, graph.Writes(k.log)))
	r := run(t, k.build(t, nil))
	require.Equal(t, strings.Repeat("answer 1 to key;", 8), strings.Join(r.State.Log, ";")+";")
	require.Equal(t, 1, a.calls["key"])
}

func TestG20_ErrorIsNotKeptAndTheNextRunHasTheAnswersBeforeIt(t *testing.T) {
	t.Parallel()
	k := newKit()
	var a asking
	failed := false
	k.line(k.Node("a", func(ctx context.Context, _ state) (graph.Update, error) {
		if _, err := graph.Once(ctx, "first", a.ask("first")); err != nil {
			return graph.Update{}, err
		}
		word, err := graph.Once(ctx, "second", func(ctx context.Context) (string, error) {
			if !failed {
				failed = true
				return "", errDisk
			}
			return a.ask("second")(ctx)
		})
		return k.log.Set([]string{word}), err
	}, graph.Writes(k.log)))
	f := k.build(t, graph.NewMemory())
	_, err := f.Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, errDisk)
	r, err := f.Continue(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, []string{"answer 1 to second"}, r.State.Log)
	require.Equal(t, map[string]int{"first": 1, "second": 1}, a.calls)
}

func TestG20_RefusedRecordBreaksTheRunWhateverTheTaskMakesOfIt(t *testing.T) {
	t.Parallel()
	k := newKit()
	var a asking
	store := &refusing{Memory: graph.NewMemory(), heals: true}
	store.left.Store(1)
	k.fan(50, func(ctx context.Context, _ state, p int) (graph.Update, error) {
		_, err := a.turns(ctx, p, 1)
		if p%2 == 0 {
			err = nil // the task does not care
		}
		return graph.Update{}, err
	}, graph.Concurrency(1), graph.OnError(func(int, error) (graph.Update, error) { return graph.Update{}, nil }))
	_, err := k.build(t, store).Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, errDisk)
	require.Len(t, a.calls, 1, "nothing more was started")
}

func TestG20_OutsideOfATaskOnceIsTheCall(t *testing.T) {
	t.Parallel()
	var a asking
	for n := range 2 {
		word, err := graph.Once(t.Context(), "key", a.ask("key"))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("answer %d to key", n+1), word)
	}
}

func TestG20_AnswerIsTheSameBeforeAndAfterACrash(t *testing.T) {
	t.Parallel()
	type reply struct {
		Text   string
		hidden int
	}
	k := newKit()
	const text = "é"
	var seen []reply
	dies := true
	k.line(k.Node("a", func(ctx context.Context, _ state) (graph.Update, error) {
		r, err := graph.Once(ctx, "key", func(context.Context) (reply, error) { return reply{text, 7}, nil })
		seen = append(seen, r)
		if dies {
			err = errDisk
		}
		return graph.Update{}, err
	}))
	f := k.build(t, graph.NewMemory())
	_, err := f.Run(t.Context(), "t", state{})
	require.ErrorIs(t, err, errDisk)
	dies = false
	run(t, f)
	require.Equal(t, []reply{{Text: text}, {Text: text}}, seen)
}

func TestG20_KeyIsNeededAndAnAnswerOfAnotherTypeIsAskedAgain(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.line(k.Node("a", func(ctx context.Context, _ state) (graph.Update, error) {
		_, err := graph.Once(ctx, "", func(context.Context) (int, error) { return 1, nil })
		require.ErrorContains(t, err, "needs a key")
		_, err = graph.Once(ctx, "key", func(context.Context) (string, error) { return "x", nil })
		require.NoError(t, err)
		n, err := graph.Once(ctx, "key", func(context.Context) (int, error) { return 5, nil })
		return k.total.Set(n), err
	}, graph.Writes(k.total)))
	require.Equal(t, 5, run(t, k.build(t, nil)).State.Total)
}

func TestDecodeRecordIsStrict(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		``, `null`, `[]`, `{"step":1,"node":"a","task":0}{}`, `{"step":1,"node":"a","task":0,"more":1}`,
		`{"Step":1,"node":"a","task":0}`,
		`{"step":1,"step":1,"node":"a","task":0}`, `{"step":1,"node":"a","task":0,"answer":"k"}`,
		`{"step":1,"node":"a","task":0,"value":1}`,
		`{"step":1,"node":"a","task":0,"answer":"k","value":1,"gate":"g"}`,
		`{"step":1,"node":"a","task":0,"intent":true,"update":[]}`,
		`{"step":1,"node":"a","task":0,"failed":true,"unreached":true}`, `{"step":1,"node":"` + "\xff" + `","task":0}`,
		strings.Repeat("[", 100),
	} {
		_, err := graph.DecodeRecord([]byte(bad))
		if bad == `null` {
			continue // the zero record, of no step
		}
		require.ErrorContains(t, err, "reading a record", bad)
	}
	r, err := graph.DecodeRecord([]byte(`{"step":2,"node":"a","task":3,"answer":"k","value":{"x":1}}`))
	require.NoError(t, err)
	require.Equal(t, graph.Record{Step: 2, Node: "a", Task: 3, Answer: "k", Value: []byte(`{"x":1}`)}, r)
}

func FuzzG24_DecodeRecord(f *testing.F) {
	var c counted
	f.Add([]byte(`{"step":2,"node":"work","task":3,"answer":"k","value":{"x":1}}`))
	f.Add([]byte(`{"step":2,"node":"work","task":1,"failed":true,"update":[{"field":"log","value":["1"]}` +
		`,{"field":"total","value":1}]}`))
	f.Add([]byte(`{"step":2,"node":"work","task":0,"intent":true}`))
	f.Add([]byte(`{"step":3,"node":"join","task":0,"unreached":true}`))
	f.Add([]byte(`{"step":2,"node":"gate","task":0,"gate":"beef","update":[]}`))
	k, _, saved := crashed(f, &c)
	flow, err := k.Build(graph.NewMemory())
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := graph.DecodeRecord(data); err != nil {
			return
		}
		store := graph.NewMemory()
		require.NoError(t, store.Save(t.Context(), "t", saved.Snapshot))
		for _, record := range append(saved.Journal[:1:1], data, data) {
			require.NoError(t, store.Append(t.Context(), "t", record))
		}
		flow, err = k.Build(store)
		require.NoError(t, err)
		_, err = flow.Inspect(t.Context(), "t") // must not panic
		require.NoError(t, err)
	})
}
