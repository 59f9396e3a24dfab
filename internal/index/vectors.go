package index

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/vector"
)

// packed is the vectors of a layer's chunks, of one model, as they are stored.
type packed struct {
	model      string
	dimensions int
	chunks     []int32 // those that have one, in order
	data       string
}

// of is the packed vector of a chunk; empty where it has none.
func (p *packed) of(chunk int) string {
	i, ok := slices.BinarySearch(p.chunks, int32(chunk))
	if !ok {
		return ""
	}
	size := vector.PackedSize(p.dimensions)
	return p.data[i*size : (i+1)*size]
}

// mergePacked is the vectors of chunks that were merged.
func mergePacked(from []some) (p packed) {
	by := map[int32]string{}
	for _, f := range from {
		old := &f.layer.packed
		if p.model == "" {
			p.model, p.dimensions = old.model, old.dimensions
		}
		for _, c := range old.chunks {
			if n := f.numbers[c]; n >= 0 && old.model == p.model && old.dimensions == p.dimensions {
				by[n] = old.of(int(c))
				p.chunks = append(p.chunks, n)
			}
		}
	}
	slices.Sort(p.chunks)
	var data strings.Builder
	for _, n := range p.chunks {
		data.WriteString(by[n])
	}
	p.data = data.String()
	return p
}

func (w *writer) packed(p packed) {
	w.text(p.model)
	w.number(p.dimensions)
	w.number(len(p.chunks))
	last := int32(-1)
	for _, c := range p.chunks {
		w.number(int(c - last))
		last = c
	}
	w.text(p.data)
}

const mostDimensions = 1 << 16

func (r *reader) packed(chunks int) (p packed) {
	p.model, p.dimensions = r.text(), r.number()
	if p.dimensions > mostDimensions {
		r.fail()
	}
	last := -1
	for range r.count(1) {
		step := r.number()
		if last += step; step < 1 || last < 0 || last >= chunks {
			r.fail()
			break
		}
		p.chunks = append(p.chunks, int32(last))
	}
	if p.data = r.text(); len(p.data) != len(p.chunks)*vector.PackedSize(p.dimensions) {
		r.fail()
	}
	return p
}

// vectors are those of an index, of one model.
type vectors struct {
	model      string
	dimensions int
	set        *vector.Set // nil without vectors
	chunks     []int32     // of each vector in the set, its chunk, in order
}

// unpacked are the vectors of all layers; of another model than the first one has, none.
func (x *Index) unpacked() (v vectors) {
	for _, l := range x.layers {
		if v.model == "" && l.packed.model != "" {
			v = vectors{model: l.packed.model, dimensions: l.packed.dimensions}
			v.set = vector.NewSet(max(v.dimensions, 1), 0)
		}
	}
	for n, f := range x.fileOf {
		p := &x.placed[f]
		if p.layer.packed.model != v.model || p.layer.packed.dimensions != v.dimensions || v.set == nil {
			continue
		}
		if one, err := vector.Unpack([]byte(p.layer.packed.of(n + p.below))); err == nil {
			v.set.Add(one)
			v.chunks = append(v.chunks, int32(n))
		}
	}
	return v
}

func (x *Index) info() VectorsInfo {
	v := x.held()
	return VectorsInfo{v.model, v.dimensions, len(x.fileOf) - len(v.chunks)}
}

// WithVectors gives an index that holds these vectors too, of the named model, and none
// of another one: by chunk.Chunk.Key, of length 1. Chunks without one are not found by
// Similar. The index itself stays as it was.
func (x *Index) WithVectors(model string, dimensions int, byKey map[string][]float32) *Index {
	layers := slices.Clone(x.layers)
	for i, l := range x.layers {
		with := *l
		with.sum, with.packed = "", packed{model: model, dimensions: dimensions}
		var data []byte
		for n := range l.sizes {
			var one string
			if l.packed.model == model && l.packed.dimensions == dimensions {
				one = l.packed.of(n)
			}
			number := x.numbers[i][n]
			if v := []float32(nil); one == "" && number >= 0 {
				if v = byKey[x.chunk(int(number)).Key()]; len(v) == dimensions && dimensions > 0 {
					one = string(vector.AppendPacked(nil, v))
				}
			}
			if one != "" {
				with.packed.chunks = append(with.packed.chunks, int32(n))
				data = append(data, one...)
			}
		}
		if with.packed.data = string(data); l.packed.model != model || len(l.packed.data) != len(data) {
			layers[i] = &with
		}
	}
	return newIndex(x.made, layers...)
}

// VectorsByKey are the vectors that the index holds of a model, to be kept when its
// chunks are embedded again; none of another one.
func (x *Index) VectorsByKey(model string, dimensions int) map[string][]float32 {
	all := map[string][]float32{}
	if v := x.held(); v.set != nil && v.model == model && v.dimensions == dimensions {
		for i, c := range v.chunks {
			all[x.chunk(int(c)).Key()] = v.set.At(i)
		}
	}
	return all
}

// WithVectorsOf gives an index that also holds the vectors that another one has of the
// same chunks: of a file that changed, those that did not.
func (x *Index) WithVectorsOf(other *Index) *Index {
	v := other.held()
	if v.set == nil || len(x.held().chunks) == len(x.fileOf) {
		return x
	}
	return x.WithVectors(v.model, v.dimensions, other.VectorsByKey(v.model, v.dimensions))
}
