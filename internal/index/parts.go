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
func (x *Index) Sizes() []uint32 { return x.tokens.sizes }

// Posting is a token, the chunks that hold it, in order, and how often each does.
type Posting struct {
	Token  string
	Chunks []int32
	Times  []uint16
}

// Postings are those of every token.
func (x *Index) Postings() iter.Seq[Posting] {
	return func(yield func(Posting) bool) {
		for _, name := range x.tokens.names {
			if chunks, times := x.tokens.of(name); !yield(Posting{name, chunks, times}) {
				return
			}
		}
	}
}

// Vector is the vector of a chunk by its place in Chunks; nil where it has none.
func (x *Index) Vector(chunk int) []float32 {
	if x.vectors.set == nil {
		return nil
	}
	return x.vectors.of(chunk)
}
