package retrieve

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

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
