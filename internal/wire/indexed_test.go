package wire_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/embedtest"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/indextest"
	"github.com/org/pr-review-action/internal/pgtest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/wire"
)

// setting is a run over a small repository with an embeddings endpoint.
type setting struct {
	wire     wire.Wire
	settings settings.Settings
	config   config.Config
	place    wire.Place
	lost     []string
}

func newSetting(t *testing.T, s *embedtest.Server) *setting {
	t.Helper()
	env := map[string]string{"VECTOR_KEY": "sk-of-the-vectors-endpoint", "DB_PASSWORD": ""}
	at := &setting{wire: wire.New(func(name string) string { return env[name] }, time.Now, nil)}
	at.config.Embeddings = config.Embeddings{Dimensions: 32, Endpoint: config.Endpoint{BaseURL: s.URL + "/v1",
		Model: "words-1", KeyEnv: "VECTOR_KEY"}}
	at.config.Rerank = config.Endpoint{BaseURL: s.URL, Model: "ranks-1", KeyEnv: "VECTOR_KEY"}
	at.place = wire.Place{Tree: tree.Files(indextest.Files), Commit: strings.Repeat("a", 40), Name: "acme/shop",
		Cache: index.Cache{Folder: t.TempDir()}}
	return at
}

func (at *setting) endpoints(t *testing.T, o wire.Asking) wire.Endpoints {
	t.Helper()
	o.OnLost = func(note string) { at.lost = append(at.lost, note) }
	e, err := at.wire.Endpoints(at.config, at.settings, o)
	require.NoError(t, err)
	return e
}

func (at *setting) indexed(t *testing.T, o wire.Asking) (wire.Indexed, wire.Endpoints) {
	t.Helper()
	e := at.endpoints(t, o)
	x, err := at.wire.Indexed(t.Context(), at.place, index.Options{}, at.config, e,
		func(note string) { at.lost = append(at.lost, note) })
	require.NoError(t, err)
	return x, e
}

func search(t *testing.T, x wire.Indexed, e wire.Endpoints) retrieve.Result {
	t.Helper()
	return ask(t, x, e, "where is the stock checked")
}

func ask(t *testing.T, x wire.Indexed, e wire.Endpoints, query string) retrieve.Result {
	t.Helper()
	engine := &retrieve.Engine{Index: x.Source, Instead: x.Instead, Embedder: e.Embedder, Reranker: e.Reranker}
	r, err := engine.Search(t.Context(), retrieve.Request{Query: query})
	require.NoError(t, err)
	require.NotEmpty(t, r.Hits)
	return r
}

func TestAChunkIsEmbeddedOnceForItsContentAndModel(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	at := newSetting(t, s)
	x, e := at.indexed(t, wire.Asking{})
	require.Empty(t, x.Notes)
	all := len(x.Index.Chunks())
	require.Len(t, s.Texts(), all)
	require.Equal(t, "sk-of-the-vectors-endpoint", s.Calls()[0].Key)
	r := search(t, x, e)
	require.Empty(t, r.Notes)
	require.NotNil(t, r.Hits[0].Rerank)

	at.indexed(t, wire.Asking{})
	require.Len(t, s.Texts(), all+1, "the query alone was paid since")

	files := map[string]string{}
	for path, text := range indextest.Files {
		files[path] = text
	}
	files["cart/cart.go"] = strings.Replace(files["cart/cart.go"], "return 0", "return 1", 1)
	at.place.Tree, at.place.Commit = tree.Files(files), strings.Repeat("b", 40)
	at.indexed(t, wire.Asking{})
	require.Len(t, s.Texts(), all+2, "of another commit what changed is embedded")

	at.config.Embeddings.Model = "words-2"
	at.indexed(t, wire.Asking{})
	require.Len(t, s.Texts(), 2*all+2, "another model embeds all anew")
}

func TestALostEndpointLeavesWordsAndStructureAndSaysSo(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t, func(s *embedtest.Server) { s.Fault = embedtest.WrongLength })
	at := newSetting(t, s)
	at.config.Rerank.Model = ""
	x, e := at.indexed(t, wire.Asking{})
	const note = "The embeddings endpoint is off for this run, so search used only words and structure: it gave " +
		"31 dimensions where 32 were expected."
	require.Equal(t, []string{note}, x.Notes)
	require.Equal(t, []string{note}, at.lost)
	require.NotEmpty(t, search(t, x, e).Notes)
}

// What came before an endpoint was lost is kept with the index, so the next run pays for the rest alone.
func TestP4_VectorsThatCameBeforeAFailureAreKept(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	at := newSetting(t, s)
	at.config.Rerank.Model = ""
	files := map[string]string{"long.go": "package long\n\nfunc Long() {\n" + strings.Repeat("\tlong()\n", 100) + "}\n"}
	maps.Copy(files, indextest.Files)
	at.place.Tree = tree.Files(files)
	s.MaxInputBytes = 200
	x, _ := at.indexed(t, wire.Asking{})
	require.Len(t, at.lost, 1)
	first := s.Texts()
	require.NotEmpty(t, first)
	s.MaxInputBytes = 0
	again, _ := at.indexed(t, wire.Asking{})
	require.Empty(t, again.Notes)
	require.Len(t, s.Texts(), len(x.Index.Chunks()), "each is paid for once")
}

func TestP9_EndpointsArePaidFromTheRunsMoneyAndOnce(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	at := newSetting(t, s)
	at.config.Prices = map[string]cost.Price{"words-1": {Input: 1_000_000}, "ranks-1": {PerThousand: 2_000_000}}
	ledger := budget.New(1_000_000)
	kept := map[string]review.Recorded{}
	var mu sync.Mutex
	once := func(ctx context.Context, key string,
		do func(context.Context) (review.Recorded, error)) (review.Recorded, error) {
		mu.Lock()
		r, ok := kept[key]
		mu.Unlock()
		if ok {
			return r, nil
		}
		r, err := do(ctx)
		mu.Lock()
		defer mu.Unlock()
		kept[key] = r
		return r, err
	}
	x, e := at.indexed(t, wire.Asking{Ledger: ledger, Once: once})
	spent := ledger.Spent()
	require.EqualValues(t, s.Tokens(), spent, "a micro-dollar a token")
	for range 2 { // the second time, as a run that continues
		ctx, meter := budget.WithMeter(t.Context())
		r, err := (&retrieve.Engine{Index: x.Source, Embedder: e.Embedder, Reranker: e.Reranker}).Search(ctx,
			retrieve.Request{Query: "where is the stock checked"})
		require.NoError(t, err)
		require.Empty(t, r.Notes)
		require.EqualValues(t, 1, meter.Used().RerankUnits)
		require.Positive(t, meter.Used().EmbeddingTokens)
		require.EqualValues(t, meter.Used().EmbeddingTokens+2_000, meter.Used().Cost)
		require.Equal(t, spent+meter.Used().Cost, ledger.Spent())
	}
	poor, _ := at.wire.Endpoints(at.config, at.settings, wire.Asking{Ledger: budget.New(1)})
	_, err := poor.Embedder.Embed(t.Context(), []string{"a text"}, true)
	require.ErrorIs(t, err, cost.ErrSpent)
}

// A run that continues finds what was paid for the head's code in its journal, of which
// no index is kept.
func TestP9_TheHeadsVectorsArePaidOnce(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	at := newSetting(t, s)
	at.config.Rerank.Model = ""
	kept := map[string]review.Recorded{}
	var mu sync.Mutex
	once := func(ctx context.Context, key string,
		do func(context.Context) (review.Recorded, error)) (review.Recorded, error) {
		mu.Lock()
		defer mu.Unlock()
		if r, ok := kept[key]; ok {
			return r, nil
		}
		r, err := do(ctx)
		if err == nil {
			kept[key] = r
		}
		return r, err
	}
	const patch = "@@ -3,1 +3,1 @@\n-func AddItem(id string) {\n+func AddItem(sku string) {\n"
	head := tree.Files(indextest.Files)
	paid := 0
	pack := func(e wire.Endpoints) {
		around := wire.NewRepoContext(wire.RepoOptions{Head: head, Base: head, Tokens: 2_000,
			Files: []diff.File{{Path: "cart/cart.go", Patch: patch}}, Endpoints: e})
		require.NotEmpty(t, around.Pack(t.Context(), "cart/cart.go", patch))
	}
	pack(wire.Endpoints{}) // unpacks the grammars, so that no file is left out for want of time
	for run := range 2 {
		pack(at.endpoints(t, wire.Asking{Once: once}))
		if run == 0 {
			paid = len(s.Texts())
			require.Less(t, 7, paid, "the code and the question")
		}
	}
	require.Len(t, s.Texts(), paid)
}

// A pack has what the change defines in another file, though the file is not linked with it.
func TestAPackKnowsTheOtherFilesOfItsChange(t *testing.T) {
	t.Parallel()
	const patch = "@@ -3,1 +3,1 @@\n-def run(x): pass\n+def run(x): return which(x)\n"
	head := tree.Files(map[string]string{"a/a.py": "from a.b import c\n\ndef run(x): return which(x)\n",
		"a/b.py": "def c(): pass\n", "d/d.py": "def which(x): return 1\n", "e/e.py": "def which(x): return 2\n"})
	around := wire.NewRepoContext(wire.RepoOptions{Head: head, Base: head, Tokens: 2_000,
		Files: []diff.File{{Path: "a/a.py", Patch: patch}, {Path: "d/d.py"}}})
	var defines []string
	for _, p := range around.Pack(t.Context(), "a/a.py", patch) {
		if p.Why == string(retrieve.Defines) {
			defines = append(defines, p.Path)
		}
		require.Equal(t, p.Path == "d/d.py", p.Changed, "a reviewer is told which files change too: %s", p.Path)
	}
	require.Equal(t, []string{"d/d.py"}, defines)
}

func TestAKeyThatIsNamedAndNotThereIsExit2(t *testing.T) {
	t.Parallel()
	at := newSetting(t, embedtest.Start(t))
	at.config.Rerank.KeyEnv = "NO_SUCH_KEY"
	_, err := at.wire.Endpoints(at.config, at.settings, wire.Asking{})
	require.ErrorContains(t, err, "rerank.key-env names NO_SUCH_KEY, and that variable is empty")
	require.Equal(t, problem.Misuse, problem.KindOf(err))
	at.config.Embeddings.KeyEnv = "NOR_THIS"
	for range 20 {
		_, err := at.wire.Endpoints(at.config, at.settings, wire.Asking{})
		require.ErrorContains(t, err, "embeddings.key-env", "of two missing ones always the same is named")
	}
}

func TestPostgresKeepsAnIndex(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	t.Run("without pgvector it serves words and says so", func(t *testing.T) {
		at := newSetting(t, embedtest.Start(t))
		at.config.Rerank.Model = ""
		at.config.Index.Store = server.Database(t)
		x, e := at.indexed(t, wire.Asking{})
		require.Equal(t, []string{"The database has no pgvector (0.7 or later), so search used only words and structure."},
			x.Notes)
		search(t, x, e)
	})
	t.Run("a lost one is replaced", func(t *testing.T) { aLostIndexIsReplaced(t, server) })
}

func aLostIndexIsReplaced(t *testing.T, server *pgtest.Server) {
	at := newSetting(t, embedtest.Start(t))
	at.config.Embeddings.Model, at.config.Rerank.Model = "", ""
	at.config.Index.Store = server.Database(t)
	x, _ := at.indexed(t, wire.Asking{})
	require.NotNil(t, x.Index, "made, and written")
	made := x.Report
	require.Positive(t, made.Bytes)
	require.NotEmpty(t, made.Skipped)
	x, e := at.indexed(t, wire.Asking{})
	require.Nil(t, x.Index, "found")
	require.Positive(t, x.Report.Seconds)
	made.Reused, made.Seconds = made.Files, x.Report.Seconds
	require.Equal(t, made, x.Report, "what was said when it was made")
	want := search(t, x, e)
	require.NoError(t, server.Stop("immediate"))
	require.Equal(t, want.Hits, search(t, x, e).Hits)
	got := ask(t, x, e, "how are prices formatted") // nothing of this is held yet
	const note = "The database of index.store does not answer, so this run searched an index in memory."
	require.Equal(t, []string{note}, at.lost)
	x, e = at.indexed(t, wire.Asking{})
	require.Equal(t, []string{note}, x.Notes)
	require.Equal(t, want.Hits, search(t, x, e).Hits)
	require.Equal(t, ask(t, x, e, "how are prices formatted").Hits, got.Hits)
}
