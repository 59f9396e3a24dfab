package embed

import (
	"context"

	"github.com/org/pr-review-action/internal/cost"
)

const (
	documentTokens = 4_096 // that a reranker reads from a document
	// Cohere bills one unit for a query with up to 100 documents; each 500 tokens count as one
	unitDocuments  = 100
	unitTokens     = 500
	bytesPerResult = 1_024
)

// Reranker judges how well documents answer a query. It may be used from many goroutines.
type Reranker struct{ server *server }

// NewReranker checks the options and returns a Reranker; it sends nothing.
func NewReranker(o Options) (*Reranker, error) {
	s, err := newServer(o, "rerank", Cohere, "https://api.cohere.com/v2")
	if err != nil {
		return nil, err
	}
	return &Reranker{s}, nil
}

// Rerank returns a score for each document, in their order; higher is better. Scores of
// different calls are not comparable. Its errors are those of Embed.
func (r *Reranker) Rerank(ctx context.Context, query string, documents []string) ([]float64, error) {
	if len(documents) == 0 {
		return nil, ctx.Err()
	}
	if err := r.server.disabledError(); err != nil {
		return nil, err
	}
	query = r.server.outgoing([]string{query}, documentTokens)[0]
	documents = r.server.outgoing(documents, documentTokens*bytesPerToken)
	q := map[string]any{"query": query, "documents": documents}
	if r.server.Style == Voyage {
		q["top_k"], q["truncation"] = len(documents), true
	} else {
		q["top_n"], q["max_tokens_per_doc"] = len(documents), documentTokens
	}
	name := r.server.answerKey("rerank", append([]string{query}, documents...)...)
	a, err := r.server.answer(ctx, request{q, name, len(documents), bytesPerResult, r.maxUsage(query, documents)},
		func(a *Answer, said row) error {
			if said.Score == nil {
				return newWrongError("a score is not a number")
			}
			a.Scores = append(a.Scores, *said.Score)
			return nil
		})
	if err == nil && len(a.Scores) != len(documents) {
		err = newWrongError("a kept answer has not the size that it should have")
	}
	if err != nil {
		return nil, r.server.recordFailure(ctx, err)
	}
	return a.Scores, nil
}

// maxUsage returns an upper bound of what a call is billed, by whoever bills searches and whoever bills tokens, and
// counts the query with each document.
func (r *Reranker) maxUsage(query string, documents []string) cost.Usage {
	var tokens, pieces int64
	for _, d := range documents {
		n := int64(len(query) + len(d) + inputFrame)
		tokens += n
		pieces += n/unitTokens + 1
	}
	return cost.Usage{EmbeddingTokens: tokens, RerankUnits: pieces/unitDocuments + 1}
}
