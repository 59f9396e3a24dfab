package index

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/pattern"
)

// Source answers questions about the chunks of one commit. It holds the list of files and
// the lengths of their chunks, and reads everything else through Rows, from an Index or a
// database; indextest has the contract of both. Each answer has its own fixed order, the
// same for the same commit. A Source may be used from many goroutines.
type Source struct {
	files   []file   // sorted by path
	sizes   []uint32 // number of tokens of each chunk
	mean    float64  // of sizes
	vectors VectorsInfo
	rows    Rows
	edges   func() [][]int // for each file, those that it imports and that import it; computed on first use
}

// file is a file of the commit, with or without chunks.
type file struct {
	path, blob  string
	note        string // why it has no chunks, or only windows; otherwise empty
	imports     []string
	first, next int // its chunks are those in [first, next)
}

// Rows reads what a Source does not hold, in the form in which an Index stores it. It
// identifies chunks by their places in the order of path and line.
type Rows interface {
	// Get returns the values of keys, in their order; empty for a key that does not exist.
	Get(ctx context.Context, keys []string) ([]string, error)
	// Nearest returns the k chunks with the largest cosine to a vector of the right length,
	// best first, ties in order of place. If among is not nil, only chunks for which it is
	// true are considered.
	Nearest(ctx context.Context, vector []float32, k int, among []bool) ([]Near, error)
}

// Key identifies an index stored outside this machine: its repository and commit, how its
// files were chosen and cut (Made), and the model of its vectors.
type Key struct{ Repository, Commit, Made, Model string }

// Near is the place of a chunk that was found, with its score or cosine.
type Near struct {
	Place int
	Score float64
}

// Hit is a chunk that was found, with its score. Larger is better; scores are comparable
// only within one answer.
type Hit struct {
	chunk.Chunk
	Score float64
}

// VectorsInfo describes the vectors of an index.
type VectorsInfo struct {
	Model      string // its embedder's Identity: models are never mixed; empty without vectors
	Dimensions int
	Missing    int // chunks without a vector
}

func newSource(files []file, sizes []uint32, vectors VectorsInfo, rows Rows) *Source {
	sum := 0.0
	for _, n := range sizes {
		sum += float64(n)
	}
	mean := cmp.Or(sum/max(1, float64(len(sizes))), 1)
	x := &Source{files: files, sizes: sizes, mean: mean, vectors: vectors, rows: rows}
	x.edges = sync.OnceValue(x.resolve)
	return x
}

func (x *Source) find(path string) (int, bool) {
	return slices.BinarySearchFunc(x.files, path, func(f file, path string) int {
		return strings.Compare(f.path, path)
	})
}

func (x *Source) pathOf(place int) string {
	return x.files[sort.Search(len(x.files), func(i int) bool { return x.files[i].next > place })].path
}

func (x *Source) chunks(ctx context.Context, places []int) ([]chunk.Chunk, error) {
	keys, all := make([]string, len(places)), make([]chunk.Chunk, len(places))
	for i, n := range places {
		keys[i] = recordKey(n)
	}
	records, err := x.rows.Get(ctx, keys)
	for i, record := range records {
		if record == "" {
			return nil, ErrDamaged
		}
		all[i] = readRecord(x.pathOf(places[i]), record)
	}
	return all, err
}

// counts maps each word that is in the index to its counts, in order of chunk.
func (x *Source) counts(ctx context.Context, words []string) (map[string][]count, error) {
	held, err := x.rows.Get(ctx, words)
	all := make(map[string][]count, len(held))
	for i, packed := range held {
		if packed != "" {
			all[words[i]] = slices.Collect(unpack(packed, len(x.sizes)))
		}
	}
	return all, err
}

// Lexical ranks chunks by the terms of a question (BM25 over chunk.Tokens of prefix
// and text) on paths that Passes lets through. It returns at most k, best first, ties in order of path and line.
func (x *Source) Lexical(ctx context.Context, terms []Term, k int, paths []string) ([]Hit, error) {
	held, err := x.counts(ctx, slices.Concat(terms...))
	if err != nil {
		return nil, err
	}
	all := scores(terms, x.sizes, x.mean, held)
	return x.hits(ctx, best(all, 0, k, x.filterPlaces(paths)))
}

// Similar ranks chunks by the cosine to a vector of the same model, and returns at most k.
// It returns none if the index has no vectors of that length.
func (x *Source) Similar(ctx context.Context, vector []float32, k int, paths []string) ([]Hit, error) {
	if d := x.vectors.Dimensions; d == 0 || len(vector) != d || k <= 0 {
		return nil, ctx.Err()
	}
	near, err := x.rows.Nearest(ctx, vector, k, x.filterPlaces(paths))
	if err != nil {
		return nil, err
	}
	return x.hits(ctx, near)
}

func (x *Source) hits(ctx context.Context, near []Near) ([]Hit, error) {
	places := make([]int, len(near))
	for i, n := range near {
		places[i] = n.Place
	}
	chunks, err := x.chunks(ctx, places)
	hits := make([]Hit, len(chunks))
	for i, c := range chunks {
		hits[i] = Hit{c, near[i].Score}
	}
	return hits, err
}

// filterPlaces returns for each place whether the chunk's path passes; nil if all do.
func (x *Source) filterPlaces(paths []string) []bool {
	if len(paths) == 0 {
		return nil
	}
	passes := make([]bool, len(x.sizes))
	for _, file := range x.files {
		ok := Passes(paths, file.path)
		for n := file.first; n < file.next; n++ {
			passes[n] = ok
		}
	}
	return passes
}

// Passes reports whether a file's path matches one of the globs, as pattern.Matches reads them. Without globs all do.
func Passes(globs []string, file string) bool { return len(globs) == 0 || pattern.Matches(globs, file) }

// Defines maps each name, given without its scope, to the chunks that define it, in order
// of path and line. If most is not 0, it leaves out names that more than most chunks define.
func (x *Source) Defines(ctx context.Context, most int, names ...string) (map[string][]chunk.Chunk, error) {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = definedBy + name
	}
	held, err := x.counts(ctx, words)
	var places []int
	for _, word := range words {
		if most > 0 && len(held[word]) > most {
			delete(held, word)
		}
		for _, c := range held[word] {
			places = append(places, int(c.chunk))
		}
	}
	if err != nil {
		return nil, err
	}
	chunks, err := x.chunks(ctx, places)
	by := map[string][]chunk.Chunk{}
	for i, name := range names {
		if n := len(held[words[i]]); n > 0 && err == nil {
			by[name], chunks = chunks[:n:n], chunks[n:]
		}
	}
	return by, err
}

// Linked lists the files of the commit that a file imports, and those that import it; if
// a package is a folder, every file in it. It goes by names, so it can be wrong.
func (x *Source) Linked(path string) (paths []string) {
	if at, ok := x.find(path); ok {
		for _, i := range slices.Compact(slices.Sorted(slices.Values(x.edges()[at]))) {
			if i != at {
				paths = append(paths, x.files[i].path)
			}
		}
	}
	return paths
}

// In lists the chunks of a file, in order.
func (x *Source) In(ctx context.Context, path string) ([]chunk.Chunk, error) {
	at, ok := x.find(path)
	if !ok {
		return nil, ctx.Err()
	}
	var places []int
	for n := x.files[at].first; n < x.files[at].next; n++ {
		places = append(places, n)
	}
	return x.chunks(ctx, places)
}

// Vectors returns the model and length of the vectors, and how many chunks lack one.
func (x *Source) Vectors() VectorsInfo { return x.vectors }
