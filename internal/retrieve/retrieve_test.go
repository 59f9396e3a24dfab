package retrieve_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/tree"
)

// shop is a small repository.
func shop() map[string]string {
	return map[string]string{
		"cart/cart.go": "package cart\n\n// Cart holds what is bought.\ntype Cart struct{ rows []Row }\n\n" +
			"// Add takes a row in.\nfunc (c *Cart) Add(r Row) {\n\tif r.Count > limit {\n\t\treturn\n\t}\n" +
			"\tc.rows = append(c.rows, r)\n}\n",
		"cart/row.go": "package cart\n\n// limit is the most of one thing.\nconst limit = 9\n\n// Row is one " +
			"thing.\ntype Row struct{ Count int }\n",
		"cart/cart_test.go": "package cart\n\nfunc TestAdd(t *T) {\n\tvar c Cart\n\tc.Add(Row{Count: 10})\n}\n",
		"web/handler.go": "package web\n\n// Buy answers a request to buy.\nfunc Buy(c *cart.Cart, r cart.Row) " +
			"{\n\tc.Add(r)\n\treply(200)\n}\n",
		"lib/buy.go":   "package lib\n\nvar BUY = 1\n",
		"web/reply.go": "package web\n\n// reply closes the connection.\nfunc reply(code int) {}\n",
	}
}

func engine(t testing.TB, files map[string]string) *retrieve.Engine {
	t.Helper()
	return &retrieve.Engine{Index: indexed(t, files).Source}
}

func indexed(t testing.TB, files map[string]string) *index.Index {
	t.Helper()
	x, _, err := index.Build(t.Context(), tree.Files(files), nil, index.Options{Cut: cutter.Cut, Made: "test"})
	require.NoError(t, err)
	return x
}

func symbols(r retrieve.Result) (all []string) {
	for _, h := range r.Hits {
		all = append(all, h.Path+" "+h.Symbol())
	}
	return all
}

func TestAQueryIsUnderstood(t *testing.T) {
	e := engine(t, shop())
	for name, c := range map[string]struct{ query, first string }{
		"a name":             {"Cart.Add", "cart/cart.go Cart.Add"},
		"a bare name":        {"reply", "web/reply.go reply"},
		"uses":               {"find references: Add", "cart/cart_test.go TestAdd"},
		"callers":            {"callers of reply", "web/handler.go Buy"},
		"a sentence":         {"the maximum of one thing", "cart/row.go limit"},
		"an abbreviation":    {"a reply is closed as BUY ends", "web/reply.go reply"},
		"a synonym":          {"shutdown of a connection", "web/reply.go reply"},
		"a test by its name": {"TestAdd", "cart/cart_test.go TestAdd"},
		"a pasted hunk": {"take rows in another way\n--- a/cart/cart.go\n+++ b/cart/cart.go\n@@ -7,2 +7,2 @@\n" +
			"-func (c *Cart) Add(r Row) {\n+func (c *Cart) Add(r *Row) {\n \tif r.Count > limit {",
			"cart/cart_test.go TestAdd"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := e.Search(t.Context(), retrieve.Request{Query: c.query})
			require.NoError(t, err)
			require.NotEmpty(t, r.Hits)
			require.Equal(t, c.first, symbols(r)[0], "%v", symbols(r))
		})
	}
}

func TestAHunksOwnPiecesAreNoHits(t *testing.T) {
	r, err := engine(t, shop()).Search(t.Context(), retrieve.Request{Query: "--- a/cart/row.go\n+++ b/cart/row.go\n" +
		"@@ -4 +4 @@\n-const limit = 9\n+const limit = 10"})
	require.NoError(t, err)
	require.NotContains(t, symbols(r), "cart/row.go limit")
	require.Equal(t, "cart/cart.go Cart.Add", symbols(r)[0])
}

func TestASearchStaysWithinItsPathsAndNumber(t *testing.T) {
	r, err := engine(t, shop()).Search(t.Context(), retrieve.Request{Query: "Add", K: 2,
		Paths: []string{"web/**"}})
	require.NoError(t, err)
	require.Equal(t, []string{"web/handler.go Buy", "web/reply.go reply"}, symbols(r), "what it calls is near")
	r, err = engine(t, shop()).Search(t.Context(), retrieve.Request{Query: "rows of a cart", K: 2})
	require.NoError(t, err)
	require.Len(t, r.Hits, 2)
}

func TestStagesTellWhatEachOneGaveAndHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, shop())
		e.Reranker = &remote{takes: time.Millisecond} // of the bubble's clock
		r, err := e.Search(t.Context(), retrieve.Request{Query: "where is a row added"})
		require.NoError(t, err)
		var names []string
		took := map[string]time.Duration{}
		for _, s := range r.Stages {
			names = append(names, s.Name)
			took[s.Name] = s.Took
		}
		require.Equal(t, []string{"lexical", "symbol", "structure", "fuse", "rerank"}, names)
		require.Equal(t, map[string]time.Duration{"lexical": 0, "symbol": 0, "structure": 0, "fuse": 0,
			"rerank": time.Millisecond}, took)
		require.Equal(t, r.Hits[0].ID(), r.Stages[4].Chunks[0].ID())
		require.True(t, slices.ContainsFunc(r.Hits, func(h retrieve.Hit) bool { return h.Ranks["lexical"] == 1 }))
		require.Zero(t, r.Hits[0].Ranks["vector"])
	})
}

// remote answers as a server would, or does not.
type remote struct {
	scores  []float64
	vectors [][]float32
	err     error
	asked   int
	takes   time.Duration
}

func (r *remote) Rerank(_ context.Context, _ string, documents []string) ([]float64, error) {
	time.Sleep(r.takes)
	if r.asked++; r.scores == nil && r.err == nil {
		for i := range documents { // the last one is the best
			r.scores = append(r.scores, float64(i))
		}
	}
	return r.scores, r.err
}

func (r *remote) Embed(context.Context, []string, bool) ([][]float32, error) { return r.vectors, r.err }
func (r *remote) Identity() string                                           { return "m" }

func TestARerankersOrderStands(t *testing.T) {
	e := engine(t, shop())
	plain, err := e.Search(t.Context(), retrieve.Request{Query: "rows of a cart", K: 40})
	require.NoError(t, err)
	e.Reranker = &remote{}
	r, err := e.Search(t.Context(), retrieve.Request{Query: "rows of a cart", K: 40})
	require.NoError(t, err)
	require.Equal(t, plain.Hits[len(plain.Hits)-1].ID(), r.Hits[0].ID())
	require.InDelta(t, float64(len(plain.Hits)-1), *r.Hits[0].Rerank, 0)
	require.Equal(t, "rerank", r.Stages[len(r.Stages)-1].Name)
}

func TestWhatDoesNotAnswerIsANoteAndTheRestAnswers(t *testing.T) {
	want, err := engine(t, shop()).Search(t.Context(), retrieve.Request{Query: "rows of a cart"})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		remote *remote
		notes  []string
	}{
		"down": {&remote{err: errors.New("502")}, []string{"embeddings endpoint did not answer: 502",
			"reranking endpoint did not answer: 502"}},
		"lying about how many": {&remote{scores: []float64{1}, vectors: [][]float32{{1}, {2}}},
			[]string{"embeddings endpoint did not answer", "reranking endpoint did not answer"}},
		"lying about dimensions": {&remote{vectors: [][]float32{{1, 0}}, scores: []float64{}},
			[]string{"reranking endpoint did not answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := indexed(t, shop())
			vectors := map[string][]float32{}
			for _, c := range x.Chunks() {
				vectors[c.Key()] = []float32{1}
			}
			e := &retrieve.Engine{Index: x.WithVectors("m", 1, vectors).Source}
			e.Embedder, e.Reranker = c.remote, c.remote
			r, err := e.Search(t.Context(), retrieve.Request{Query: "rows of a cart"})
			require.NoError(t, err)
			require.Equal(t, symbols(want), symbols(r))
			require.Len(t, r.Notes, len(c.notes))
			for i, note := range c.notes {
				require.Contains(t, r.Notes[i], note)
			}
		})
	}
}

// T35: no question makes a search fail or last.
func TestT35_HostileQuestionsAreAnswered(t *testing.T) {
	e := engine(t, shop())
	began := time.Now()
	for _, query := range []string{"", " ", "@@ -1 +1 @@", "@@ -1,9 +1 @@\n-a", "references: ((((", "references: $",
		"(a+)+$",
		strings.Repeat("Add ", 50_000), strings.Repeat("x", 1<<20), "\xff\xfe",
		"@@ -1 +1 @@\n-" + strings.Repeat("f(", 1<<18) +
			"\n+b", "--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b"} {
		_, err := e.Search(t.Context(), retrieve.Request{Query: query})
		require.NoError(t, err, "%.40q", query)
	}
	require.Less(t, time.Since(began), 20*time.Second)
}

func TestTheBestLinesHoldTheQuestionsWords(t *testing.T) {
	e := engine(t, shop())
	r, err := e.Search(t.Context(), retrieve.Request{Query: "append rows", K: 1})
	require.NoError(t, err)
	require.Equal(t, []retrieve.Line{{Number: 11, Text: "\tc.rows = append(c.rows, r)"}},
		retrieve.Best(r.Hits[0].Chunk, "append rows", 1))
}

func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"Add", "references: Add", "@@ -1 +1 @@\n-a\n+b", "+++ b/x\n@@ -0,0 +1 @@\n+a"} {
		f.Add(seed)
	}
	e := engine(f, shop())
	f.Fuzz(func(t *testing.T, query string) {
		r, err := e.Search(t.Context(), retrieve.Request{Query: query})
		require.NoError(t, err)
		require.LessOrEqual(t, len(r.Hits), retrieve.DefaultK)
	})
}

// What a search came to is on its span: its question unless that may not leave (T28), the
// lists, and the order.
func TestASearchIsASpan(t *testing.T) {
	var out bytes.Buffer
	ctx, end, err := trace.Start(t.Context(), trace.Options{Local: &out})
	require.NoError(t, err)
	ctx = retrieve.InConversation(ctx)
	e := engine(t, shop())
	for range 2 {
		_, err = e.Search(ctx, retrieve.Request{Query: "rows of a cart"})
		require.NoError(t, err)
	}
	_, err = e.Search(ctx, retrieve.Request{Query: "what a customer's ticket says", Untold: true})
	require.NoError(t, err)
	require.NoError(t, end())
	spans := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, spans, 3)
	require.NotContains(t, out.String(), "customer")
	for i, cached := range []string{"false", "true"} {
		require.Contains(t, spans[i], "rows of a cart")
		require.Regexp(t, `"retrieval.lexical".*cart/cart.go:3-4`, spans[i])
		require.Contains(t, spans[i], `"retrieval.rerank"`)
		require.Regexp(t, `"retrieval.cached"[^}]*`+cached, spans[i])
	}
}
