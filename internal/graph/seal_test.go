package graph_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
)

// sealed puts the right plain seal in front of an object's members.
func sealed(data []byte) []byte {
	if _, rest, ok := bytes.Cut(data, []byte(`",`)); ok && bytes.HasPrefix(data, []byte(`{"seal":"`)) {
		data = append([]byte("{"), rest...)
	}
	if len(data) == 0 {
		return data
	}
	return fmt.Appendf(nil, `{"seal":"sha256:%x",%s`, sha256.Sum256(data[1:]), data[1:])
}

// inspects loads a snapshot, under a key where there is one.
func inspects(t *testing.T, k kit, snapshot, key []byte) (graph.View[state], error) {
	store := graph.NewMemory()
	require.NoError(t, store.Save(t.Context(), "t", snapshot))
	var o []graph.RunOption
	if key != nil {
		o = append(o, graph.WithKey(key))
	}
	return k.build(t, store, o...).Inspect(t.Context(), "t")
}

// pausedUnder is paused under a key.
func pausedUnder(t *testing.T, key []byte) (kit, []byte) {
	k := newKit()
	k.line(k.node("a"), k.gate("gate"))
	store := graph.NewMemory()
	run(t, k.build(t, store, graph.WithKey(key)))
	saved, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	return k, saved.Snapshot
}

var sealKey = bytes.Repeat([]byte("k"), 32)

func TestG22_EveryChangedByteAndEveryLengthIsRefused(t *testing.T) {
	t.Parallel()
	k, plain := paused(t)
	under, keyed := pausedUnder(t, sealKey)
	for name, c := range map[string]struct {
		kit
		snapshot, key []byte
	}{"plain": {k, plain, nil}, "under a key": {under, keyed, sealKey}} {
		_, err := inspects(t, c.kit, c.snapshot, c.key)
		require.NoError(t, err, name)
		for i := range c.snapshot {
			for _, bit := range []byte{1, 0x20, 0x80} {
				changed := slices.Clone(c.snapshot)
				changed[i] ^= bit
				_, err := inspects(t, c.kit, changed, c.key)
				require.ErrorIs(t, err, graph.ErrSeal, "%s, byte %d", name, i)
				require.ErrorIs(t, err, graph.ErrSnapshot)
			}
			_, err := inspects(t, c.kit, c.snapshot[:i], c.key)
			require.ErrorIs(t, err, graph.ErrSeal, "%s, length %d", name, i)
		}
	}
}

func TestG22_SealOfTheWrongKindIsRefused(t *testing.T) {
	t.Parallel()
	k, plain := paused(t)
	under, keyed := pausedUnder(t, sealKey)
	for name, c := range map[string]struct {
		kit
		snapshot, key []byte
		want          string
	}{
		"plain under a key":   {k, plain, sealKey, "there is a key, and no seal under it"},
		"no seal under a key": {k, bare(t, plain), sealKey, "there is a key, and no seal under it"},
		"keyed without a key": {under, keyed, nil, "it is under a key, and there is none here to check it with"},
		"another key":         {under, keyed, bytes.Repeat([]byte("x"), 32), "sealed under another key"},
		"no seal": {k, append([]byte(`{`), plain[bytes.IndexByte(plain, ',')+1:]...), nil,
			"its seal does not hold"},
		"none": {k, bytes.Replace(plain, []byte("sha256:"), []byte("none:"), 1), nil,
			"its seal does not hold"},
		"its digests": {k, sealed(bare(t, plain)), nil, "does not have its digest"},
		"digests by another name": {k, sealed(bytes.Replace(plain, []byte(`"digests"`), []byte(`"digestz"`), 1)), nil,
			"unknown"},
	} {
		_, err := inspects(t, c.kit, c.snapshot, c.key)
		require.ErrorIs(t, err, graph.ErrSnapshot, name)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := graph.DecodeSnapshot(keyed)
	require.NoError(t, err, "the layout can be read without the key")
}

func TestG22_DigestOfAFieldNamesIt(t *testing.T) {
	t.Parallel()
	k, plain := paused(t)
	changed := bytes.Replace(plain, []byte(`"total":0`), []byte(`"total":7`), 1)
	_, err := inspects(t, k, sealed(changed), nil)
	require.ErrorIs(t, err, graph.ErrSnapshot)
	require.ErrorContains(t, err, `field "total" does not have its digest`)
}

func TestG22_ShortKeyDoesNotBuild(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{nil, {}, sealKey[:31]} {
		k := newKit()
		k.line(k.node("a"))
		_, err := k.Build(graph.NewMemory(), graph.WithKey(key))
		require.ErrorContains(t, err, fmt.Sprintf("has %d bytes, at least 32", len(key)))
	}
}

func TestG22_CreationTimeIsKeptAcrossSaves(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.line(k.gate("one"), k.gate("two"))
	store := graph.NewMemory()
	run(t, k.build(t, store))
	later := k.build(t, store, graph.WithClock(func() time.Time { return clock().Add(time.Hour) }))
	_, err := later.Resume(t.Context(), "t", graph.Answer{Value: "y"})
	require.NoError(t, err)
	saved, err := store.Load(t.Context(), "t")
	require.NoError(t, err)
	s, err := graph.DecodeSnapshot(saved.Snapshot)
	require.NoError(t, err)
	require.Equal(t, []string{"two"}, s.Frontier)
	require.Equal(t, clock(), s.CreatedAt)
}

// versioned is a line a -> gate of the given version.
func versioned(version int) kit {
	k := newKitOf(version)
	k.line(k.node("a"), k.gate("gate"))
	return k
}

func TestG23_AnotherVersionIsRefusedWithBothNamed(t *testing.T) {
	t.Parallel()
	store := graph.NewMemory()
	run(t, versioned(1).build(t, store))
	for _, version := range []int{0, 2, 3} { // saved by a newer program, and by older ones
		_, err := versioned(version).build(t, store).Inspect(t.Context(), "t")
		require.ErrorAs(t, err, new(*graph.VersionError))
		require.ErrorContains(t, err, `saved by graph "test" version 1 (`)
		require.ErrorContains(t, err, fmt.Sprintf(`this is graph "test" version %d (`, version))
	}
}

func TestG22_LargeTextsAndCutOnesAreReadBackAsTheyRan(t *testing.T) {
	t.Parallel()
	type texts struct {
		Cut, Whole []string
	}
	g := graph.New[texts]("test", 1)
	cut := graph.Reduce(g, "cut", func(s *texts) *[]string { return &s.Cut }, func(_, v []string) []string {
		return []string{v[0], v[1][:len(v[1])-1]} // in the middle of a character
	})
	whole := graph.Append(g, "whole", func(s *texts) *[]string { return &s.Whole })
	long := strings.Repeat("a line of text\n", 1<<17)
	a := g.Node("a", func(context.Context, texts) (graph.Update, error) {
		return graph.Updates(cut.Set([]string{long, long + "é"}), whole.Set([]string{"short", long, long})), nil
	}, graph.Writes(cut, whole))
	g.Start(a)
	g.Edge(a, graph.End("Done"))
	g.InterruptAfter(a)
	f, err := g.Build(graph.NewMemory())
	require.NoError(t, err)
	r, err := f.Run(t.Context(), "t", texts{})
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(r.State.Cut[1], "\n\uFFFD"))
	v, err := f.Inspect(t.Context(), "t")
	require.NoError(t, err)
	require.True(t, slices.Equal(r.State.Cut, v.State.Cut))
	require.True(t, slices.Equal([]string{"short", long, long}, v.State.Whole))
}
