package index

import "iter"

// What an index consists of, for a Source that keeps it elsewhere.

// File is a file that has chunks: those from First up to and without Next, as Chunks
// has them. Imports are the places of files in the list, by Files.
type File struct {
	Path        string
	First, Next int
	Imports     []int
}

// Made is the version of what cut the files.
func (x *Index) Made() string { return x.made }

// Files are all of them, in order of path; those without chunks too.
func (x *Index) Files() []File {
	edges := x.edges()
	all := make([]File, len(x.files))
	for i, f := range x.files {
		all[i] = File{f.path, f.first, f.next, edges.out[i]}
	}
	return all
}

// Sizes are how many tokens each chunk has.
func (x *Index) Sizes() []uint32 { return x.sizes }

// Postings are all tokens, and the chunks that hold each, in order.
func (x *Index) Postings() iter.Seq2[string, []Count] {
	flat := newIndex(x.made, x.flat())
	return func(yield func(string, []Count) bool) {
		for i := range flat.layers[0].tokens.len() {
			if name := flat.layers[0].tokens.name(i); !yield(name, flat.counts(name)) {
				return
			}
		}
	}
}

// EachVector are the vectors of the chunks that have one, by the chunk's place in Chunks.
func (x *Index) EachVector() iter.Seq2[int, []float32] {
	return func(yield func(int, []float32) bool) {
		v := x.vectors()
		for i, c := range v.chunks {
			if !yield(int(c), v.set.At(i)) {
				return
			}
		}
	}
}
