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

// pool is the number of chunks that are ranked by words before those of tests are demoted; the first
// 40 then form the list.
const pool = 150

// testFactor is the factor for the lexical score of a test's chunk if the question is a
// sentence that is not about tests.
const testFactor = 0.5

// ranked holds the chunks with words of the question, best first.
type ranked struct {
	hits  []index.Hit
	place map[string]int // by chunk ID, below 0 for hits, so that other chunks, at 0, sort last
}

// lexical runs the search by words.
func (s *search) lexical(ctx context.Context) ranked {
	hits, err := s.Index.Lexical(ctx, s.question.terms(), max(pool, s.K), s.Paths)
	s.check(err)
	if s.question.isSentence() && !slices.Contains(chunk.Tokens(s.question.text), "test") {
		for i, h := range hits {
			if lang.IsTest(h.Path) {
				hits[i].Score *= testFactor
			}
		}
		order.Stable(hits, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	}
	r := ranked{hits, map[string]int{}}
	for i, h := range hits {
		r.place[h.ID()] = i - len(hits)
	}
	s.stage("lexical", r.best().chunks)
	return r
}

// best returns the list that is merged.
func (r ranked) best() list {
	return list{"lexical", 1, chunksOf(r.hits[:min(len(r.hits), merged)])}
}

// byWords sorts chunks by their place in r, and puts those that are not in it last.
func (r ranked) byWords(chunks []chunk.Chunk) []chunk.Chunk {
	order.Stable(chunks, func(a, b chunk.Chunk) int {
		return cmp.Or(cmp.Compare(r.place[a.ID()], r.place[b.ID()]), compareByPlace(a, b))
	})
	return chunks
}

// Embedder turns texts into vectors of one model. Its implementations bound,
// redact, price and journal what they send.
type Embedder interface {
	// Embed returns one vector of length 1 for each text, all of the same dimension. query
	// tells it that the texts are queries, not documents: some models embed them differently.
	Embed(ctx context.Context, texts []string, query bool) ([][]float32, error)
	// Identity names the model and its dimensions. Only vectors of the same identity are compared.
	Identity() string
}

// embed returns the question's vector; nil if there is no embedder, or it could not be used.
func (s *search) embed(ctx context.Context) []float32 {
	if s.Embedder == nil || s.err != nil {
		return nil
	}
	if s.Index.Vectors().Model != s.Embedder.Identity() { // another model, or no vectors: never mixed
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

// similar runs the search by meaning.
func (s *search) similar(ctx context.Context, vector []float32) list {
	if vector == nil {
		return list{}
	}
	hits, err := s.Index.Similar(ctx, vector, merged, s.Paths)
	s.check(err)
	return list{"vector", 1, s.stage("vector", chunksOf(hits))}
}

// note adds a note on what did not answer. If the cause has a Note method, its text is used instead.
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

// nameLists returns the lists for the names in a question: their definitions, and the mentions
// of the last name. With more than three names, or without a definition, it returns the lists
// of aroundHits in place of the mentions.
func (s *search) nameLists(ctx context.Context, words ranked) []list {
	names := s.question.words
	alone := len(names) <= 3
	coded := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !alone && !looksCoded(name) })
	by, err := s.Index.Defines(ctx, 0, coded...)
	s.check(err)
	var definitions []chunk.Chunk
	for _, name := range coded {
		definitions = append(definitions, words.byWords(s.admitted(by[name]))...)
	}
	symbols := list{"symbol", 2, s.stage("symbol", s.exactFirst(definitions))}
	if len(definitions) == 0 || !alone {
		return append(s.aroundHits(ctx, words), symbols)
	}
	return []list{symbols, {"structure", 1, s.mentionStage(ctx, names[len(names)-1], words)}}
}

// exactFirst puts the definitions first whose scope and name the question spells out.
func (s *search) exactFirst(definitions []chunk.Chunk) []chunk.Chunk {
	asked := strings.NewReplacer("::", ".", "#", ".").Replace(strings.TrimSpace(s.question.text))
	return order.Ahead(definitions, func(c chunk.Chunk) bool {
		return c.Symbol() == asked || strings.HasSuffix(c.Symbol(), "."+asked)
	})
}

func (s *search) mentionStage(ctx context.Context, name string, words ranked) []chunk.Chunk {
	found, _ := s.mentions(ctx, name, words)
	return s.stage("structure", found)
}

func chunksOf(hits []index.Hit) (all []chunk.Chunk) {
	for _, h := range hits {
		all = append(all, h.Chunk)
	}
	return all
}
