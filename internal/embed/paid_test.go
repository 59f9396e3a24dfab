package embed_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/embed"
	"github.com/org/pr-review-action/internal/embedtest"
)

func TestAKeptAnswerIsTakenInPlaceOfACall(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	o := options(s)
	kept := map[string]embed.Answer{}
	var asked atomic.Int64
	o.Ask = func(ctx context.Context, key string, _ cost.Usage,
		do func(context.Context) (embed.Answer, error)) (embed.Answer, error) {
		if a, ok := kept[key]; ok && key != "" {
			return a, nil
		}
		asked.Add(1)
		a, err := do(ctx)
		kept[key] = a
		return a, errors.Join(err)
	}
	first, err := embedder(t, o).Embed(t.Context(), texts(2), true)
	require.NoError(t, err)
	again, err := embedder(t, o).Embed(t.Context(), texts(2), true)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.EqualValues(t, 1, asked.Load())
	o.Model = "words-2"
	_, err = embedder(t, o).Embed(t.Context(), texts(2), true)
	require.NoError(t, err)
	require.EqualValues(t, 2, asked.Load(), "another model is asked anew")
	for key, a := range kept {
		a.Vectors = a.Vectors[:len(a.Vectors)-3]
		kept[key] = a
	}
	_, err = embedder(t, o).Embed(t.Context(), texts(2), true)
	require.ErrorContains(t, err, "has not the size")
}

func TestUsageIsWhatTheServerSaysAndNeverMoreThanWasSetAside(t *testing.T) {
	t.Parallel()
	s := embedtest.Start(t)
	var used, most cost.Usage
	o := options(s)
	o.Ask = func(ctx context.Context, _ string, bound cost.Usage,
		do func(context.Context) (embed.Answer, error)) (embed.Answer, error) {
		a, err := do(ctx)
		used, most = a.Usage, bound
		return a, err
	}
	_, err := embedder(t, o).Embed(t.Context(), texts(3), false)
	require.NoError(t, err)
	require.Equal(t, cost.Usage{Calls: 1, EmbeddingTokens: s.Tokens()}, used)
	require.Less(t, used.EmbeddingTokens, most.EmbeddingTokens)
	o.BaseURL = s.URL
	_, err = reranker(t, o).Rerank(t.Context(), "q", texts(3))
	require.NoError(t, err)
	require.Equal(t, cost.Usage{Calls: 1, RerankUnits: 1}, used)
	for meta, want := range map[string]int64{`{"billed_units":{"input_tokens":9}}`: 9,
		`{"tokens":{"input_tokens":9}}`: 9, `{}`: -1} { // Cohere's later models bill by tokens
		s.Fault = answering(text(`{"results":[{"index":0,"relevance_score":0.5}],"meta":` + meta + `}`))
		_, err = reranker(t, o).Rerank(t.Context(), "q", texts(1))
		require.NoError(t, err)
		if want < 0 {
			want = most.EmbeddingTokens
		}
		require.Equal(t, want, used.EmbeddingTokens, meta)
	}
	s.Fault = nil
	o.Style = embed.Voyage
	before := s.Tokens()
	_, err = reranker(t, o).Rerank(t.Context(), "q", texts(3))
	require.NoError(t, err)
	require.Equal(t, cost.Usage{Calls: 1, RerankUnits: 1, EmbeddingTokens: s.Tokens() - before}, used)
}
