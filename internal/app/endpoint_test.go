package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/embedtest"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/llmtest"
)

// embedded is a command line over a change whose callers are in another file, with
// an embeddings and a rerank endpoint in its settings.
func embedded(t *testing.T, name string, options ...func(*embedtest.Server)) (shell, *embedtest.Server) {
	price, ok := cost.PriceOf(pricedModel)
	require.True(t, ok)
	model := llmtest.Start(t, llmtest.Honest, func(s *llmtest.Server) { s.Price = &price })
	search := embedtest.Start(t, append(options, func(s *embedtest.Server) { s.Key = "sk-key-of-the-search" })...)
	base := map[string]string{
		"pay/charge.go": "package pay\n\n// Charge takes money.\nfunc Charge(cents int) int {\n\treturn cents\n}\n",
		"shop/cart.go": "package shop\n\nimport \"x/pay\"\n\n// Checkout charges the cart.\nfunc Checkout() int {\n" +
			"\treturn pay.Charge(100)\n}\n",
		".github/pr-review.yml": fmt.Sprintf("embeddings: {base-url: '%[1]s/v1', model: %[2]s, dimensions: 64, "+
			"key-env: SEARCH_KEY}\nrerank: {base-url: '%[1]s', model: ranks-1, key-env: SEARCH_KEY}\n"+
			"prices: {words-1: {input: 0.1, output: 0.1}, ranks-1: {per-1000: 2}}\n", search.URL, name),
	}
	head := map[string]string{"pay/charge.go": strings.Replace(base["pay/charge.go"], "return cents",
		"return cents / 100 // DEFECT: callers expect cents", 1)}
	return shell{t: t, dir: clone(t, base, head), model: model.URL,
		environ: []string{"SEARCH_KEY=sk-key-of-the-search", "XDG_CACHE_HOME=" + t.TempDir()}}, search
}

func TestAReviewSearchesByMeaningWithinItsMoney(t *testing.T) {
	t.Parallel()
	s, search := embedded(t, "words-1")
	r := s.review("--model", pricedModel, "--store", t.TempDir())
	require.Zero(t, r.Code, r.Stderr)
	require.Equal(t, "PAUSED", r.Outcome)
	require.Empty(t, r.Message)
	require.Equal(t, search.Tokens(), r.Usage.EmbeddingTokens+rerankTokens(search))
	require.Positive(t, r.Usage.EmbeddingTokens)
	paid := len(search.Texts())
	again := s.review("--model", pricedModel, "--store", t.TempDir())
	require.Equal(t, "PAUSED", again.Outcome)
	for _, text := range search.Texts()[paid:] {
		require.NotContains(t, text, "Checkout charges the cart", "what the base has is embedded once")
	}
}

// rerankTokens is what the server counted of reranks, which are billed by the search.
func rerankTokens(s *embedtest.Server) (n int64) {
	for _, c := range s.Calls() {
		if c.Query != "" {
			for _, text := range append(c.Texts, c.Query) {
				n += int64(len(text)/4 + 1)
			}
		}
	}
	return n
}

func TestALostEndpointIsToldInDraftMessageAndOnStandardError(t *testing.T) {
	t.Parallel()
	for fault, why := range map[*embedtest.Fault]string{embedtest.Unauthorized: "it answered 401",
		embedtest.WrongLength: "it gave 63 dimensions where 64 were expected"} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			s, _ := embedded(t, "words-1", func(s *embedtest.Server) { s.Fault = fault })
			store := t.TempDir()
			r := s.review("--model", pricedModel, "--store", store)
			require.Zero(t, r.Code, r.Stderr)
			require.Equal(t, "PAUSED", r.Outcome)
			require.Len(t, r.Findings, 1, "the review went on")
			note := "The embeddings endpoint is off for this run, so search used only words and structure: " + why
			require.Contains(t, r.Message, note)
			require.Contains(t, r.Stderr, "warning: "+note)
			require.Equal(t, 1, strings.Count(r.Stderr, note))
			show := exited(t, s.command("show", r.Thread, "--store", store))
			require.Zero(t, show.Code, show.Stderr)
			require.Contains(t, strings.Join(strings.Fields(show.Stdout), " "), note)
			for _, text := range []string{r.Stdout, r.Stderr, show.Stdout, show.Stderr} {
				require.NotContains(t, text, "sk-key-of-the-search")
			}
		})
	}
}

func TestASearchSaysOnceThatNothingIsFoundByMeaning(t *testing.T) {
	s, _ := embedded(t, "words-1", func(s *embedtest.Server) { s.Fault = embedtest.WrongLength })
	out := exited(t, s.command("search", "who charges", "--path", "shop/**"))
	require.Zero(t, out.Code, out.Stderr)
	require.Contains(t, out.Stdout, "shop/cart.go")
	require.Equal(t, 1, strings.Count(out.Stderr, "warning: "), out.Stderr)
}

func TestP9_ACapNeedsThePriceOfAnEndpointsModel(t *testing.T) {
	t.Parallel()
	s, search := embedded(t, "words-9")
	r := s.review("--model", pricedModel, "--store", t.TempDir(), "--max-cost", "1")
	require.Equal(t, 2, r.Code)
	require.Contains(t, r.Stderr, `the price of the model "words-9" is not known`)
	require.Empty(t, search.Calls())
}

// An index that one job carried without its vectors is completed by the next, and paid for by none after that.
func TestP4_ACarriedIndexIsCompletedOnce(t *testing.T) {
	search := embedtest.Start(t, func(s *embedtest.Server) { s.Fault = embedtest.WrongLength })
	base, head := growing()
	kept := githubtest.Tree{"stay.go": "package p\n\n// Stay is never changed.\nfunc Stay() int {\n\treturn 1\n}\n",
		".github/pr-review.yml": fmt.Sprintf("embeddings: {base-url: '%s/v1', model: words-1, dimensions: 64}\n",
			search.URL)}
	s := across(t, scene{base: base.With(kept), head: head.With(kept), trust: checkpoint.TrustSeal})
	for i, asked := range []bool{true, true, false} {
		before := len(search.Texts())
		s.pushed(s.pull.Tree().With(githubtest.Tree{"new.go": goFile(i, badScan)}))
		s.run.WriteCache()
		s.parked()
		texts := strings.Join(search.Texts()[before:], "\n")
		require.Equal(t, asked, strings.Contains(texts, "Stay is never changed"), "run %d: %s", i, texts)
		search.Fault = nil // it was there in the first run
	}
}
