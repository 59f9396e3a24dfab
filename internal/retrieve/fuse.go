package retrieve

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

// list is ranked chunks, and how much their ranks count in fuse.
type list struct {
	name   string // its key in Hit.Ranks; empty: not shown there
	weight float64
	chunks []chunk.Chunk
}

// smoothing is the constant of reciprocal rank fusion. At 20 the first places of a list
// count more than at the usual 60. Measured on questions in words, within 400 lines: 0.756
// against 0.698 on the golden set, 0.618 against 0.513 on the unseen one.
const smoothing = 20

// fuse scores each chunk by the sum, over the lists that hold it, of the list's weight
// divided by smoothing plus rank (reciprocal rank fusion). Hidden chunks are left out. It
// returns at most that many hits, best first, ties in order of path and line.
func fuse(lists []list, most int, hidden map[string]bool) []Hit {
	at, all := map[string]int{}, []Hit{}
	for _, l := range lists {
		visible := removeMatching(l.chunks, func(c chunk.Chunk) bool { return hidden[c.ID()] })
		for place, c := range order.Unique(visible, chunk.Chunk.ID) {
			id, rank := c.ID(), place+1
			i, ok := at[id]
			if !ok {
				i = len(all)
				at[id] = i
				all = append(all, Hit{Chunk: c, Ranks: map[string]int{}})
			}
			all[i].Score += l.weight / float64(smoothing+rank)
			if l.name != "" {
				all[i].Ranks[l.name] = min(rank, cmp.Or(all[i].Ranks[l.name], rank))
			}
		}
	}
	order.Stable(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), compareByPlace(a.Chunk, b.Chunk))
	})
	return all[:min(len(all), most)]
}

func compareByPlace(a, b chunk.Chunk) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine))
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
	if s.Reranker == nil || len(hits) == 0 || s.err != nil {
		return
	}
	documents := make([]string, len(hits))
	for i, h := range hits {
		text := h.Prefix() + h.Text
		documents[i] = text[:min(len(text), maxDocument)]
	}
	scores, err := s.Reranker.Rerank(ctx, s.question.text, documents)
	if err != nil || len(scores) != len(hits) {
		s.note("hits are ranked without a model: the reranking endpoint did not answer", err)
		s.stage("rerank", nil)
		return
	}
	for i := range hits {
		hits[i].Rerank = &scores[i]
	}
	order.Stable(hits, func(a, b Hit) int { return cmp.Compare(*b.Rerank, *a.Rerank) })
	s.stage("rerank", hitChunks(hits))
}
