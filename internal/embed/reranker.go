package embed

import (
	"cmp"
	"context"
	"math"

	"github.com/org/pr-review-action/internal/cost"
)

const (
	documentTokens = 4_096 // that a reranker reads of a document
	// Cohere bills a search for a query with up to 100 documents, each 500 tokens a further one
	unitDocuments  = 100
	unitTokens     = 500
	bytesPerResult = 1_024
)

// Reranker judges how well documents answer a query. It may be used from many goroutines.
type Reranker struct{ server *server }

// NewReranker checks the options and returns a Reranker; it sends nothing.
func NewReranker(o Options) (*Reranker, error) {
	s, err := newServer(o, "rerank", "/rerank", vendor{Cohere, "https://api.cohere.com/v2"},
		vendor{Voyage, "https://api.voyageai.com/v1"})
	if err != nil {
		return nil, err
	}
	return &Reranker{s}, nil
}

// Rerank returns a score for each document, in their order; higher is better. Scores of
// two calls are not comparable. Errors are Embed's.
func (r *Reranker) Rerank(ctx context.Context, query string, documents []string) ([]float64, error) {
	if len(documents) == 0 {
		return nil, ctx.Err()
	}
	if err := r.server.off(); err != nil {
		return nil, err
	}
	query = r.server.outgoing([]string{query}, documentTokens)[0]
	documents = r.server.outgoing(documents, documentTokens*bytesPerToken)
	name := r.server.name("rerank", r.server.identity(), append([]string{query}, documents...)...)
	most := r.most(query, documents)
	a, err := r.server.Ask(ctx, name, most, func(ctx context.Context) (Answer, error) {
		return r.send(ctx, query, documents, most)
	})
	if err == nil && len(a.Scores) != len(documents) {
		err = wrong("a kept answer has not the size that it should have")
	}
	if err != nil {
		return nil, r.server.failed(ctx, err)
	}
	return a.Scores, nil
}

// most is what a call may be billed at most: Voyage counts the query with each document.
func (r *Reranker) most(query string, documents []string) cost.Usage {
	var tokens, pieces int64
	for _, d := range documents {
		n := int64(len(query) + len(d) + inputFrame)
		tokens += n
		pieces += n/unitTokens + 1
	}
	if r.server.Style == Voyage {
		return cost.Usage{EmbeddingTokens: tokens, RerankUnits: 1}
	}
	return cost.Usage{RerankUnits: pieces/unitDocuments + 1}
}

// judged is a document's score.
type judged struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
}

// send makes one request in either style.
func (r *Reranker) send(ctx context.Context, query string, documents []string, most cost.Usage) (Answer, error) {
	q := map[string]any{"query": query, "documents": documents}
	if r.server.Style == Voyage {
		q["top_k"], q["truncation"] = len(documents), true
	} else {
		q["top_n"], q["max_tokens_per_doc"] = len(documents), documentTokens
	}
	var said reply[judged]
	if err := r.server.post(ctx, q, &said, int64(answerFrame+bytesPerResult*len(documents))); err != nil {
		return Answer{}, err
	}
	a := Answer{Usage: cost.Usage{Calls: 1, RerankUnits: max(1, count(said.Meta.Billed.Units, most.RerankUnits))}}
	rows := said.Results
	if r.server.Style == Voyage {
		rows = said.Data
		a.Usage.EmbeddingTokens = cmp.Or(count(said.Usage.Total, most.EmbeddingTokens), most.EmbeddingTokens)
	}
	var err error
	a.Scores, err = scores(rows, len(documents))
	return a, err
}

// scores puts what a server judged in the documents' order.
func scores(rows []judged, n int) ([]float64, error) {
	if len(rows) != n {
		return nil, wrong("it judged %d documents of %d", len(rows), n)
	}
	all, seen := make([]float64, n), make([]bool, n)
	for _, d := range rows {
		switch {
		case d.Index == nil || *d.Index < 0 || *d.Index >= n:
			return nil, wrong("it judged a document that it was not sent")
		case seen[*d.Index]:
			return nil, wrong("it judged one document twice")
		case d.Score == nil || math.IsNaN(*d.Score) || math.IsInf(*d.Score, 0):
			return nil, wrong("a score is not a number")
		}
		all[*d.Index], seen[*d.Index] = *d.Score, true
	}
	return all, nil
}
