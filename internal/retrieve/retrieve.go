// Package retrieve finds the pieces of a repository that answer a query, or that
// a reviewer of a change has to know.
//
// Words (BM25), meaning (vectors, where an endpoint is configured) and structure
// (symbols, references, imports) are asked side by side; what they found is fused,
// or judged by a remote reranker. Each stage is a function whose input and output
// can be looked at. Nothing here reads files or calls a model.
package retrieve

// Hit is a piece of a repository that was found.
type Hit struct {
	ID        string  `json:"id"` // of the chunk, within its commit
	Path      string  `json:"path"`
	StartLine int     `json:"start_line"` // 1-based
	EndLine   int     `json:"end_line"`   // the last line of it
	Symbol    string  `json:"symbol"`     // scope and name; empty for windows
	Kind      string  `json:"kind"`       // function, method, type, constants, window
	Language  string  `json:"language"`
	Score     float64 `json:"score"`
}

// Result is what a query came to.
type Result struct {
	Hits   []Hit // best first
	Cached bool  // taken from an earlier query of the same conversation
}
