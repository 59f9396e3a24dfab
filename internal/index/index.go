// Package index finds the chunks of one commit by words, names, imports and, if it
// has them, vectors. An index is built from a tree, and reuses what did not change
// from the index of another commit.
//
// Only the index of a base is ever stored (Cache, Encode). The index of a head is built
// on top of it in memory and thrown away, so that nothing of one change reaches another.
// The package parses nothing: the caller passes the function that cuts files.
//
// Start reading at Source, then Build; file.go has the stored form of an index.
package index

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/vector"
)

// Index holds the chunks of one commit in memory, and is the Rows of its own Source. It
// does not change once it is built. Rows stay in their stored form, and are decoded when
// a question needs them.
type Index struct {
	*Source
	made   string   // the version of the code that cut its files
	rows   []row    // sorted by key: first the records of the chunks, then the words
	packed []string // the vector of each chunk; empty if it has none
}

// row is the record of a chunk, keyed by its place, or the packed counts of the chunks
// that hold a word, keyed by the token, or by definedBy and a name that they define.
type row struct{ key, value string }

// Prefixes of the keys that are not tokens. No token contains them.
const (
	recordAt  = "\x00"
	definedBy = "\x01"
)

func recordKey(place int) string {
	return string(binary.BigEndian.AppendUint32([]byte(recordAt), uint32(place)))
}

func byKey(a, b row) int { return strings.Compare(a.key, b.key) }

// newIndex returns an index of the given parts, and counts the missing vectors itself.
func newIndex(made string, files []file, sizes []uint32, rows []row, v VectorsInfo, packed []string) *Index {
	x := &Index{made: made, rows: rows, packed: packed}
	v.Missing = 0
	for _, vector := range packed {
		if vector == "" {
			v.Missing++
		}
	}
	x.Source = newSource(files, sizes, v, x)
	return x
}

// Get implements Rows, as does Nearest.
func (x *Index) Get(ctx context.Context, keys []string) ([]string, error) {
	values := make([]string, len(keys))
	for i, key := range keys {
		if at, ok := slices.BinarySearchFunc(x.rows, row{key: key}, byKey); ok {
			values[i] = x.rows[at].value
		}
	}
	return values, ctx.Err()
}

// Each yields all keys in order, with their values, for storage elsewhere.
func (x *Index) Each() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for _, r := range x.rows {
			if !yield([]byte(r.key), []byte(r.value)) {
				return
			}
		}
	}
}

// Chunks returns all chunks, in order of path and line.
func (x *Index) Chunks() []chunk.Chunk {
	all := make([]chunk.Chunk, 0, len(x.sizes))
	for _, f := range x.files {
		for n := f.first; n < f.next; n++ {
			all = append(all, x.chunk(f, n))
		}
	}
	return all
}

func (x *Index) chunk(f file, place int) chunk.Chunk { return readRecord(f.path, x.rows[place].value) }

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
