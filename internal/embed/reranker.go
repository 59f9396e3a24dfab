package embed

import (
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
	s, err := o.check("rerank", []string{Cohere, Voyage},
		map[string]string{Cohere: "https://api.cohere.com/v2", Voyage: "https://api.voyageai.com/v1"}, "/rerank")
	if err != nil {
		return nil, err
	}
	return &Reranker{s}, nil
}

// Identity names the model.
func (r *Reranker) Identity() string { return r.server.identity() }

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
	name := key(append([]string{"rerank", r.Identity(), r.server.style, query}, documents...)...)
	most := r.most(query, documents)
	a, err := r.server.call(ctx, name, most, func(ctx context.Context) (Answer, error) {
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
	if r.server.style == Voyage {
		return cost.Usage{EmbeddingTokens: tokens, RerankUnits: 1}
	}
	return cost.Usage{RerankUnits: pieces/unitDocuments + 1}
}

// ranking is a request in either style.
type ranking struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`

	TopN         int `json:"top_n,omitzero"`
	MaxTokensDoc int `json:"max_tokens_per_doc,omitzero"`

	TopK       int  `json:"top_k,omitzero"`
	Truncation bool `json:"truncation,omitzero"`
}

// judged is a document's score in either style.
type judged struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
}

func (r *Reranker) send(ctx context.Context, query string, documents []string, most cost.Usage) (Answer, error) {
	q := ranking{Model: r.server.model, Query: query, Documents: documents}
	if r.server.style == Voyage {
		q.TopK, q.Truncation = len(documents), true
	} else {
		q.TopN, q.MaxTokensDoc = len(documents), documentTokens
	}
	var said struct {
		Results []judged `json:"results"`
		Data    []judged `json:"data"`
		Meta    struct {
			Billed struct {
				Units float64 `json:"search_units"`
			} `json:"billed_units"`
		} `json:"meta"`
		Usage struct {
			Tokens float64 `json:"total_tokens"`
		} `json:"usage"`
	}
	if err := r.server.post(ctx, q, &said, int64(answerFrame+bytesPerResult*len(documents))); err != nil {
		return Answer{}, err
	}
	a := Answer{Usage: cost.Usage{Calls: 1, RerankUnits: max(1, count(said.Meta.Billed.Units, most.RerankUnits))}}
	rows := said.Results
	if r.server.style == Voyage {
		rows = said.Data
		if a.Usage.EmbeddingTokens = count(said.Usage.Tokens, most.EmbeddingTokens); a.Usage.EmbeddingTokens == 0 {
			a.Usage.EmbeddingTokens = most.EmbeddingTokens
		}
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
	for _, row := range rows {
		switch {
		case row.Index == nil || *row.Index < 0 || *row.Index >= n:
			return nil, wrong("it judged a document that it was not sent")
		case seen[*row.Index]:
			return nil, wrong("it judged one document twice")
		case row.Score == nil || math.IsNaN(*row.Score) || math.IsInf(*row.Score, 0):
			return nil, wrong("a score is no number")
		}
		all[*row.Index], seen[*row.Index] = *row.Score, true
	}
	return all, nil
}
