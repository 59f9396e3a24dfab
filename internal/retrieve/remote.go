package retrieve

import "context"

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
