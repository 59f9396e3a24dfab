// Package index finds chunks of one commit: by words, by names, by imports, by
// vectors where there are some. An index is made from a tree, and from the index of
// another commit, of which it takes what did not change.
//
// Only the index of a base is ever stored (Cache, Encode); that of a head is
// built over it in memory and thrown away, so that nothing of a change reaches another
// one. It parses nothing: who builds an index hands in how files are cut.
//
// Start reading at Source, then Build; layer.go has what an index consists of.
package index

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/chunk"
)

// Index is the chunks of one commit, in memory. It is not changed once it is built,
// and is a Source.
//
// It lies in layers: one of most files, and where it was built over another commit's
// index, one of the files that differ. What it answers does not depend on that: chunks
// are numbered in order of path and line.
type Index struct {
	made    string // how its files were cut
	layers  []*layer
	numbers [][]int32 // of each layer's chunks, the number here; -1: its file has changed
	files   []placed  // by path
	fileOf  []int32   // of each chunk
	sizes   []uint32  // of each chunk, how many tokens it has
	mean    float64   // of sizes
	vectors func() vectors
	edges   func() edges // who imports whom, once it is asked for
}

// placed is a file of the commit, also one that has no chunks, and where its layer has it.
type placed struct {
	file
	layer *layer
	below int // of its first chunk in the layer, by the number here
}

// stored is the file as its layer has it.
func (p placed) stored() file {
	f := p.file
	f.first, f.next = f.first+p.below, f.next+p.below
	return f
}

// newIndex is the index of what is in layers; of a path that several have, the last one
// counts.
func newIndex(made string, layers ...*layer) *Index {
	x := &Index{made: made, layers: layers}
	of := map[*layer][]int32{}
	for _, l := range layers {
		numbers := slices.Repeat([]int32{-1}, len(l.sizes))
		x.numbers, of[l] = append(x.numbers, numbers), numbers
	}
	sum := 0.0
	for _, p := range visible(layers) {
		first := len(x.fileOf)
		for n := p.first; n < p.next; n++ {
			of[p.layer][n] = int32(len(x.fileOf))
			x.fileOf = append(x.fileOf, int32(len(x.files)))
			x.sizes = append(x.sizes, p.layer.sizes[n])
			sum += float64(p.layer.sizes[n])
		}
		p.below = p.first - first
		p.first, p.next = first, len(x.fileOf)
		x.files = append(x.files, p)
	}
	x.mean = cmp.Or(sum/max(1, float64(len(x.sizes))), 1)
	x.vectors = sync.OnceValue(x.unpacked)
	x.edges = sync.OnceValue(x.resolve)
	return x
}

// visible are the files of layers, by path, that no later layer has or has removed; with
// their numbers in the layers.
func visible(layers []*layer) (all []placed) {
	for i, l := range layers {
		for _, f := range l.files {
			hidden := f.removed() || slices.ContainsFunc(layers[i+1:], func(later *layer) bool {
				_, ok := later.find(f.path)
				return ok
			})
			if !hidden {
				all = append(all, placed{file: f, layer: l})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return strings.Compare(a.path, b.path) })
	return all
}

// find is the place of a path in files.
func (x *Index) find(path string) (int, bool) {
	return slices.BinarySearchFunc(x.files, path, func(p placed, path string) int {
		return strings.Compare(p.path, path)
	})
}

// chunk is the n-th one.
func (x *Index) chunk(n int) chunk.Chunk {
	p := &x.files[x.fileOf[n]]
	return p.layer.chunk(p.path, n+p.below)
}

// counts are the chunks that hold a token, in order, and how often each does.
func (x *Index) counts(token string) []Count {
	return x.held(token, func(l *layer) words { return l.tokens })
}

func (x *Index) held(name string, in func(*layer) words) (all []Count) {
	for i, l := range x.layers {
		before := len(all)
		all = appendCounts(all, in(l).of(name), x.numbers[i])
		if before > 0 && before < len(all) {
			slices.SortFunc(all, byChunk)
		}
	}
	return all
}

// Chunks are all of them, in order of path and line.
func (x *Index) Chunks() []chunk.Chunk {
	all := make([]chunk.Chunk, len(x.fileOf))
	for n := range all {
		all[n] = x.chunk(n)
	}
	return all
}

// Same reports whether two indexes hold the same files, cut in the same way.
func (x *Index) Same(y *Index) bool {
	return x.made == y.made && slices.EqualFunc(x.files, y.files, func(a, b placed) bool {
		return a.path == b.path && a.blob == b.blob
	})
}
