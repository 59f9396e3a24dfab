package index

import (
	"cmp"
	"context"
	"iter"
	"math"
	"path"
	"slices"
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
	scores := Scores(terms, x.sizes, x.mean, x.counts)
	return x.best(scores, k, x.keep(f)), ctx.Err()
}

// Scores are those of all chunks by terms (BM25): sizes says how many tokens each chunk
// has, mean what they have on average, of which chunks hold a token and how often.
func Scores(terms []Term, sizes []uint32, mean float64, of func(token string) []Count) []float64 {
	scores := make([]float64, len(sizes))
	held, touched := make([]float64, len(sizes)), []int32(nil)
	for _, term := range terms {
		touched = touched[:0]
		for i, token := range term.Tokens {
			for _, c := range of(token) {
				if held[c.Chunk] == 0 {
					touched = append(touched, c.Chunk)
				}
				held[c.Chunk] += term.Weights[i] * float64(c.Times)
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
	if len(f.Paths) == 0 {
		return nil
	}
	passes := make([]bool, len(x.fileOf))
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
		hits[i] = Hit{x.chunk(c), scores[c]}
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
	v := x.vectors()
	if v.set == nil || len(query) != v.dimensions {
		return nil, ctx.Err()
	}
	var keep func(int) bool
	if passes := x.keep(f); passes != nil {
		keep = func(i int) bool { return passes(int(v.chunks[i])) }
	}
	var hits []Hit
	for _, near := range v.set.Nearest(query, k, keep) {
		hits = append(hits, Hit{x.chunk(int(v.chunks[near.Index])), float64(near.Cosine)})
	}
	return hits, ctx.Err()
}

// Vectors is Source's.
func (x *Index) Vectors(context.Context) (VectorsInfo, error) {
	v := x.vectors()
	return VectorsInfo{v.model, v.dimensions, len(x.fileOf) - len(v.chunks)}, nil
}

// Defines is Source's.
func (x *Index) Defines(ctx context.Context, most int, names ...string) (map[string][]chunk.Chunk, error) {
	by := map[string][]chunk.Chunk{}
	for _, name := range names {
		which := x.held(name, func(l *layer) words { return l.names })
		if len(which) == 0 || most > 0 && len(which) > most || by[name] != nil {
			continue
		}
		for _, c := range which {
			by[name] = append(by[name], x.chunk(int(c.Chunk)))
		}
	}
	return by, ctx.Err()
}

// Mentions is Source's.
func (x *Index) Mentions(ctx context.Context, name string, k int) ([]chunk.Chunk, error) {
	all := x.mentions(name, nil)
	return all[:min(max(k, 0), len(all))], ctx.Err()
}

// mentions are the chunks that hold a name, of those that have its rarest token; those
// first that say little else.
func (x *Index) mentions(name string, keep func(path string) bool) (found []chunk.Chunk) {
	var hits []Hit
	for _, held := range x.holding(name) {
		n := int(held.Chunk)
		if keep != nil && !keep(x.files[x.fileOf[n]].path) {
			continue
		}
		if c := x.chunk(n); Holds(c.Text, name) {
			hits = append(hits, Hit{c, Saturated(float64(held.Times), float64(x.sizes[n])/x.mean)})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	for _, h := range hits {
		found = append(found, h.Chunk)
	}
	return found
}

// holding are the chunks in which a name may be: those of its rarest token, or all
// where it has none.
func (x *Index) holding(name string) (rarest []Count) {
	tokens := chunk.Tokens(name)
	for i, token := range tokens {
		if counts := x.counts(token); i == 0 || len(counts) < len(rarest) {
			rarest = counts
		}
	}
	for n := range x.sizes {
		if len(tokens) == 0 {
			rarest = append(rarest, Count{int32(n), 1})
		}
	}
	return rarest
}

// Holds reports whether a text holds a name as a whole word.
func Holds(text, name string) bool {
	for range Words(text, name) {
		return true
	}
	return false
}

// Words are what follows each place at which a text holds a name as a whole word.
func Words(text, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 0; name != ""; at += len(name) {
			i := strings.Index(text[at:], name)
			if i < 0 {
				return
			}
			at += i
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			after, _ := utf8.DecodeRuneInString(text[at+len(name):])
			if !inWord(before) && !inWord(after) && !yield(text[at+len(name):]) {
				return
			}
		}
	}
}

func inWord(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// Linked is Source's.
func (x *Index) Linked(_ context.Context, file string) (paths []string, _ error) {
	if at, ok := x.find(file); ok {
		for _, i := range slices.Concat(x.edges().out[at], x.edges().in[at]) {
			paths = append(paths, x.files[i].path)
		}
	}
	return paths, nil
}

// TestsOf is Source's.
func (x *Index) TestsOf(ctx context.Context, file string, names []string, k int) ([]chunk.Chunk, error) {
	var own, others []chunk.Chunk
	for _, name := range names {
		for _, c := range x.mentions(name, lang.IsTest) {
			if Tests(c.Path, file) {
				own = append(own, c)
			} else {
				others = append(others, c)
			}
		}
	}
	for _, f := range x.files {
		if len(names) == 0 && Tests(f.path, file) {
			own = append(own, x.in(f.path, 0, math.MaxInt)...)
		}
	}
	return First(append(own, others...), k), ctx.Err()
}

// First are the first k chunks of a list, each once.
func First(all []chunk.Chunk, k int) (kept []chunk.Chunk) {
	seen := map[string]bool{}
	for _, c := range all {
		if id := c.ID(); !seen[id] && len(kept) < k {
			seen[id] = true
			kept = append(kept, c)
		}
	}
	return kept
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

// In is Source's.
func (x *Index) In(_ context.Context, file string, from, to int) ([]chunk.Chunk, error) {
	return x.in(file, from, cmp.Or(to, math.MaxInt)), nil
}

func (x *Index) in(file string, from, to int) (all []chunk.Chunk) {
	at, ok := x.find(file)
	if !ok {
		return nil
	}
	for n := x.files[at].first; n < x.files[at].next; n++ {
		if c := x.chunk(n); c.StartLine <= to && c.EndLine >= from {
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
