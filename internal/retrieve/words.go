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

// pool is how many chunks are ranked by words before tests and nameless pieces are
// put back; the first 40 of them are a list.
const pool = 150

// What a chunk's lexical score is multiplied by where it is of a test, and the
// question is not about tests; and where it defines nothing.
const (
	testFactor     = 0.5
	namelessFactor = 0.8
)

// ranked are the chunks that hold words of the question, best first.
type ranked struct {
	hits  []index.Hit
	place map[string]int // of a chunk in them, from 0
}

// lexical is the list by words.
func (s *search) lexical(ctx context.Context) (r ranked, err error) {
	s.stage("lexical", func() []chunk.Chunk {
		r.hits, err = s.Index.Lexical(ctx, s.question.terms(), max(pool, s.K), s.Filter)
		r.order(s.question)
		return r.best().chunks
	})
	return r, err
}

// order puts tests and nameless pieces back where the question is a sentence.
func (r *ranked) order(q question) {
	if q.hunks == nil && !q.uses {
		ofTests := slices.Contains(chunk.Tokens(q.text), "test")
		for i := range r.hits {
			h := &r.hits[i]
			if !ofTests && lang.IsTest(h.Path) {
				h.Score *= testFactor
			}
			if h.Name == "" {
				h.Score *= namelessFactor
			}
		}
		order.Stable(r.hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	}
	r.place = map[string]int{}
	for i, h := range r.hits {
		r.place[h.ID()] = i
	}
}

// best is the list that is merged.
func (r ranked) best() list {
	return list{rank: lexicalRank, weight: 1, chunks: chunksOf(r.hits[:min(len(r.hits), merged)])}
}

// byWords sorts chunks by their place among those that hold the question's words,
// the others behind them.
func (r ranked) byWords(chunks []chunk.Chunk) []chunk.Chunk {
	type at struct {
		place int
		chunk.Chunk
	}
	sorted := make([]at, len(chunks))
	for i, c := range chunks {
		place, ok := r.place[c.ID()]
		if !ok {
			place = len(r.hits)
		}
		sorted[i] = at{place, c}
	}
	order.Stable(sorted, func(a, b at) int {
		return cmp.Or(cmp.Compare(a.place, b.place), byPlace(a.Chunk, b.Chunk))
	})
	for i := range sorted {
		chunks[i] = sorted[i].Chunk
	}
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
func (s *search) similar(ctx context.Context, vector []float32) (l list, err error) {
	if vector == nil {
		return list{}, nil
	}
	s.stage("vector", func() []chunk.Chunk {
		var hits []index.Hit
		hits, err = s.Index.Similar(ctx, vector, merged, s.Filter)
		l = list{rank: vectorRank, weight: 1, chunks: chunksOf(hits)}
		return l.chunks
	})
	return l, err
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
	definitions, uses := list{rank: symbolRank, weight: 2}, list{rank: structureRank, weight: 1}
	alone := len(s.question.words) <= 3
	names := 0
	var failure error
	s.stage("symbol", func() []chunk.Chunk {
		for _, name := range s.question.words {
			if !alone && !looksCoded(name) {
				continue
			}
			found, err := s.definitions(ctx, false, name)
			if failure = cmp.Or(failure, err); len(found[name]) > 0 {
				names++
				definitions.chunks = append(definitions.chunks, words.byWords(found[name])...)
			}
		}
		s.exactFirst(definitions.chunks)
		return definitions.chunks
	})
	if failure != nil {
		return nil, failure
	}
	if names == 0 || !alone {
		around, err := s.around(ctx, words)
		return append(around, definitions), err
	}
	var err error
	s.stage("structure", func() []chunk.Chunk {
		uses.chunks, err = s.mentions(ctx, s.question.words[len(s.question.words)-1], words)
		return uses.chunks
	})
	return []list{definitions, uses}, err
}

// exactFirst puts the definition first whose scope and name the question spells.
func (s *search) exactFirst(definitions []chunk.Chunk) {
	asked := strings.NewReplacer("::", ".", "#", ".").Replace(strings.TrimSpace(s.question.text))
	exact := func(c chunk.Chunk) int {
		if c.Symbol() == asked || strings.HasSuffix(c.Symbol(), "."+asked) {
			return 0
		}
		return 1
	}
	order.Stable(definitions, func(a, b chunk.Chunk) int { return cmp.Compare(exact(a), exact(b)) })
}

// references are the uses of one name.
func (s *search) references(ctx context.Context, words ranked) (lists []list, err error) {
	s.stage("structure", func() []chunk.Chunk {
		var uses []chunk.Chunk
		uses, err = s.mentions(ctx, s.question.words[0], words)
		lists = []list{{rank: structureRank, weight: 3, chunks: uses}}
		return uses
	})
	return lists, err
}

func chunksOf(hits []index.Hit) (all []chunk.Chunk) {
	for _, h := range hits {
		all = append(all, h.Chunk)
	}
	return all
}
