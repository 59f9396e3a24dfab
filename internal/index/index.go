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
