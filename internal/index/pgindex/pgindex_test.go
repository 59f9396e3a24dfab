package pgindex_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/index/pgindex"
	"github.com/org/pr-review-action/internal/indextest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/vector"
)

func open(t *testing.T, address string) *pgindex.Store {
	t.Helper()
	s, err := pgindex.Open(t.Context(), address, "")
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func write(t *testing.T, s *pgindex.Store, k index.Key, x *index.Index) *index.Source {
	t.Helper()
	found, err := s.Write(t.Context(), k, x, index.Report{})
	require.NoError(t, err)
	require.NotNil(t, found)
	return found
}

func key(t *testing.T, x *index.Index) index.Key {
	t.Helper()
	info := x.Vectors()
	return index.Key{Repository: "acme/shop", Commit: fmt.Sprintf("%040d", 1), Made: "paragraphs", Model: info.Model}
}

func TestPostgresWithPgvectorKeepsTheContract(t *testing.T) {
	t.Parallel()
	s := open(t, pglite(t))
	require.True(t, s.Vectors())
	indextest.Run(t, func(t *testing.T, x *index.Index) *index.Source { return write(t, s, key(t, x), x) })
}

// PGlite has one session for all, as a pooler may give one to several.
func TestProcessesThatShareASessionDoNotMeetInIt(t *testing.T) {
	t.Parallel()
	address, x := pglite(t), indextest.Build(t, indextest.Files)
	write(t, open(t, address), key(t, x), x)
	found, _, err := open(t, address).Find(t.Context(), key(t, x))
	require.NoError(t, err)
	require.NotNil(t, found)
}

func TestPlainPostgresServesWordsAndStructureAndSaysSo(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	require.False(t, s.Vectors())
	x := indextest.Build(t, indextest.Files).WithVectors("m", 2, map[string][]float32{})
	k := key(t, x)
	k.Model = "m"
	found := write(t, s, k, x)
	indextest.RunPlain(t, func(*testing.T, *index.Index) *index.Source { return found })
	info := found.Vectors()
	require.Equal(t, index.VectorsInfo{Missing: len(x.Chunks())}, info)
}

// repository is files of random words, so that ranks are close to each other.
func repository(n int) map[string]string {
	r := rand.New(rand.NewPCG(3, 4))
	files := map[string]string{}
	for i := range n {
		var b strings.Builder
		for j := range 8 {
			fmt.Fprintf(&b, "func word%d%d() {\n", i, j)
			for range 30 {
				fmt.Fprintf(&b, "\tw%d\n", int(r.ExpFloat64()*60))
			}
			b.WriteString("}\n\n")
		}
		files[fmt.Sprintf("p%d/f%d.go", i%7, i)] = b.String()
	}
	return files
}

// The issue asks for 0.95 of the 40 best; the same counts give all of them.
func TestTheLexicalLegAgreesWithTheEmbeddedOne(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	x := indextest.Build(t, repository(60))
	found := write(t, s, key(t, x), x)
	for q := range 20 {
		terms := index.Terms(fmt.Sprintf("w%d w%d w%d", q, 3*q+1, 7*q+2))
		want, err := x.Lexical(t.Context(), terms, 40, nil)
		require.NoError(t, err)
		got, err := found.Lexical(t.Context(), terms, 40, nil)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestNamesThatManyDefineAreLeftOutAsInMemory(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("f%d.go", i)] = fmt.Sprintf("func often() {\n}\n\nfunc once%d() {\n}\n", i)
	}
	x := indextest.Build(t, files)
	found := write(t, open(t, database(t)), key(t, x), x)
	for most, names := range []int{5, 4, 4, 4, 5} {
		want, err := x.Defines(t.Context(), most, "often", "once0", "once1", "once2", "once3", "never")
		require.NoError(t, err)
		require.Len(t, want, names)
		got, err := found.Defines(t.Context(), most, "often", "once0", "once1", "once2", "once3", "never")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// Postgres takes no NUL and no invalid UTF-8 as text; what a repository has is bytes.
func TestWhatIsNoTextOfPostgresIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	x := indextest.Build(t, map[string]string{
		"line\nbreak.go": "func Break\xff\xfe() {\n}\n\n" + strings.Repeat("// x\n", 2_000) + "\nfunc Nul\x00() {\n}\n",
		"ä'%_\"$1.go":    "func Straße() {\n\tBreak()\n}\n",
	})
	found := write(t, open(t, database(t)), key(t, x), x)
	for _, question := range []string{"Break", "Nul", "Straße", "x\x00y", "\xff"} {
		want, err := x.Lexical(t.Context(), index.Terms(question), 40, nil)
		require.NoError(t, err)
		got, err := found.Lexical(t.Context(), index.Terms(question), 40, nil)
		require.NoError(t, err)
		require.Equal(t, append([]index.Hit{}, want...), append([]index.Hit{}, got...), question)
		mentions, err := x.Mentions(t.Context(), question, 40)
		require.NoError(t, err)
		same, err := found.Mentions(t.Context(), question, 40)
		require.NoError(t, err)
		require.ElementsMatch(t, mentions, same, question)
	}
	for _, path := range indextest.Paths(x) {
		want, err := x.In(t.Context(), path)
		require.NoError(t, err)
		same, err := found.In(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, want, same)
	}
}

func TestNearlyAllOfTheNearestAreFound(t *testing.T) {
	t.Parallel()
	s := open(t, pglite(t))
	x := indextest.Build(t, repository(100))
	r := rand.New(rand.NewPCG(5, 6))
	vectors := map[string][]float32{}
	draw := func() []float32 {
		v := make([]float32, 32)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		require.True(t, vector.Normalize(v))
		return v
	}
	for _, c := range x.Chunks() {
		vectors[c.Key()] = draw()
	}
	x = x.WithVectors("m", 32, vectors)
	found := write(t, s, key(t, x), x)
	same := 0
	for range 10 {
		query, ids := draw(), map[string]bool{}
		want, err := x.Similar(t.Context(), query, 40, nil)
		require.NoError(t, err)
		for _, h := range want {
			ids[h.ID()] = true
		}
		got, err := found.Similar(t.Context(), query, 40, nil)
		require.NoError(t, err)
		for _, h := range got {
			if ids[h.ID()] {
				same++
			}
		}
	}
	require.GreaterOrEqual(t, same, 380, "of 400")
}

func TestTwoProcessesThatWriteAtOnceLeaveOneIndex(t *testing.T) {
	t.Parallel()
	address := database(t)
	x := indextest.Build(t, indextest.Files)
	k := key(t, x)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s := open(t, address)
			found, err := s.Write(t.Context(), k, x, index.Report{})
			require.NoError(t, err)
			require.Equal(t, len(x.Chunks()), found.Vectors().Missing)
		})
	}
	group.Wait()
	for _, other := range []index.Key{{Repository: "acme/other", Commit: k.Commit, Made: k.Made},
		{Repository: k.Repository, Commit: "2", Made: k.Made}, {Repository: k.Repository, Commit: k.Commit}} {
		found, _, err := open(t, address).Find(t.Context(), other)
		require.NoError(t, err)
		require.Nil(t, found, "T34: an index serves its own repository and commit alone")
	}
}

func TestAStoppedServerIsNamedAndNothingHangs(t *testing.T) {
	s := open(t, database(t)) // the tests that are parallel to others begin when this one has ended
	x := indextest.Build(t, indextest.Files)
	found := write(t, s, key(t, x), x)
	require.NoError(t, server.Stop("immediate"))
	began := time.Now()
	_, err := found.Lexical(t.Context(), index.Terms("item"), 3, nil)
	require.ErrorContains(t, err, "Postgres index ")
	require.ErrorContains(t, problem.Of(err), "next    see that the server runs")
	require.Less(t, time.Since(began), 30*time.Second)
	_, err = s.Write(t.Context(), index.Key{Repository: "r"}, x, index.Report{})
	require.ErrorContains(t, err, "Postgres index ")
	require.NoError(t, server.StartAgain())
	_, err = found.Lexical(t.Context(), index.Terms("item"), 3, nil)
	require.NoError(t, err, "a server that is back is used again")
}

func TestT9_APasswordIsInNoError(t *testing.T) {
	t.Parallel()
	_, err := pgindex.Open(t.Context(), "postgres://me@127.0.0.1:1/db", "hunter2")
	require.ErrorContains(t, err, "127.0.0.1:1/db")
	require.NotContains(t, err.Error(), "hunter2")
	_, err = pgindex.Open(t.Context(), "postgres://me@[::1", "hunter2")
	require.ErrorContains(t, err, "not the address")
}
