package index

import (
	"cmp"
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
)

// mostAtATime is how many chunks are read at once, at most.
const mostAtATime = 2_000

// Mentions lists at most k chunks whose text holds a name as a whole word, including
// those that define it. Chunks that say little else come first. If keep is not
// nil, only chunks whose path it accepts are listed.
func (x *Source) Mentions(ctx context.Context, name string, k int, keep func(path string) bool) ([]chunk.Chunk, error) {
	candidates, err := x.chunksWithName(ctx, name, keep)
	var found []chunk.Chunk
	for n := min(k, mostAtATime/2); len(candidates) > 0 && err == nil && len(found) < k; {
		n = min(2*n, mostAtATime, len(candidates)) // most candidates hold it
		var chunks []chunk.Chunk
		chunks, err = x.chunks(ctx, candidates[:n])
		candidates = candidates[n:]
		for _, c := range chunks {
			if len(found) < k && lang.WordAt(c.Text, name) >= 0 {
				found = append(found, c)
			}
		}
	}
	return found, cmp.Or(err, ctx.Err())
}

// chunksWithName returns the places of the chunks that may hold a name: those with its rarest
// token, or all if it has no token. Chunks that say little else come first.
func (x *Source) chunksWithName(ctx context.Context, name string, keep func(path string) bool) (places []int,
	err error) {
	tokens := chunk.Tokens(name)
	held, err := x.counts(ctx, tokens)
	if err != nil {
		return nil, err
	}
	var rarest []count
	if len(tokens) > 0 {
		rarest = held[slices.MinFunc(tokens, func(a, b string) int { return cmp.Compare(len(held[a]), len(held[b])) })]
	} else {
		for n := range x.sizes {
			rarest = append(rarest, count{int32(n), 1})
		}
	}
	score := func(c count) float64 { return saturated(float64(c.times), float64(x.sizes[c.chunk])/x.mean) }
	slices.SortStableFunc(rarest, func(a, b count) int { return cmp.Compare(score(b), score(a)) })
	for _, c := range rarest {
		if keep == nil || keep(x.pathOf(int(c.chunk))) {
			places = append(places, int(c.chunk))
		}
	}
	return places, nil
}

// TestsOf lists at most k chunks of tests that mention one of the names; without names, those of test files that are
// named after the path.
func (x *Source) TestsOf(ctx context.Context, path string, names []string, k int) ([]chunk.Chunk, error) {
	var all []chunk.Chunk
	for _, name := range names {
		found, err := x.Mentions(ctx, name, math.MaxInt, lang.IsTest)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(names) == 0 {
		for _, test := range x.testsNamedAfter(path) {
			found, err := x.In(ctx, test)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return First(all, k), ctx.Err()
}

// First returns the first k distinct chunks of a list, which it changes.
func First(all []chunk.Chunk, k int) []chunk.Chunk {
	all = order.Unique(all, chunk.Chunk.ID)
	return all[:min(len(all), k)]
}

// alike is how many files a name can tell apart.
const alike = 3

// testsNamedAfter lists the test files that are named after a file. If more than alike files have the name, such as
// main.tf, those in folders of other names are of other packages; so are settings of one name, such as package.json.
func (x *Source) testsNamedAfter(file string) []string {
	name, language, kind := testedName(file), family(file), lang.Of(file).Kind
	var others []string
	for _, f := range x.files {
		if f.path != file && testedName(f.path) == name && family(f.path) == language {
			others = append(others, f.path)
		}
	}
	common := len(others) >= alike
	return slices.DeleteFunc(others, func(other string) bool {
		return !lang.IsTest(other) || common && folder(other) != folder(file) ||
			kind != lang.Code && path.Base(other) == path.Base(file)
	})
}

// folder returns the name of the innermost folder of a file that is not one for tests.
func folder(file string) string {
	dir := path.Dir(file)
	for lang.IsTest(path.Base(dir) + "/") {
		dir = path.Dir(dir)
	}
	return path.Base(dir)
}

// testedName returns the base name of a file without its extension and the marks of a test.
func testedName(file string) string {
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for _, mark := range []string{"_test", ".test", ".spec", "_spec", "-test", "Tests", "Test"} {
		base = strings.TrimSuffix(base, mark)
	}
	return strings.TrimPrefix(base, "test_")
}
