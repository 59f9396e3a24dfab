// Package index finds chunks of one commit: by words, by names, by imports, by
// vectors where there are some. An index is made from a tree, and from the index of
// another commit, of which it takes what did not change.
//
// Only the index of a base is ever stored (Save, Open, Folder); that of a head is
// built over it in memory and thrown away, so that nothing of a change reaches another
// one. It parses nothing: who builds an index hands in how files are cut.
//
// Start reading at Source, then Build.
package index

import (
	"slices"
	"sync"

	"github.com/org/pr-review-action/internal/chunk"
)

// Index is the chunks of one commit, in memory. It is not changed once it is built,
// and is a Source.
type Index struct {
	made    string // how its files were cut
	files   []file // by path
	at      map[string]int
	chunks  []chunk.Chunk // by path and line
	tokens  tokens
	defines map[string][]int32
	vectors vectors
	edges   func() edges // who imports whom, once it is asked for
}

// file is a file of the commit, also one that has no chunks.
type file struct {
	path, blob  string
	note        string // why it has no chunks, or windows alone; empty for others
	imports     []string
	first, next int // its chunks
}

// assemble makes an index of files in order of path. It is the same, to the byte of
// its stored form, whether parts come from another index or not.
func assemble(made string, parts []part) *Index {
	x := &Index{made: made, at: map[string]int{}, defines: map[string][]int32{}}
	b := newTokenBuilder()
	for _, p := range parts {
		p.file.first, p.file.next = len(x.chunks), len(x.chunks)+len(p.chunks)
		x.at[p.file.path] = len(x.files)
		x.files = append(x.files, p.file)
		for i, c := range p.chunks {
			for _, name := range c.Defines {
				x.defines[name] = append(x.defines[name], int32(len(x.chunks)))
			}
			x.chunks = append(x.chunks, c)
			if p.counted != nil {
				b.add(p.counted[i])
			} else {
				b.take(&p.from.tokens, p.fromFirst+i)
			}
		}
	}
	x.tokens = b.finish()
	x.vectors = carried(parts)
	x.edges = sync.OnceValue(x.resolve)
	return x
}

// Chunks are all of them, in order of path and line. They must not be changed.
func (x *Index) Chunks() []chunk.Chunk { return x.chunks }

// Same reports whether two indexes hold the same files, cut in the same way.
func (x *Index) Same(y *Index) bool {
	return x.made == y.made && slices.EqualFunc(x.files, y.files, func(a, b file) bool {
		return a.path == b.path && a.blob == b.blob
	})
}
