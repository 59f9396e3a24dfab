package pgindex

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/lang"
)

// Source answers questions about one index. What files there are and how long chunks
// are it holds in memory, all else stays in the database.
type Source struct {
	store  *Store
	schema string
	info   index.VectorsInfo
	mean   float64
	sizes  []uint32
	files  []index.File
	places map[string]int // of paths, in files
	by     [][]int        // who imports a file
}

var _ index.Source = (*Source)(nil)

// Report says what the index is made of, all of which was there.
func (x *Source) Report() index.Report {
	r := index.Report{Chunks: len(x.sizes), Skipped: map[string]int{}}
	for _, f := range x.files {
		if f.Next > f.First {
			r.Files++
		}
	}
	r.Reused = r.Files
	return r
}

func (x *Source) readFiles(ctx context.Context) error {
	rows, err := x.store.pool.Query(ctx, `SELECT path, first, next, imports FROM `+x.schema+`.file ORDER BY n`)
	if err != nil {
		return err
	}
	var path []byte
	var first, next int
	var imports []int32
	_, err = pgx.ForEachRow(rows, []any{&path, &first, &next, &imports}, func() error {
		f := index.File{Path: string(path), First: first, Next: next}
		for _, to := range imports {
			f.Imports = append(f.Imports, int(to))
		}
		x.places[f.Path] = len(x.files)
		x.files = append(x.files, f)
		return nil
	})
	x.by = make([][]int, len(x.files))
	for i, f := range x.files {
		for _, to := range f.Imports {
			x.by[to] = append(x.by[to], i)
		}
	}
	return err
}

// asked is the context of one question.
func asked(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, queryTime)
}

// Lexical is index.Source's. The counts come from the database and are scored here, as
// index.Index does: a rank of full-text search knows no rare words, and could not agree.
func (x *Source) Lexical(ctx context.Context, terms []index.Term, k int, f index.Filter) ([]index.Hit, error) {
	var tokens []string
	for _, t := range terms {
		tokens = append(tokens, t.Tokens...)
	}
	held, err := x.postings(ctx, tokens)
	if err != nil {
		return nil, err
	}
	scores := index.Scores(terms, x.sizes, x.mean, func(token string) ([]int32, []uint16) {
		return held[token].Chunks, held[token].Times
	})
	best := index.Best(scores, k, x.keep(f))
	return x.hits(ctx, best, func(n int) float64 { return scores[n] })
}

// postings reads those of some tokens.
func (x *Source) postings(ctx context.Context, tokens []string) (map[string]index.Posting, error) {
	ctx, cancel := asked(ctx)
	defer cancel()
	all := map[string]index.Posting{}
	rows, err := x.store.pool.Query(ctx, `SELECT token, held FROM `+x.schema+`.posting WHERE token = ANY($1)`,
		append([]string{}, tokens...))
	if err != nil {
		return nil, x.store.explain("searching words", err)
	}
	var token string
	var packed []byte
	_, err = pgx.ForEachRow(rows, []any{&token, &packed}, func() error {
		p := index.Posting{Token: token}
		for last := int32(-1); len(packed) > 0; {
			step, n := binary.Uvarint(packed)
			times, m := binary.Uvarint(packed[max(n, 0):])
			if last += int32(step); n <= 0 || m <= 0 || last < 0 || int(last) >= len(x.sizes) {
				return fmt.Errorf("the counts of %q are damaged", token)
			}
			packed = packed[n+m:]
			p.Chunks, p.Times = append(p.Chunks, last), append(p.Times, uint16(times))
		}
		all[token] = p
		return nil
	})
	return all, x.store.explain("searching words", err)
}

// keep reports which chunks a filter lets through; nil for all.
func (x *Source) keep(f index.Filter) func(n int) bool {
	if len(f.Paths) == 0 && len(f.Without) == 0 {
		return nil
	}
	passes := make([]bool, len(x.sizes))
	for _, file := range x.files {
		ok := f.Passes(file.Path)
		for n := file.First; n < file.Next; n++ {
			passes[n] = ok
		}
	}
	return func(n int) bool { return passes[n] }
}

func (x *Source) hits(ctx context.Context, best []int, score func(n int) float64) ([]index.Hit, error) {
	chunks, err := x.chunks(ctx, best)
	var hits []index.Hit
	for i, c := range chunks {
		hits = append(hits, index.Hit{Chunk: c, Score: score(best[i])})
	}
	return hits, err
}

// chunks reads chunks by their places, in the order in which they are asked for.
func (x *Source) chunks(ctx context.Context, places []int) ([]chunk.Chunk, error) {
	if len(places) == 0 {
		return nil, ctx.Err()
	}
	ctx, cancel := asked(ctx)
	defer cancel()
	wanted := make([]int32, len(places))
	for i, n := range places {
		wanted[i] = int32(n)
	}
	rows, err := x.store.pool.Query(ctx, `SELECT n, path, start_line, end_line, kind, language, scope, name, signature,
		doc, text, defines FROM `+x.schema+`.chunk WHERE n = ANY($1)`, wanted)
	if err != nil {
		return nil, x.store.explain("reading chunks", err)
	}
	read := map[int]chunk.Chunk{}
	var c chunk.Chunk
	var n int
	var kind string
	var texts [7][]byte
	_, err = pgx.ForEachRow(rows, []any{&n, &texts[0], &c.StartLine, &c.EndLine, &kind, &c.Language, &texts[1],
		&texts[2], &texts[3], &texts[4], &texts[5], &texts[6]}, func() error {
		c.Kind, c.Path, c.Scope, c.Name = chunk.Kind(kind), string(texts[0]), string(texts[1]), string(texts[2])
		c.Signature, c.Doc, c.Text = string(texts[3]), string(texts[4]), string(texts[5])
		c.Defines = nil
		if len(texts[6]) > 0 {
			c.Defines = strings.Split(string(texts[6]), "\n")
		}
		read[n] = c
		return nil
	})
	all := make([]chunk.Chunk, 0, len(places))
	for _, n := range places {
		all = append(all, read[n])
	}
	if err == nil && len(read) < len(places) {
		err = fmt.Errorf("%d chunks are missing", len(places)-len(read))
	}
	return all, x.store.explain("reading chunks", err)
}

// Similar is index.Source's. HNSW is nearly exact; where paths are filtered it is not
// asked, since it may leave too few, and all that pass are compared.
func (x *Source) Similar(ctx context.Context, vector []float32, k int, f index.Filter) ([]index.Hit, error) {
	if x.info.Dimensions == 0 || len(vector) != x.info.Dimensions || k <= 0 {
		return nil, ctx.Err()
	}
	limited, cancel := asked(ctx)
	defer cancel()
	from, args := x.schema+".vector", []any{literal(vector), k}
	if keep := x.keep(f); keep != nil {
		var passing []int32
		for n := range x.sizes {
			if keep(n) {
				passing = append(passing, int32(n))
			}
		}
		from = "(SELECT n, embedding FROM " + from + " WHERE n = ANY($3) OFFSET 0)"
		args = append(args, passing)
	}
	kind := "vector"
	if x.info.Dimensions >= halfFrom {
		kind = "halfvec"
	}
	// some more are asked for than are wanted, so that equal ones come in their order
	rows, err := x.store.pool.Query(limited, fmt.Sprintf(`SELECT n, 1 - d FROM (SELECT n, embedding <=> $1::%s AS d
		FROM %s v ORDER BY d LIMIT $2 + 40) near ORDER BY d, n LIMIT $2`, kind, from), args...)
	if err != nil {
		return nil, x.store.explain("searching vectors", err)
	}
	var places []int
	cosines := map[int]float64{}
	var n int
	var cosine float64
	_, err = pgx.ForEachRow(rows, []any{&n, &cosine}, func() error {
		places, cosines[n] = append(places, n), cosine
		return nil
	})
	if err != nil {
		return nil, x.store.explain("searching vectors", err)
	}
	return x.hits(ctx, places, func(n int) float64 { return cosines[n] })
}

// Vectors is index.Source's.
func (x *Source) Vectors(context.Context) (index.VectorsInfo, error) {
	info := x.info
	if info.Dimensions == 0 {
		info.Missing = len(x.sizes)
	}
	return info, nil
}

// Defines is index.Source's.
func (x *Source) Defines(ctx context.Context, names ...string) ([]chunk.Chunk, error) {
	limited, cancel := asked(ctx)
	defer cancel()
	asked := make([][]byte, len(names))
	for i, name := range names {
		asked[i] = []byte(name)
	}
	rows, err := x.store.pool.Query(limited, `SELECT DISTINCT n FROM `+x.schema+`.definition WHERE name = ANY($1)
		ORDER BY n`, asked)
	if err != nil {
		return nil, x.store.explain("looking for definitions", err)
	}
	places, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil, x.store.explain("looking for definitions", err)
	}
	return x.chunks(ctx, places)
}

// Mentions is index.Source's.
func (x *Source) Mentions(ctx context.Context, name string, k int) ([]chunk.Chunk, error) {
	return x.mentions(ctx, name, k, nil)
}

// mentions looks for a name in the chunks that hold its rarest token, in the order in
// which they are wanted, until there are enough.
func (x *Source) mentions(ctx context.Context, name string, k int, keep func(path string) bool) ([]chunk.Chunk, error) {
	candidates, err := x.holding(ctx, name, keep)
	var found []chunk.Chunk
	for some := range slices.Chunk(candidates, rowsAtATime) {
		if err != nil || len(found) >= k {
			break
		}
		var chunks []chunk.Chunk
		chunks, err = x.chunks(ctx, some)
		for _, c := range chunks {
			if len(found) < k && index.Holds(c.Text, name) {
				found = append(found, c)
			}
		}
	}
	return found, err
}

// holding are the chunks in which a name may be, those first that say little else.
func (x *Source) holding(ctx context.Context, name string, keep func(path string) bool) ([]int, error) {
	tokens := chunk.Tokens(name)
	held, err := x.postings(ctx, tokens)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(x.sizes))
	if len(tokens) == 0 {
		for n := range scores {
			scores[n] = index.Saturated(1, float64(x.sizes[n])/x.mean)
		}
	} else {
		rarest := held[slices.MinFunc(tokens, func(a, b string) int {
			return cmp.Compare(len(held[a].Chunks), len(held[b].Chunks))
		})]
		for i, n := range rarest.Chunks {
			scores[n] = index.Saturated(float64(rarest.Times[i]), float64(x.sizes[n])/x.mean)
		}
	}
	if keep != nil {
		for _, f := range x.files {
			if !keep(f.Path) {
				clear(scores[f.First:f.Next])
			}
		}
	}
	var order []int
	for n, s := range scores {
		if s > 0 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order, nil
}

// Imports is index.Source's.
func (x *Source) Imports(_ context.Context, path string) ([]string, error) {
	at, ok := x.places[path]
	if !ok {
		return nil, nil
	}
	return x.paths(x.files[at].Imports), nil
}

// ImportedBy is index.Source's.
func (x *Source) ImportedBy(_ context.Context, path string) ([]string, error) {
	at, ok := x.places[path]
	if !ok {
		return nil, nil
	}
	return x.paths(x.by[at]), nil
}

func (x *Source) paths(places []int) (all []string) {
	for _, i := range places {
		all = append(all, x.files[i].Path)
	}
	return all
}

// TestsOf is index.Source's.
func (x *Source) TestsOf(ctx context.Context, path string, names []string, k int) ([]chunk.Chunk, error) {
	var own, others []chunk.Chunk
	for _, name := range names {
		found, err := x.mentions(ctx, name, math.MaxInt, lang.IsTest)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if index.Tests(c.Path, path) {
				own = append(own, c)
			} else {
				others = append(others, c)
			}
		}
	}
	for _, f := range x.files {
		if len(names) > 0 || !index.Tests(f.Path, path) {
			continue
		}
		found, err := x.In(ctx, f.Path, 0, 0)
		if err != nil {
			return nil, err
		}
		own = append(own, found...)
	}
	var all []chunk.Chunk
	seen := map[string]bool{}
	for _, c := range append(own, others...) {
		if len(all) < k && !seen[c.ID()] {
			seen[c.ID()] = true
			all = append(all, c)
		}
	}
	return all, nil
}

// Chunk is index.Source's.
func (x *Source) Chunk(ctx context.Context, id string) (chunk.Chunk, bool, error) {
	colon := strings.LastIndexByte(id, ':')
	first, _, _ := strings.Cut(id[colon+1:], "-")
	line, err := strconv.Atoi(first)
	if colon < 0 || err != nil {
		return chunk.Chunk{}, false, nil
	}
	all, err := x.In(ctx, id[:colon], line, line)
	if at := slices.IndexFunc(all, func(c chunk.Chunk) bool { return c.ID() == id }); at >= 0 {
		return all[at], true, err
	}
	return chunk.Chunk{}, false, err
}

// In is index.Source's.
func (x *Source) In(ctx context.Context, path string, from, to int) ([]chunk.Chunk, error) {
	at, ok := x.places[path]
	if !ok {
		return nil, ctx.Err()
	}
	var places []int
	for n := x.files[at].First; n < x.files[at].Next; n++ {
		places = append(places, n)
	}
	all, err := x.chunks(ctx, places)
	return slices.DeleteFunc(all, func(c chunk.Chunk) bool {
		return c.StartLine > cmp.Or(to, math.MaxInt) || c.EndLine < from
	}), err
}

// Paths is index.Source's.
func (x *Source) Paths(context.Context) ([]string, error) {
	var all []string
	for _, f := range x.files {
		if f.Next > f.First {
			all = append(all, f.Path)
		}
	}
	return all, nil
}
