package index

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
)

// Of BM25: how soon more of a token counts no more, and how much length counts against.
const (
	k1 = 1.2
	b1 = 0.75
)

// Lexical is Source's.
func (x *Index) Lexical(ctx context.Context, terms []Term, k int, f Filter) ([]Hit, error) {
	scores := Scores(terms, x.tokens.sizes, x.tokens.mean, x.tokens.of)
	return x.best(scores, k, x.keep(f)), ctx.Err()
}

// Scores are those of all chunks by terms (BM25): sizes says how many tokens each chunk
// has, mean what they have on average, of which chunks hold a token and how often.
func Scores(terms []Term, sizes []uint32, mean float64, of func(token string) ([]int32, []uint16)) []float64 {
	scores := make([]float64, len(sizes))
	held, touched := make([]float64, len(sizes)), []int32(nil)
	for _, term := range terms {
		touched = touched[:0]
		for i, token := range term.Tokens {
			chunks, times := of(token)
			for j, c := range chunks {
				if held[c] == 0 {
					touched = append(touched, c)
				}
				held[c] += term.Weights[i] * float64(times[j])
			}
		}
		weight := idf(len(sizes), len(touched)) * (1 + math.Log(float64(max(term.Count, 1))))
		for _, c := range touched {
			scores[c] += weight * Saturated(held[c], float64(sizes[c])/mean)
			held[c] = 0
		}
	}
	return scores
}

func idf(all, with int) float64 {
	return math.Log(1 + (float64(all-with)+0.5)/(float64(with)+0.5))
}

// Saturated is what a number of times counts in a chunk of a length, 1 being the mean.
func Saturated(times, length float64) float64 {
	return times * (k1 + 1) / (times + k1*(1-b1+b1*length))
}

// keep reports which chunks a filter lets through; nil for all.
func (x *Index) keep(f Filter) func(chunk int) bool {
	if len(f.Paths) == 0 && len(f.Without) == 0 {
		return nil
	}
	passes := make([]bool, len(x.chunks))
	for _, file := range x.files {
		ok := f.Passes(file.path)
		for i := file.first; i < file.next; i++ {
			passes[i] = ok
		}
	}
	return func(chunk int) bool { return passes[chunk] }
}

// Passes reports whether a filter lets a path through.
func (f Filter) Passes(file string) bool {
	if slices.Contains(f.Without, file) {
		return false
	}
	return len(f.Paths) == 0 || slices.ContainsFunc(f.Paths, func(glob string) bool {
		ok, err := doublestar.Match(glob, file)
		return ok && err == nil
	})
}

// best is the k chunks of the largest scores above 0, equal ones in their order.
func (x *Index) best(scores []float64, k int, keep func(int) bool) []Hit {
	order := Best(scores, k, keep)
	hits := make([]Hit, len(order))
	for i, c := range order {
		hits[i] = Hit{x.chunks[c], scores[c]}
	}
	return hits
}

// Best is the places of the k largest scores above 0, equal ones in their order; where
// keep is not nil, of those alone that it lets through.
func Best(scores []float64, k int, keep func(int) bool) []int {
	var order []int
	worse := func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) }
	for i, s := range scores {
		if s <= 0 || k <= 0 || len(order) == k && s <= scores[order[k-1]] || keep != nil && !keep(i) {
			continue
		}
		if len(order) == k {
			order = order[:k-1]
		}
		at, _ := slices.BinarySearchFunc(order, i, worse)
		order = slices.Insert(order, at, i)
	}
	return order
}

// Similar is Source's.
func (x *Index) Similar(ctx context.Context, query []float32, k int, f Filter) ([]Hit, error) {
	v := &x.vectors
	if v.set == nil || len(query) != v.dimensions {
		return nil, ctx.Err()
	}
	var keep func(int) bool
	if passes := x.keep(f); passes != nil {
		keep = func(i int) bool { return passes(int(v.chunks[i])) }
	}
	var hits []Hit
	for _, near := range v.set.Nearest(query, k, keep) {
		hits = append(hits, Hit{x.chunks[v.chunks[near.Index]], float64(near.Cosine)})
	}
	return hits, ctx.Err()
}

// Vectors is Source's.
func (x *Index) Vectors(context.Context) (VectorsInfo, error) {
	return VectorsInfo{x.vectors.model, x.vectors.dimensions, len(x.chunks) - len(x.vectors.chunks)}, nil
}

// Defines is Source's.
func (x *Index) Defines(ctx context.Context, most int, names ...string) (map[string][]chunk.Chunk, error) {
	by := map[string][]chunk.Chunk{}
	for _, name := range names {
		if which := x.defines[name]; len(which) > 0 && (most == 0 || len(which) <= most) {
			by[name] = x.these(slices.Compact(slices.Clone(which)))
		}
	}
	return by, ctx.Err()
}

func (x *Index) these(which []int32) []chunk.Chunk {
	all := make([]chunk.Chunk, len(which))
	for i, c := range which {
		all[i] = x.chunks[c]
	}
	return all
}

// Mentions is Source's.
func (x *Index) Mentions(ctx context.Context, name string, k int) ([]chunk.Chunk, error) {
	return x.these(x.mentions(name, k, nil)), ctx.Err()
}

// mentions looks for a name in the chunks that have its rarest token, those first that
// say little else.
func (x *Index) mentions(name string, k int, keep func(string) bool) []int32 {
	var found []int32
	var scores []float64
	chunks, times := x.holding(name)
	for i, c := range chunks {
		if (keep == nil || keep(x.chunks[c].Path)) && Holds(x.chunks[c].Text, name) {
			found = append(found, c)
			scores = append(scores, Saturated(float64(times[i]), float64(x.tokens.sizes[c])/x.tokens.mean))
		}
	}
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var best []int32
	for _, i := range order[:min(max(k, 0), len(order))] {
		best = append(best, found[i])
	}
	return best
}

// holding are the chunks in which a name may be: those of its rarest token, or all
// where it has none.
func (x *Index) holding(name string) (chunks []int32, times []uint16) {
	rarest, found := "", false
	for _, token := range chunk.Tokens(name) {
		n, _ := x.tokens.of(token)
		if before, _ := x.tokens.of(rarest); !found || len(n) < len(before) {
			rarest, found = token, true
		}
	}
	if found {
		return x.tokens.of(rarest)
	}
	for i := range x.chunks {
		chunks, times = append(chunks, int32(i)), append(times, 1)
	}
	return chunks, times
}

// Holds reports whether a text holds a name as a whole word.
func Holds(text, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at += i + len(name)
	}
	return false
}

func inWord(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Imports is Source's.
func (x *Index) Imports(_ context.Context, file string) ([]string, error) {
	return x.linked(file, x.edges().out), nil
}

// ImportedBy is Source's.
func (x *Index) ImportedBy(_ context.Context, file string) ([]string, error) {
	return x.linked(file, x.edges().in), nil
}

func (x *Index) linked(file string, to [][]int) []string {
	at, ok := x.at[file]
	if !ok {
		return nil
	}
	var paths []string
	for _, i := range to[at] {
		paths = append(paths, x.files[i].path)
	}
	return paths
}

// TestsOf is Source's.
func (x *Index) TestsOf(ctx context.Context, file string, names []string, k int) ([]chunk.Chunk, error) {
	own, others := []int32{}, []int32{}
	for _, name := range names {
		for _, c := range x.mentions(name, len(x.chunks), lang.IsTest) {
			if Tests(x.chunks[c].Path, file) {
				own = append(own, c)
			} else {
				others = append(others, c)
			}
		}
	}
	if len(names) == 0 {
		for i, c := range x.chunks {
			if Tests(c.Path, file) {
				own = append(own, int32(i))
			}
		}
	}
	var all []int32
	for _, c := range append(own, others...) {
		if len(all) < k && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return x.these(all), ctx.Err()
}

// Tests reports whether a file is of the tests that are named after another one.
func Tests(test, file string) bool {
	return lang.IsTest(test) && test != file && family(test) == family(file) && tested(test) == tested(file)
}

// tested is the name of a file without what makes it one of tests.
func tested(file string) string {
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for _, mark := range []string{"_test", ".test", ".spec", "_spec", "-test", "Tests", "Test"} {
		base = strings.TrimSuffix(base, mark)
	}
	return strings.TrimPrefix(base, "test_")
}

// Chunk is Source's.
func (x *Index) Chunk(_ context.Context, id string) (chunk.Chunk, bool, error) {
	colon := strings.LastIndexByte(id, ':')
	first, _, ok := strings.Cut(id[colon+1:], "-")
	line, err := strconv.Atoi(first)
	if colon < 0 || !ok || err != nil {
		return chunk.Chunk{}, false, nil
	}
	for _, c := range x.in(id[:colon], line, line) {
		if c.ID() == id {
			return c, true, nil
		}
	}
	return chunk.Chunk{}, false, nil
}

// In is Source's.
func (x *Index) In(_ context.Context, file string, from, to int) ([]chunk.Chunk, error) {
	return x.in(file, from, cmp.Or(to, math.MaxInt)), nil
}

func (x *Index) in(file string, from, to int) []chunk.Chunk {
	at, ok := x.at[file]
	if !ok {
		return nil
	}
	var all []chunk.Chunk
	for _, c := range x.chunks[x.files[at].first:x.files[at].next] {
		if c.StartLine <= to && c.EndLine >= from {
			all = append(all, c)
		}
	}
	return all
}

// Paths is Source's.
func (x *Index) Paths(context.Context) ([]string, error) {
	var all []string
	for _, f := range x.files {
		if f.next > f.first {
			all = append(all, f.path)
		}
	}
	return all, nil
}
