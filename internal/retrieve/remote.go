package retrieve

import "context"

// Embedder turns texts into vectors of one model. Its implementations bound,
// redact, price and journal what they send.
type Embedder interface {
	// Embed returns one vector of length 1 for each text, all of one dimension. Query
	// says that the texts are asked, not searched: some models embed the two apart.
	Embed(ctx context.Context, texts []string, query bool) ([][]float32, error)
	// Identity names model and dimensions: vectors of another one are not compared.
	Identity() string
}

// Reranker judges how well documents answer a query.
type Reranker interface {
	// Rerank returns a score for each document, in their order; higher is better.
	// Scores of two calls are not comparable.
	Rerank(ctx context.Context, query string, documents []string) ([]float64, error)
}
