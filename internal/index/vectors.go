package index

import (
	"context"
	"iter"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// Nearest implements Rows. It compares every vector, so it is exact, and the same on every machine.
func (x *Index) Nearest(ctx context.Context, query []float32, k int, among []bool) ([]Near, error) {
	const least = -2 // less than any cosine
	q, cosines := vector.NewQuery(query), make([]float64, len(x.packed))
	inParallel(len(cosines), func(from, to int) {
		for n := from; n < to; n++ {
			if cosines[n] = least; x.packed[n] != "" {
				cosines[n] = float64(q.Cosine(x.packed[n]))
			}
		}
	})
	return best(cosines, least, k, among), ctx.Err()
}

// EachVector yields the place in Chunks and the vector of each chunk that has one.
func (x *Index) EachVector() iter.Seq2[int, []float32] {
	return func(yield func(int, []float32) bool) {
		for n, packed := range x.packed {
			if packed != "" && !yield(n, vector.Unpack(packed)) {
				return
			}
		}
	}
}

// WithVectors returns an index that also has these vectors of the named model, and none of
// another one. They are keyed by chunk.Chunk.Key and have length 1. Similar does not find
// chunks without a vector. The receiver stays as it was.
func (x *Index) WithVectors(model string, dimensions int, byKey map[string][]float32) *Index {
	packed := make([]string, len(x.packed))
	if x.vectors.Model == model && x.vectors.Dimensions == dimensions {
		copy(packed, x.packed)
	}
	for n, c := range x.Chunks() {
		if packed[n] != "" || len(byKey) == 0 {
			continue
		}
		if v := byKey[c.Key()]; len(v) == dimensions {
			packed[n] = vector.Pack(v)
		}
	}
	return newIndex(x.made, x.files, x.sizes, x.rows, VectorsInfo{Model: model, Dimensions: dimensions}, packed)
}

// Without returns the chunks that have no vector of the model.
func (x *Index) Without(model string) (all []chunk.Chunk) {
	for n, c := range x.Chunks() {
		if x.vectors.Model != model || x.packed[n] == "" {
			all = append(all, c)
		}
	}
	return all
}

// vectorsOf returns the packed vectors of a file's chunks, by chunk.Chunk.Key.
func (x *Index) vectorsOf(path string) map[string]string {
	all := map[string]string{}
	if at, ok := x.find(path); ok && x.vectors.Dimensions > 0 {
		for n := x.files[at].first; n < x.files[at].next; n++ {
			all[x.chunk(x.files[at], n).Key()] = x.packed[n]
		}
	}
	return all
}
