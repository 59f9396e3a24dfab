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
	"iter"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
)

// Index is the chunks of one commit, in memory, and the Rows of its Source. It is not
// changed once it is built. Its chunks and words lie in their stored form: little of it is
// read before it is asked for.
type Index struct {
	*Source
	made    string   // how its files were cut
	records []string // of each chunk
	words   []word   // by name
	packed  []string // of each chunk its vector, empty where it has none; nil without vectors
}

// word is a token, or with definedBy before it a name that chunks define, and the chunks
// that hold it, as pack writes them.
type word struct{ name, held string }

// definedBy begins the words that are names: no token holds it.
const definedBy = "\x00"

func byName(a, b word) int { return strings.Compare(a.name, b.name) }

// newIndex puts an index together.
func newIndex(made string, files []file, sizes []uint32, records []string, words []word, model string,
	dimensions int, packed []string) *Index {
	x := &Index{made: made, records: records, words: words, packed: packed}
	x.Source = newSource(files, sizes, VectorsInfo{model, dimensions, len(records)}, x)
	for _, v := range packed {
		if v != "" {
			x.vectors.Missing--
		}
	}
	return x
}

// Records is Rows's, as are Words and Nearest.
func (x *Index) Records(ctx context.Context, places []int) ([]string, error) {
	all := make([]string, len(places))
	for i, n := range places {
		all[i] = x.records[n]
	}
	return all, ctx.Err()
}

// Words is Rows's.
func (x *Index) Words(ctx context.Context, names []string) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range names {
		if i, ok := slices.BinarySearchFunc(x.words, word{name: name}, byName); ok {
			all[name] = x.words[i].held
		}
	}
	return all, ctx.Err()
}

// EachRecord are what Records gives of all chunks, to be kept elsewhere.
func (x *Index) EachRecord() iter.Seq2[int, string] { return slices.All(x.records) }

// EachWord are all words and what Words gives for each, to be kept elsewhere.
func (x *Index) EachWord() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, w := range x.words {
			if !yield(w.name, w.held) {
				return
			}
		}
	}
}

// Chunks are all of them, in order of path and line.
func (x *Index) Chunks() []chunk.Chunk {
	all := make([]chunk.Chunk, 0, len(x.records))
	for _, f := range x.files {
		for n := f.first; n < f.next; n++ {
			all = append(all, readRecord(f.path, x.records[n]))
		}
	}
	return all
}

// Same reports whether two indexes hold the same files, cut in the same way.
func (x *Index) Same(y *Index) bool {
	return x.made == y.made && slices.EqualFunc(x.files, y.files, func(a, b file) bool {
		return a.path == b.path && a.blob == b.blob
	})
}

// Made is the version of what cut the files.
func (x *Index) Made() string { return x.made }
