package index

import (
	"context"

	"github.com/org/pr-review-action/internal/chunk"
)

// Source answers questions about the chunks of one commit. Index is one in memory,
// and a database can be another: indextest holds what both promise. Answers are in
// an order of their own, the same for the same commit, and may be asked for from
// many goroutines.
type Source interface {
	// Lexical ranks chunks by the terms of a question (BM25 over chunk.Tokens of prefix
	// and text), best first, k at most; equal scores in order of path and line.
	Lexical(ctx context.Context, terms []Term, k int, f Filter) ([]Hit, error)
	// Similar ranks chunks by the cosine to a vector of the same model; none where
	// the index holds no vectors of its length.
	Similar(ctx context.Context, vector []float32, k int, f Filter) ([]Hit, error)
	// Defines gives for each name, without its scope, the chunks that define it, by path
	// and line; nothing for names that more than most chunks define, where most is not 0.
	Defines(ctx context.Context, most int, names ...string) (map[string][]chunk.Chunk, error)
	// Mentions lists the chunks whose text holds a name as a whole word, those that
	// define it among them; k at most.
	Mentions(ctx context.Context, name string, k int) ([]chunk.Chunk, error)
	// Linked lists the files of the commit that a file imports, then those that import it:
	// of packages that are folders, every file. By name, so that they can err.
	Linked(ctx context.Context, path string) ([]string, error)
	// TestsOf lists the chunks of tests that mention one of the names; those of the
	// test files that are named after the path first. Without names, all chunks of these.
	TestsOf(ctx context.Context, path string, names []string, k int) ([]chunk.Chunk, error)
	// In lists the chunks of a file that share a line with the range, in order; all of
	// them where to is 0.
	In(ctx context.Context, path string, from, to int) ([]chunk.Chunk, error)
	// Paths lists the files that have chunks, sorted.
	Paths(ctx context.Context) ([]string, error)
	// Vectors says of which model and length the vectors are, and how many chunks lack one.
	Vectors(ctx context.Context) (VectorsInfo, error)
}

// Hit is a chunk that was found, and its score: larger is better, and comparable
// only within one answer.
type Hit struct {
	chunk.Chunk
	Score float64
}

// Filter narrows a search.
type Filter struct {
	Paths []string // globs (doublestar) of which a path has to match one; none: every path
}

// VectorsInfo says what vectors an index holds.
type VectorsInfo struct {
	Model      string // as its maker names it, with the number of dimensions: never mixed; empty without vectors
	Dimensions int
	Missing    int // chunks without a vector
}
