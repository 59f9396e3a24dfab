package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/chunk"
)

// Source answers questions about the chunks of one commit. What files there are and how
// long their chunks are it holds; all else is read of an Index, or of a database, as
// Rows: indextest holds what both promise. Answers are in an order of their own, the
// same for the same commit, and may be asked for from many goroutines.
type Source struct {
	files   []File   // by path
	sizes   []uint32 // of each chunk, how many tokens it has
	mean    float64  // of sizes
	rows    Rows
	vectors func() VectorsInfo
	edges   func() edges // who imports whom, once it is asked for
	report  Report       // of its making, where that is known
}

// Rows reads what a Source does not hold. Chunks are named by their places in the order
// of path and line.
type Rows interface {
	// Chunks are those at some places, in the order in which they are asked for.
	Chunks(ctx context.Context, places []int) ([]chunk.Chunk, error)
	// Counts are, for each token, the chunks that hold it, in order, and how often.
	Counts(ctx context.Context, tokens []string) (map[string][]Count, error)
	// Defining are, for each name, the chunks that define it, in order; nothing for names
	// that more than most chunks define, where most is not 0.
	Defining(ctx context.Context, most int, names []string) (map[string][]int, error)
	// Nearest are the k chunks of the largest cosine to a vector of the right length, best
	// first, equal ones in order; where keep is not nil, of those that it lets through.
	Nearest(ctx context.Context, vector []float32, k int, keep func(place int) bool) ([]Near, error)
}

// Key names an index that is kept beside this machine: of which commit it is, what cut
// its files, and whose vectors it holds.
type Key struct{ Repository, Commit, Made, Model string }

// File is a file of the commit: its chunks are those from First up to and without Next.
type File struct {
	Path        string
	First, Next int
}

// Near is a chunk that is near to a vector.
type Near struct {
	Place  int
	Cosine float64
}

// Hit is a chunk that was found, and its score: larger is better, and comparable
// only within one answer.
type Hit struct {
	chunk.Chunk
	Score float64
}

// Filter narrows a search.
type Filter struct {
	Paths []string // globs (doublestar) of which a path has to match one; none: every path
}

// VectorsInfo says what vectors an index holds.
type VectorsInfo struct {
	Model      string // as its maker names it, with the number of dimensions: never mixed; empty without vectors
	Dimensions int
	Missing    int // chunks without a vector
}

// NewSource puts a source together: of files by path, the sizes of their chunks in
// tokens, and for each file the places of those that it imports.
func NewSource(files []File, sizes []uint32, imports func() [][]int, vectors func() VectorsInfo, rows Rows) *Source {
	sum := 0.0
	for _, n := range sizes {
		sum += float64(n)
	}
	return &Source{files: files, sizes: sizes, mean: cmp.Or(sum/max(1, float64(len(sizes))), 1), rows: rows,
		vectors: vectors, edges: sync.OnceValue(func() edges { return bothWays(imports()) })}
}

// edges are who imports whom, by place in the list of files.
type edges struct{ out, in [][]int }

func bothWays(out [][]int) edges {
	in := make([][]int, len(out))
	for i, imported := range out {
		for _, to := range imported {
			in[to] = append(in[to], i)
		}
	}
	return edges{out, in}
}

// Files are all of them, in order of path; those without chunks too.
func (x *Source) Files() []File { return x.files }

// Imports are, for each file, the places of those that it imports.
func (x *Source) Imports() [][]int { return x.edges().out }

// Sizes are how many tokens each chunk has.
func (x *Source) Sizes() []uint32 { return x.sizes }

// find is the place of a path in files.
func (x *Source) find(path string) (int, bool) {
	return slices.BinarySearchFunc(x.files, path, func(f File, path string) int {
		return strings.Compare(f.Path, path)
	})
}

// pathOf is the path of the file that a chunk is of.
func (x *Source) pathOf(place int) string {
	i, _ := slices.BinarySearchFunc(x.files, place, func(f File, place int) int {
		if f.Next <= place {
			return -1
		}
		return 1
	})
	return x.files[i].Path
}

// Lexical ranks chunks by the terms of a question (BM25 over chunk.Tokens of prefix
// and text), best first, k at most; equal scores in order of path and line.
func (x *Source) Lexical(ctx context.Context, terms []Term, k int, f Filter) ([]Hit, error) {
	var tokens []string
	for _, t := range terms {
		tokens = append(tokens, t.Tokens...)
	}
	held, err := x.rows.Counts(ctx, tokens)
	if err != nil {
		return nil, err
	}
	all := scores(terms, x.sizes, x.mean, held)
	return x.hits(ctx, best(all, k, x.keep(f)), func(i, place int) float64 { return all[place] })
}

// Similar ranks chunks by the cosine to a vector of the same model; none where
// the index holds no vectors of its length.
func (x *Source) Similar(ctx context.Context, vector []float32, k int, f Filter) ([]Hit, error) {
	if d := x.vectors().Dimensions; d == 0 || len(vector) != d || k <= 0 {
		return nil, ctx.Err()
	}
	near, err := x.rows.Nearest(ctx, vector, k, x.keep(f))
	places := make([]int, len(near))
	for i, n := range near {
		places[i] = n.Place
	}
	if err != nil {
		return nil, err
	}
	return x.hits(ctx, places, func(i, _ int) float64 { return near[i].Cosine })
}

// hits are the chunks at some places with their scores.
func (x *Source) hits(ctx context.Context, places []int, score func(i, place int) float64) ([]Hit, error) {
	chunks, err := x.rows.Chunks(ctx, places)
	hits := make([]Hit, len(chunks))
	for i, c := range chunks {
		hits[i] = Hit{c, score(i, places[i])}
	}
	return hits, cmp.Or(err, ctx.Err())
}

// keep reports which chunks a filter lets through; nil for all.
func (x *Source) keep(f Filter) func(place int) bool {
	if len(f.Paths) == 0 {
		return nil
	}
	passes := make([]bool, len(x.sizes))
	for _, file := range x.files {
		ok := f.Passes(file.Path)
		for n := file.First; n < file.Next; n++ {
			passes[n] = ok
		}
	}
	return func(place int) bool { return passes[place] }
}

// Passes reports whether a filter lets a path through.
func (f Filter) Passes(file string) bool {
	return len(f.Paths) == 0 || slices.ContainsFunc(f.Paths, func(glob string) bool {
		ok, err := doublestar.Match(glob, file)
		return ok && err == nil
	})
}

// Defines gives for each name, without its scope, the chunks that define it, by path
// and line; nothing for names that more than most chunks define, where most is not 0.
func (x *Source) Defines(ctx context.Context, most int, names ...string) (map[string][]chunk.Chunk, error) {
	at, err := x.rows.Defining(ctx, most, names)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, places := range at {
		all = append(all, places...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	chunks, err := x.rows.Chunks(ctx, all)
	if err != nil {
		return nil, err
	}
	by := map[string][]chunk.Chunk{}
	for name, places := range at {
		for _, place := range places {
			i, _ := slices.BinarySearch(all, place)
			by[name] = append(by[name], chunks[i])
		}
	}
	return by, ctx.Err()
}

// Linked lists the files of the commit that a file imports, then those that import it:
// of packages that are folders, every file. By name, so that they can err.
func (x *Source) Linked(path string) (paths []string) {
	if at, ok := x.find(path); ok {
		for _, i := range slices.Concat(x.edges().out[at], x.edges().in[at]) {
			paths = append(paths, x.files[i].Path)
		}
	}
	return paths
}

// In lists the chunks of a file that share a line with the range, in order; all of
// them where to is 0.
func (x *Source) In(ctx context.Context, path string, from, to int) ([]chunk.Chunk, error) {
	at, ok := x.find(path)
	if !ok {
		return nil, ctx.Err()
	}
	var places []int
	for n := x.files[at].First; n < x.files[at].Next; n++ {
		places = append(places, n)
	}
	all, err := x.rows.Chunks(ctx, places)
	return slices.DeleteFunc(all, func(c chunk.Chunk) bool {
		return c.StartLine > cmp.Or(to, math.MaxInt) || c.EndLine < from
	}), err
}

// Paths lists the files that have chunks, sorted.
func (x *Source) Paths() (all []string) {
	for _, f := range x.files {
		if f.Next > f.First {
			all = append(all, f.Path)
		}
	}
	return all
}

// Vectors says of which model and length the vectors are, and how many chunks lack one.
func (x *Source) Vectors() VectorsInfo { return x.vectors() }

// WithReport is the index with what was said when it was made.
func (x *Source) WithReport(r Report) *Source {
	x.report = r
	return x
}

// Report says what the index is made of, all of which was there.
func (x *Source) Report() Report {
	r, n := x.report, len(x.Paths())
	r.Files, r.Reused, r.Chunks, r.Seconds = n, n, len(x.sizes), 0
	if r.Skipped == nil {
		r.Skipped = map[string]int{}
	}
	return r
}
