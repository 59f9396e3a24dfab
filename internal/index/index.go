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
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/order"
)

// Index is the chunks of one commit, in memory. It is not changed once it is built.
//
// It lies in layers: one of most files, and where it was built over another commit's
// index, one of the files that differ. What it answers does not depend on that: chunks
// are numbered in order of path and line.
type Index struct {
	*Source
	made    string // how its files were cut
	layers  []*layer
	numbers [][]int32 // of each layer's chunks, the number here; -1: its file has changed
	placed  []placed  // by path
	fileOf  []int32   // of each chunk
	held    func() vectors
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
	var files []File
	var sizes []uint32
	for _, p := range visible(layers) {
		first := len(x.fileOf)
		for n := p.first; n < p.next; n++ {
			of[p.layer][n] = int32(len(x.fileOf))
			x.fileOf = append(x.fileOf, int32(len(x.placed)))
			sizes = append(sizes, p.layer.sizes[n])
		}
		p.below = p.first - first
		p.first, p.next = first, len(x.fileOf)
		x.placed = append(x.placed, p)
		files = append(files, File{p.path, p.first, p.next})
	}
	x.held = sync.OnceValue(x.unpacked)
	x.Source = NewSource(files, sizes, x.resolve, x.info, rows{x})
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
	order.Stable(all, func(a, b placed) int { return strings.Compare(a.path, b.path) })
	return all
}

// chunk is the n-th one.
func (x *Index) chunk(n int) chunk.Chunk {
	p := &x.placed[x.fileOf[n]]
	return p.layer.chunk(p.path, n+p.below)
}

// counts are the chunks that hold a token, or whose names do.
func (x *Index) counts(name string, in func(*layer) words) (all []Count) {
	for i, l := range x.layers {
		before := len(all)
		all = appendCounts(all, in(l).of(name), x.numbers[i])
		if before > 0 && before < len(all) {
			slices.SortFunc(all, byChunk)
		}
	}
	return all
}

func tokensOf(l *layer) words { return l.tokens }
func namesOf(l *layer) words  { return l.names }

// rows reads an index in memory.
type rows struct{ x *Index }

func (r rows) Chunks(ctx context.Context, places []int) ([]chunk.Chunk, error) {
	all := make([]chunk.Chunk, len(places))
	for i, n := range places {
		all[i] = r.x.chunk(n)
	}
	return all, ctx.Err()
}

func (r rows) Counts(ctx context.Context, tokens []string) (map[string][]Count, error) {
	all := map[string][]Count{}
	for _, token := range tokens {
		if _, ok := all[token]; !ok {
			all[token] = r.x.counts(token, tokensOf)
		}
	}
	return all, ctx.Err()
}

func (r rows) Defining(ctx context.Context, most int, names []string) (map[string][]int, error) {
	all := map[string][]int{}
	for _, name := range names {
		which := r.x.counts(name, namesOf)
		if all[name] != nil || most > 0 && len(which) > most {
			continue
		}
		for _, c := range which {
			all[name] = append(all[name], int(c.Chunk))
		}
	}
	return all, ctx.Err()
}

func (r rows) Nearest(ctx context.Context, query []float32, k int, keep func(int) bool) (all []Near, err error) {
	v := r.x.held()
	var passes func(int) bool
	if keep != nil {
		passes = func(i int) bool { return keep(int(v.chunks[i])) }
	}
	for _, near := range v.set.Nearest(query, k, passes) {
		all = append(all, Near{int(v.chunks[near.Index]), float64(near.Cosine)})
	}
	return all, ctx.Err()
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
	return x.made == y.made && slices.EqualFunc(x.placed, y.placed, func(a, b placed) bool {
		return a.path == b.path && a.blob == b.blob
	})
}

// Made is the version of what cut the files.
func (x *Index) Made() string { return x.made }

// Postings are all tokens, and the chunks that hold each, in order.
func (x *Index) Postings() iter.Seq2[string, []Count] {
	flat := newIndex(x.made, x.flat())
	return func(yield func(string, []Count) bool) {
		for i := range flat.layers[0].tokens.len() {
			if name := flat.layers[0].tokens.name(i); !yield(name, flat.counts(name, tokensOf)) {
				return
			}
		}
	}
}

// EachVector are the vectors of the chunks that have one, by the chunk's place in Chunks.
func (x *Index) EachVector() iter.Seq2[int, []float32] {
	return func(yield func(int, []float32) bool) {
		v := x.held()
		for i, c := range v.chunks {
			if !yield(int(c), v.set.At(i)) {
				return
			}
		}
	}
}
