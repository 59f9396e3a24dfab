// Package index finds chunks of one commit: by words, by names, by imports, by
// vectors where there are some. An index is made from a tree, and from the index of
// another commit, of which it takes what did not change.
//
// Only the index of a base is ever stored (Save, Open); that of a head is built over
// it in memory and thrown away, so that nothing of a change reaches another one. It
// parses nothing: who builds an index hands in how files are cut.
//
// Start reading at Source, then Build.
package index

import (
	"context"
	"time"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/tree"
)

// Cut cuts a text into chunks, and says why it was not cut by its definitions;
// empty where it was. It is chunker.Chunker's Cut.
type Cut func(ctx context.Context, path, text string) (chunks []chunk.Chunk, fallback string)

// Options say what is indexed.
type Options struct {
	Cut      Cut
	MaxFiles int           // 0: tree.MaxFiles
	Ignore   []string      // globs of paths that are left out
	First    []string      // paths whose folders are indexed first, where there is a limit
	Limit    time.Duration // after which no further file is taken in; 0: none
}

// Report says what an index is made of.
type Report struct {
	Files   int            `json:"files"`
	Chunks  int            `json:"chunks"`
	Skipped map[string]int `json:"skipped"` // reason → files that are not in it, or as windows alone
	Reused  int            `json:"reused"`  // files that were taken from the previous index
	Seconds float64        `json:"seconds"`
	Bytes   int64          `json:"bytes"` // of the texts
}

// Index is the chunks of one commit, in memory. It is not changed once it is built,
// but for WithVectors, which gives another one. It is a Source.
type Index struct{}

// Build makes the index of a tree. Files whose content previous holds (it may be
// nil) are taken from it. What was left out, and why, is in the report; the error
// is the source's, or that of ctx.
func Build(ctx context.Context, t tree.Tree, previous *Index, o Options) (*Index, Report, error) {
	return &Index{}, Report{}, nil
}

// WithVectors gives an index that holds these vectors beside: by chunk.Chunk.Key,
// of unit length, of the named model. Chunks without one are not found by Similar.
func (x *Index) WithVectors(model string, dimensions int, byKey map[string][]float32) (*Index, error) {
	return x, nil
}

// VectorsByKey are the vectors that the index holds of a model, to be kept when its
// chunks are embedded again; none of another one.
func (x *Index) VectorsByKey(model string, dimensions int) map[string][]float32 { return nil }

// Chunks are all of them, in order of path and line.
func (x *Index) Chunks() []chunk.Chunk { return nil }
