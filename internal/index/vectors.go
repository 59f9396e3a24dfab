package index

import (
	"github.com/org/pr-review-action/internal/vector"
)

// vectors are those of chunks, of one model.
type vectors struct {
	model      string
	dimensions int
	set        *vector.Set // nil without vectors
	chunks     []int32     // of each vector in the set, its chunk, in order
	at         map[int]int // of a chunk, its vector
}

func newVectors(model string, dimensions int) vectors {
	return vectors{model: model, dimensions: dimensions, set: vector.NewSet(max(dimensions, 1), 0), at: map[int]int{}}
}

func (v *vectors) add(chunk int, one []float32) {
	v.at[chunk] = len(v.chunks)
	v.chunks = append(v.chunks, int32(chunk))
	v.set.Add(one)
}

// of is the vector of a chunk; nil where there is none.
func (v *vectors) of(chunk int) []float32 {
	at, ok := v.at[chunk]
	if !ok {
		return nil
	}
	return v.set.At(at)
}

// carried are the vectors of chunks that were taken from another index.
func carried(parts []part) (v vectors) {
	first := 0
	for _, p := range parts {
		if p.from != nil && p.from.vectors.set != nil {
			if old := &p.from.vectors; v.set == nil {
				v = newVectors(old.model, old.dimensions)
			}
			for i := range p.chunks {
				if one := p.from.vectors.of(p.fromFirst + i); one != nil {
					v.add(first+i, one)
				}
			}
		}
		first += len(p.chunks)
	}
	return v
}

// WithVectors gives an index that holds these vectors and no others: by
// chunk.Chunk.Key, of length 1, of the named model. Chunks without one are not found by
// Similar. The index itself stays as it was.
func (x *Index) WithVectors(model string, dimensions int, byKey map[string][]float32) *Index {
	with := *x
	with.vectors = newVectors(model, dimensions)
	for i, c := range x.chunks {
		if one := byKey[c.Key()]; len(one) == dimensions && dimensions > 0 {
			with.vectors.add(i, one)
		}
	}
	return &with
}

// VectorsByKey are the vectors that the index holds of a model, to be kept when its
// chunks are embedded again; none of another one.
func (x *Index) VectorsByKey(model string, dimensions int) map[string][]float32 {
	all := map[string][]float32{}
	if v := &x.vectors; v.set != nil && v.model == model && v.dimensions == dimensions {
		for i, c := range v.chunks {
			all[x.chunks[c].Key()] = v.set.At(i)
		}
	}
	return all
}

// WithVectorsOf gives an index that also holds the vectors that another one has of the
// same chunks: of a file that changed, those that did not.
func (x *Index) WithVectorsOf(other *Index) *Index {
	v := &other.vectors
	if v.set == nil || len(x.vectors.chunks) == len(x.chunks) {
		return x
	}
	return x.WithVectors(v.model, v.dimensions, other.VectorsByKey(v.model, v.dimensions))
}
