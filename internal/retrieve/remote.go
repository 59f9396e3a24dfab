package retrieve

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

// Embedder turns texts into vectors of one model. Its implementations bound,
// redact, price and journal what they send.
type Embedder interface {
	// Embed returns one vector of length 1 for each text, all of the same dimension. query
	// tells it that the texts are queries, not documents: some models embed them differently.
	Embed(ctx context.Context, texts []string, query bool) ([][]float32, error)
	// Identity names the model and its dimensions. Only vectors of the same identity are compared.
	Identity() string
}

// Reranker judges how well documents answer a query.
type Reranker interface {
	// Rerank returns a score for each document, in their order; higher is better.
	// Scores of different calls are not comparable.
	Rerank(ctx context.Context, query string, documents []string) ([]float64, error)
}

// maxDocument bounds the bytes of a chunk that are sent to a reranker.
const maxDocument = 8 << 10

// rerank sorts the fused hits by the scores of the remote reranker. Without a reranker, or
// if it does not answer, the order stays.
func (s *search) rerank(ctx context.Context, hits []Hit) {
	if s.Reranker == nil || len(hits) == 0 {
		return
	}
	_, _ = s.stage("rerank", func() ([]chunk.Chunk, error) { // a failure becomes a note
		documents := make([]string, len(hits))
		for i, h := range hits {
			text := h.Prefix() + h.Text
			documents[i] = text[:min(len(text), maxDocument)]
		}
		scores, err := s.Reranker.Rerank(ctx, s.question.text, documents)
		if err != nil || len(scores) != len(hits) {
			s.note("hits are ranked without a model: the reranking endpoint did not answer", err)
			return nil, nil
		}
		for i := range hits {
			hits[i].Rerank = &scores[i]
		}
		order.Stable(hits, func(a, b Hit) int { return cmp.Compare(*b.Rerank, *a.Rerank) })
		return hitChunks(hits), nil
	})
}
