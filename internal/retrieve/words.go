package retrieve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/lang"
	"github.com/org/pr-review-action/internal/order"
)

// pool is how many chunks are ranked by words before tests are put back; the first 40
// of them are a list.
const pool = 150

// testFactor is what the lexical score of a test's chunk is multiplied by where the
// question is a sentence that is not about tests.
const testFactor = 0.5

// ranked are the chunks that hold words of the question, best first.
type ranked struct {
	hits  []index.Hit
	place map[string]int // of a chunk in them, below 0; that of any other chunk is 0
}

// lexical is the list by words.
func (s *search) lexical(ctx context.Context) (r ranked, err error) {
	_, err = s.stage("lexical", func() ([]chunk.Chunk, error) {
		r.hits, err = s.Index.Lexical(ctx, s.question.terms(), max(pool, s.K), s.Filter)
		if s.question.sentence() && !slices.Contains(chunk.Tokens(s.question.text), "test") {
			for i, h := range r.hits {
				if lang.IsTest(h.Path) {
					r.hits[i].Score *= testFactor
				}
			}
			order.Stable(r.hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
		}
		r.place = map[string]int{}
		for i, h := range r.hits {
			r.place[h.ID()] = i - len(r.hits)
		}
		return r.best().chunks, err
	})
	return r, err
}

// best is the list that is merged.
func (r ranked) best() list {
	return list{name: "lexical", weight: 1, chunks: chunksOf(r.hits[:min(len(r.hits), merged)])}
}

// byWords sorts chunks by their place among those that hold the question's words,
// the others behind them.
func (r ranked) byWords(chunks []chunk.Chunk) []chunk.Chunk {
	order.Stable(chunks, func(a, b chunk.Chunk) int {
		return cmp.Or(cmp.Compare(r.place[a.ID()], r.place[b.ID()]), byPlace(a, b))
	})
	return chunks
}

// embed is the question's vector, nil where nothing embeds or it could not.
func (s *search) embed(ctx context.Context) []float32 {
	if s.Embedder == nil {
		return nil
	}
	if s.Index.Vectors().Model != s.Embedder.Identity() { // of another model, or none: never mixed
		s.note("nothing was searched by meaning: the index has no vectors of this model", nil)
		return nil
	}
	vectors, err := s.Embedder.Embed(ctx, []string{s.question.text}, true)
	if err == nil && len(vectors) == 1 {
		return vectors[0]
	}
	s.note("nothing was searched by meaning: the embeddings endpoint did not answer", err)
	return nil
}

// similar is the list by meaning.
func (s *search) similar(ctx context.Context, vector []float32) (list, error) {
	if vector == nil {
		return list{}, nil
	}
	chunks, err := s.stage("vector", func() ([]chunk.Chunk, error) {
		hits, err := s.Index.Similar(ctx, vector, merged, s.Filter)
		return chunksOf(hits), err
	})
	return list{name: "vector", weight: 1, chunks: chunks}, err
}

// note says what did not answer; a cause that has words of its own for it says so itself.
func (s *search) note(text string, cause error) {
	var said interface{ Note() string }
	switch {
	case errors.As(cause, &said):
		text = said.Note()
	case cause != nil:
		text += ": " + cause.Error()
	}
	s.result.Notes = append(s.result.Notes, text)
}

// named is what the names in a question lead to: their definitions and who mentions
// them; and what a sentence's hits call, and the files that have many of them.
func (s *search) named(ctx context.Context, words ranked) ([]list, error) {
	names := s.question.words
	alone := len(names) <= 3
	definitions, err := s.stage("symbol", func() (all []chunk.Chunk, err error) {
		coded := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !alone && !looksCoded(name) })
		by, err := s.Index.Defines(ctx, 0, coded...)
		for _, name := range coded {
			all = append(all, words.byWords(s.admitted(by[name]))...)
		}
		return s.exactFirst(all), err
	})
	if err != nil {
		return nil, err
	}
	lists := []list{{name: "symbol", weight: 2, chunks: definitions}}
	if len(definitions) == 0 || !alone {
		around, err := s.around(ctx, words)
		return append(around, lists...), err
	}
	uses, err := s.uses(ctx, names[len(names)-1], words)
	return append(lists, list{name: "structure", weight: 1, chunks: uses}), err
}

// exactFirst puts the definition first whose scope and name the question spells.
func (s *search) exactFirst(definitions []chunk.Chunk) []chunk.Chunk {
	asked := strings.NewReplacer("::", ".", "#", ".").Replace(strings.TrimSpace(s.question.text))
	return index.Ahead(definitions, func(c chunk.Chunk) bool {
		return c.Symbol() == asked || strings.HasSuffix(c.Symbol(), "."+asked)
	})
}

// uses is the stage of those who mention a name.
func (s *search) uses(ctx context.Context, name string, words ranked) ([]chunk.Chunk, error) {
	return s.stage("structure", func() ([]chunk.Chunk, error) { return s.mentions(ctx, name, words) })
}

func chunksOf(hits []index.Hit) (all []chunk.Chunk) {
	for _, h := range hits {
		all = append(all, h.Chunk)
	}
	return all
}
