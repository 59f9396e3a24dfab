package retrieve

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/order"
)

// Bounds of what a search follows.
const (
	mentioned  = 200 // chunks that mention a name
	ambiguous  = 3   // definitions of a name; one with more says nothing
	rareWithin = 12  // chunks that mention a removed name; one with more says nothing
)

func (s *search) admitted(chunks []chunk.Chunk) []chunk.Chunk {
	return removeMatching(chunks, func(c chunk.Chunk) bool { return !index.Passes(s.Paths, c.Path) })
}

// mentions returns the chunks that hold a name and do not just define it, at most merged of them:
// those that call it first, and within each group in the order of the list by words. It also reports whether
// it went through all of them.
func (s *search) mentions(ctx context.Context, name string, words ranked) (found []chunk.Chunk, all bool) {
	found, err := s.Index.Mentions(ctx, name, mentioned)
	s.check(err)
	all = len(found) < mentioned
	found = slices.DeleteFunc(s.admitted(found), func(c chunk.Chunk) bool {
		// A handler often has the name of what it calls.
		return slices.Contains(c.Defines, name) && (s.hidden[c.ID()] || !strings.Contains(c.Text, "."+name+"("))
	})
	found = order.Ahead(words.byWords(found), func(c chunk.Chunk) bool { return strings.Contains(c.Text, name+"(") })
	found = order.Ahead(found, func(c chunk.Chunk) bool { return !slices.Contains(c.Defines, name) })
	return found[:min(len(found), merged)], all
}

// aroundHits follows the hits of a sentence: what they call is often what was asked for, and
// a file with many hits is more likely to have it.
func (s *search) aroundHits(ctx context.Context, words ranked) []list {
	called := s.stage("structure", s.calledDefinitions(ctx, words))
	files := words.byFile(slices.Concat(called, words.best().chunks))
	return []list{{"structure", 0.5, called}, {"", 0.4, files}}
}

// calledDefinitions returns the definitions of the names that the best hits mention, those of the
// best hit first.
func (s *search) calledDefinitions(ctx context.Context, words ranked) (all []chunk.Chunk) {
	best := words.best().chunks
	named := make([][]string, len(best))
	for i, c := range best {
		named[i] = chunk.Identifiers(c.Text)
	}
	by := s.definitions(ctx, slices.Concat(named...)...)
	for i, c := range best {
		var next []chunk.Chunk
		for _, name := range named[i] {
			next = append(next, removeMatching(by[name], func(d chunk.Chunk) bool { return d.ID() == c.ID() })...)
		}
		all = append(all, words.byWords(next)...)
	}
	return first(all)
}

// first returns the first distinct chunks of a list, which it changes, at most merged of them.
func first(all []chunk.Chunk) []chunk.Chunk {
	all = order.Unique(all, chunk.Chunk.ID)
	return all[:min(len(all), merged)]
}

// definitions maps names to their definitions in the filtered paths. It leaves out names of
// less than three bytes and those with many definitions: they say nothing.
func (s *search) definitions(ctx context.Context, names ...string) map[string][]chunk.Chunk {
	names = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))),
		func(name string) bool { return len(name) < 3 })
	by, err := s.Index.Defines(ctx, ambiguous, names...)
	s.check(err)
	for name := range by {
		by[name] = s.admitted(by[name])
	}
	return by
}

// byFile sorts chunks by the worth of their files: the sum of the scores of the three best
// hits in each.
func (r ranked) byFile(chunks []chunk.Chunk) []chunk.Chunk {
	worth, count := map[string]float64{}, map[string]int{}
	for _, h := range r.hits {
		if count[h.Path]++; count[h.Path] <= 3 {
			worth[h.Path] += h.Score
		}
	}
	order.Stable(chunks, func(a, b chunk.Chunk) int {
		return cmp.Or(cmp.Compare(worth[b.Path], worth[a.Path]), cmp.Compare(a.Path, b.Path))
	})
	return chunks
}
