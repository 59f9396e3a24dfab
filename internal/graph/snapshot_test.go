package graph_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// paused returns a graph and the bytes of a thread that waits at its gate.
func paused(t testing.TB) (kit, []byte) {
	k := newKit()
	k.line(k.node("a"), k.gate("gate"))
	store := graph.NewMemory()
	f, err := k.Build(store, graph.WithClock(clock))
	require.NoError(t, err)
	_, err = f.Run(context.Background(), "t", state{Name: "<é>", Items: []int{}})
	require.NoError(t, err)
	saved, err := store.Load(context.Background(), "t")
	require.NoError(t, err)
	return k, saved.Snapshot
}

// bare is a snapshot without its seal and digests, to be changed and sealed again.
func bare(t testing.TB, snapshot []byte) []byte {
	parts := regexp.MustCompile(`^\{"seal":"sha256:[0-9a-f]{64}",(.*),"digests":\{[^}]*\}\}$`).FindSubmatch(snapshot)
	require.Len(t, parts, 2, "%s", snapshot)
	return slices.Concat([]byte(`{`), parts[1], []byte(`}`))
}

// resealed gives what is bare the digests and the seal that it should have: what is
// wrong with it is found by what looks behind them.
func resealed(bare []byte) []byte {
	var s struct {
		Fields map[string]json.RawMessage `json:"fields"`
	}
	if json.Unmarshal(bare, &s) == nil && len(s.Fields) > 0 {
		digests := map[string]string{}
		for name, value := range s.Fields {
			digests[name] = fmt.Sprintf("%x", sha256.Sum256(value))
		}
		foot, _ := json.Marshal(digests)
		bare = slices.Concat(bare[:len(bare)-1], []byte(`,"digests":`), foot, []byte(`}`))
	}
	return sealed(bare)
}

func TestG24_DamagedSnapshotsAreRefused(t *testing.T) {
	k, sealed := paused(t)
	good := bare(t, sealed)
	_, err := inspects(t, k, resealed(good), nil)
	require.NoError(t, err, "nothing else is wrong with those below")
	replace := func(old, with string) []byte {
		require.Contains(t, string(good), old)
		return bytes.Replace(good, []byte(old), []byte(with), 1)
	}
	for name, data := range map[string][]byte{
		"empty":             nil,
		"truncated":         good[:len(good)-1],
		"trailing":          append(bytes.Clone(good), '1'),
		"two documents":     append(bytes.Clone(good), good...),
		"deep":              []byte(strings.Repeat("[", 100)),
		"format":            replace(`"format":2`, `"format":1`),
		"unknown key":       replace(`"format":2`, `"format":2,"more":1`),
		"duplicate key":     replace(`"format":2`, `"format":2,"format":2`),
		"case":              replace(`"format":2`, `"Format":2`),
		"other thread":      replace(`"thread":"t"`, `"thread":"u"`),
		"end too":           replace(`"end":""`, `"end":"Done"`),
		"unknown node":      replace(`"frontier":["gate"]`, `"frontier":["gone"]`),
		"another node":      replace(`"frontier":["gate"]`, `"frontier":["a"]`),
		"visit":             replace(`"gate":"gate","visit":1`, `"gate":"gate","visit":2`),
		"payloads":          replace(`"fields":{`, `"payloads":{"gate":[1]},"fields":{`),
		"ask was changed":   replace(`"Seen":["a"]`, `"Seen":["b"]`),
		"no gate":           replace(`"gate":"gate"`, `"gate":"after:a"`),
		"field is missing":  replace(`,"total":0`, ``),
		"field is unknown":  replace(`"total":0`, `"tota":0`),
		"field's type":      replace(`"total":0`, `"total":"0"`),
		"invalid UTF-8":     replace("é", "\xff"),
		"null":              []byte("null"),
		"quote at the end":  []byte(`{"format":2,"`),
		"slash at the end":  []byte(`{"format":2,"\`),
		"nodes there twice": replace(`"frontier":["gate"]`, `"frontier":["gate","gate"]`),
	} {
		t.Run(name, func(t *testing.T) {
			store := graph.NewMemory()
			require.NoError(t, store.Save(t.Context(), "t", resealed(data)))
			_, err := k.build(t, store).Run(t.Context(), "t", state{})
			require.ErrorIs(t, err, graph.ErrSnapshot)
		})
	}
}

func TestG24_BoundsHoldForWellFormedSnapshots(t *testing.T) {
	holding := func(field string) error {
		_, err := graph.DecodeSnapshot(resealed([]byte(`{"format":2,"fields":{"x":` + field + `}}`)))
		return err
	}
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	require.NoError(t, holding(nested(62)))
	require.ErrorContains(t, holding(nested(63)), "more than 64 levels")
	require.ErrorContains(t, holding("["+strings.Repeat("0,", 9<<20)+"0]"), "values")
	require.NoError(t, holding(`"\\\"`+strings.Repeat("[", 100)+`"`), "brackets in text do not count")
	require.NoError(t, holding(`["\\\\",`+strings.Repeat("[],", 100)+`0]`))
	_, err := graph.DecodeSnapshot(make([]byte, 256<<20+1))
	require.ErrorContains(t, err, "bytes, at most")
}

func TestSnapshotOfAnotherGraphIsRefusedWithBothNamed(t *testing.T) {
	_, data := paused(t)
	store := graph.NewMemory()
	require.NoError(t, store.Save(t.Context(), "t", data))
	k := newKit()
	k.line(k.node("b"), k.gate("gate"))
	_, err := k.build(t, store).Continue(t.Context(), "t")
	require.ErrorContains(t, err, `thread "t" was saved by graph "test" version 1 (`)
	require.ErrorContains(t, err, `this is graph "test" version 1 (`)
	var ve *graph.VersionError
	require.ErrorAs(t, err, &ve)
	require.NotEqual(t, ve.Have, ve.Want)
}

func TestSnapshotKeepsNilAndEmptyApart(t *testing.T) {
	k, data := paused(t)
	store := graph.NewMemory()
	require.NoError(t, store.Save(t.Context(), "t", data))
	v, err := k.build(t, store).Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, state{Log: []string{"a"}, Name: "<é>", Items: []int{}}, v.State)
	require.NotContains(t, string(data), "time")
}

func TestTextThatIsNoUTF8IsTheSameBeforeAndAfterAStop(t *testing.T) {
	k := newKit()
	k.line(k.Node("a", func(context.Context, state) (graph.Update, error) {
		return k.name.Set("a\xffb"), nil
	}, graph.Writes(k.name)), k.gate("gate"))
	f := k.build(t, graph.NewMemory())
	r := run(t, f)
	require.Equal(t, "a\uFFFDb", r.State.Name)
	v, err := f.Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, r.State, v.State)
}

// crashed returns a graph whose fan of four stopped with two records.
func crashed(t testing.TB, c *counted) (kit, *graph.Memory, graph.Saved) {
	k := newKit()
	ctx, cancel := context.WithCancel(t.Context())
	k.fan(4, func(_ context.Context, _ state, p int) (graph.Update, error) {
		if c.add(p); p == 1 {
			cancel()
		}
		return graph.Updates(k.log.Set([]string{fmt.Sprint(p)}), k.total.Set(p)), nil
	}, graph.Concurrency(1))
	store := graph.NewMemory()
	f, err := k.Build(store, graph.WithClock(clock))
	require.NoError(t, err)
	_, err = f.Run(ctx, "t", state{})
	require.ErrorIs(t, err, context.Canceled)
	saved, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	require.Len(t, saved.Journal, 3)
	saved.Journal = slices.SortedFunc(slices.Values(saved.Journal), bytes.Compare) // by step and task
	return k, store, saved
}

func TestJournalIsTakenInsteadOfRunningAgain(t *testing.T) {
	var c counted
	k, store, _ := crashed(t, &c)
	r := run(t, k.build(t, store))
	require.Equal(t, []string{"split", "0", "1", "2", "3", "join"}, r.State.Log)
	require.Equal(t, map[int]int{0: 1, 1: 1, 2: 1, 3: 1}, c.runs)
}

func TestG24_NodeThatIsNextTwiceIsRefused(t *testing.T) {
	k, store, saved := crashed(t, &counted{})
	once := bare(t, saved.Snapshot)
	twice := bytes.Replace(once, []byte(`"frontier":["split"]`), []byte(`"frontier":["split","split"]`), 1)
	require.NotEqual(t, once, twice)
	require.NoError(t, store.Save(t.Context(), "t", resealed(twice)))
	_, err := k.build(t, store).Continue(t.Context(), "t")
	require.ErrorIs(t, err, graph.ErrSnapshot)
}

func TestJournalRecordThatDoesNotFitIsIgnored(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"torn at every byte": nil,
		"a later step":       func(r string) string { return strings.Replace(r, `"step":2`, `"step":3`, 1) },
		"an earlier step":    func(r string) string { return strings.Replace(r, `"step":2`, `"step":1`, 1) },
		"another node":       func(r string) string { return strings.Replace(r, `"node":"work"`, `"node":"join"`, 1) },
		"unknown node":       func(r string) string { return strings.Replace(r, `"node":"work"`, `"node":"gone"`, 1) },
		"unknown gate": func(r string) string {
			return strings.Replace(r, `"task":1`, `"task":1,"gate":"beef"`, 1)
		},
		"task out of range":  func(r string) string { return strings.Replace(r, `"task":1`, `"task":4`, 1) },
		"negative task":      func(r string) string { return strings.Replace(r, `"task":1`, `"task":-1`, 1) },
		"task there already": func(r string) string { return strings.Replace(r, `"task":1`, `"task":0`, 1) },
		"undeclared field": func(r string) string {
			return strings.Replace(r, `"field":"log","value":["1"]`, `"field":"name","value":"1"`, 1)
		},
		"wrong type": func(r string) string { return strings.Replace(r, `"value":1`, `"value":"1"`, 1) },
		"too deep":   func(string) string { return strings.Repeat("[", 100) },
	} {
		t.Run(name, func(t *testing.T) {
			var c counted
			k, _, saved := crashed(t, &c)
			record := string(saved.Journal[2])
			variants := []string{}
			for i := range record {
				variants = append(variants, record[:i])
			}
			if change != nil {
				variants = []string{change(record)}
				require.NotEqual(t, record, variants[0])
			}
			for i, v := range variants {
				store := graph.NewMemory()
				require.NoError(t, store.Save(t.Context(), "t", saved.Snapshot))
				require.NoError(t, store.Append(t.Context(), "t", saved.Journal[0]))
				require.NoError(t, store.Append(t.Context(), "t", saved.Journal[1]))
				require.NoError(t, store.Append(t.Context(), "t", []byte(v)))
				r := run(t, k.build(t, store))
				require.Equal(t, []string{"split", "0", "1", "2", "3", "join"}, r.State.Log)
				require.Equal(t, 2+i, c.runs[1])
				require.Equal(t, 1, c.runs[0])
			}
		})
	}
}

func FuzzG24_DecodeSnapshot(f *testing.F) {
	k, good := paused(f)
	f.Add(good)
	f.Add(bare(f, good))
	f.Add(good[:len(good)/2])
	f.Add([]byte(`{"format":2,"fields":{"a":[[[{}]]]}}`))
	f.Add([]byte(`{"format":2,"\`))
	f.Add([]byte(`null`))
	store := graph.NewMemory()
	flow, err := k.Build(store)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, sealed(data), resealed(data)} {
			if _, err := graph.DecodeSnapshot(data); err != nil {
				require.ErrorIs(t, err, graph.ErrSnapshot)
				continue
			}
			require.NoError(t, store.Save(t.Context(), "t", data))
			_, _ = flow.Inspect(t.Context(), "t") // must not panic
		}
	})
}
