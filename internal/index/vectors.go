package index

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/org/pr-review-action/internal/vector"
)

// Nearest is Rows's. Every vector is looked at: it is exact, and the same on every machine.
func (x *Index) Nearest(ctx context.Context, query []float32, k int, among []bool) ([]Near, error) {
	const least = -2 // no cosine is so small
	q, cosines := vector.NewQuery(query), make([]float64, len(x.packed))
	parts := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for p := range parts {
		group.Go(func() {
			for n := p * len(cosines) / parts; n < (p+1)*len(cosines)/parts; n++ {
				if cosines[n] = least; x.packed[n] != "" {
					cosines[n] = float64(q.Cosine(x.packed[n]))
				}
			}
		})
	}
	group.Wait()
	return best(cosines, least, k, among), ctx.Err()
}

// EachVector are the vectors of the chunks that have one, by the chunk's place in Chunks.
func (x *Index) EachVector() iter.Seq2[int, []float32] {
	return func(yield func(int, []float32) bool) {
		for n, packed := range x.packed {
			if packed != "" && !yield(n, vector.Unpack(packed)) {
				return
			}
		}
	}
}

// WithVectors gives an index that holds these vectors too, of the named model, and none
// of another one: by chunk.Chunk.Key, of length 1. Chunks without one are not found by
// Similar. The index itself stays as it was.
func (x *Index) WithVectors(model string, dimensions int, byKey map[string][]float32) *Index {
	packed := make([]string, len(x.records))
	if x.has(model, dimensions) {
		copy(packed, x.packed)
	}
	for n, c := range x.Chunks() {
		if packed[n] != "" || len(byKey) == 0 {
			continue
		}
		if v := byKey[c.Key()]; len(v) == dimensions && dimensions > 0 {
			packed[n] = vector.Pack(v)
		}
	}
	return newIndex(x.made, x.files, x.sizes, x.records, x.words, model, dimensions, packed)
}

func (x *Index) has(model string, dimensions int) bool {
	return x.packed != nil && x.vectors.Model == model && x.vectors.Dimensions == dimensions
}

// VectorsByKey are the vectors that the index holds of a model, to be kept when its
// chunks are embedded again; none of another one.
func (x *Index) VectorsByKey(model string, dimensions int) map[string][]float32 {
	all := map[string][]float32{}
	if x.has(model, dimensions) {
		for n, c := range x.Chunks() {
			if x.packed[n] != "" {
				all[c.Key()] = vector.Unpack(x.packed[n])
			}
		}
	}
	return all
}

// WithVectorsOf gives an index that also holds the vectors that another one has of the
// same chunks: of a file that changed, those that did not.
func (x *Index) WithVectorsOf(other *Index) *Index {
	v := other.vectors
	if other.packed == nil || x.vectors.Missing == 0 {
		return x
	}
	return x.WithVectors(v.Model, v.Dimensions, other.VectorsByKey(v.Model, v.Dimensions))
}
