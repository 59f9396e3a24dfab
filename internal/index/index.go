// Package index finds chunks of one commit: by words, by names, by imports, by
// vectors where there are some. An index is made from a tree, and from the index of
// another commit, of which it takes what did not change.
//
// Only the index of a base is ever stored (Cache, Encode); that of a head is
// built over it in memory and thrown away, so that nothing of a change reaches another
// one. It parses nothing: who builds an index hands in how files are cut.
//
// Start reading at Source, then Build; file.go has what an index consists of.
package index

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
)

// Index is the chunks of one commit, in memory, and the Rows of its Source. It is not
// changed once it is built. Its rows are in their stored form: little of it is read before
// it is asked for.
type Index struct {
	*Source
	made   string   // how its files were cut
	rows   []row    // by key: first the records of the chunks, then the words
	packed []string // of each chunk its vector, empty where it has none
}

// row is a record of a chunk by its place, or the chunks that hold a word, as pack writes
// them, by a token, or by a name that they define with definedBy before it.
type row struct{ key, value string }

// What begins the keys that are no tokens: no token holds either.
const (
	recordAt  = "\x00"
	definedBy = "\x01"
)

func recordKey(place int) string {
	return string(binary.BigEndian.AppendUint32([]byte(recordAt), uint32(place)))
}

func byKey(a, b row) int { return strings.Compare(a.key, b.key) }

// newIndex puts an index together.
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

// Get is Rows's, as is Nearest.
func (x *Index) Get(ctx context.Context, keys []string) ([]string, error) {
	values := make([]string, len(keys))
	for i, key := range keys {
		if at, ok := slices.BinarySearchFunc(x.rows, row{key: key}, byKey); ok {
			values[i] = x.rows[at].value
		}
	}
	return values, ctx.Err()
}

// Each are all keys and what Get gives for each, in order, to be kept elsewhere.
func (x *Index) Each() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for _, r := range x.rows {
			if !yield([]byte(r.key), []byte(r.value)) {
				return
			}
		}
	}
}

// Chunks are all of them, in order of path and line.
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
