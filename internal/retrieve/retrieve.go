// Package retrieve finds the pieces of a repository that answer a question, or that
// a reviewer of a change has to know.
//
// Words (BM25, with synonyms), meaning (vectors, where an endpoint is configured) and
// structure (who defines, uses, calls and tests what) are asked side by side. Their
// lists are fused by rank, or judged by a remote reranker where one is configured.
// Each list and each stage is part of the result. Nothing here reads files, parses or
// calls a model; who asks brings the index.
//
// Start reading at Engine.Search, then words.go; Engine.Pack is what a review is given.
package retrieve

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/trace"
)

// How many hits a search has where nothing else is asked for, and how many of each
// list are merged.
const (
	DefaultK = 10
	merged   = 40
)

// Engine searches the chunks of one commit, from many goroutines. Index alone is needed.
type Engine struct {
	Index    *index.Source
	Embedder Embedder         // nil: nothing is found by meaning
	Reranker Reranker         // nil: lists are fused by rank
	Now      func() time.Time // nil where times are not told
	// gives another source once Index, a database, does not answer any more; nil for none
	Instead func(ctx context.Context, failed error) (*index.Source, error)

	turn sync.Mutex // for Index and Instead
}

// Request is one question.
type Request struct {
	// words, a name, "references: NAME", or a pasted diff hunk, with words above it
	// where wanted
	Query  string
	K      int          // hits at most; 0 for DefaultK
	Filter index.Filter // paths that are searched
	Untold bool         // a trace has no query: it holds text that may not leave
}

// Result is what a question came to.
type Result struct {
	Hits   []Hit
	Stages []Stage  // in the order in which they ran
	Notes  []string // what did not answer, and what stands without it
	Cached bool     // taken from an earlier question of the same conversation
}

// Hit is a chunk that was found, best first.
type Hit struct {
	chunk.Chunk
	Score float64
	// places in the lists that found it (lexical, vector, symbol, structure), from 1
	Ranks  map[string]int
	Rerank *float64 // the remote reranker's score; nil without one
}

// Stage is one step of a search: the chunks that it gave, best first, and how long it took.
type Stage struct {
	Name   string
	Chunks []chunk.Chunk
	Took   time.Duration
}

// Search answers a question. An error is the index's; an endpoint that does not
// answer is a note, and what is left answers.
func (e *Engine) Search(ctx context.Context, r Request) (Result, error) {
	ctx, span := trace.Retrieval(ctx)
	x := e.source()
	result, err := e.search(ctx, x, r)
	if err != nil && ctx.Err() == nil {
		if x, err = e.instead(ctx, x, err); err == nil {
			result, err = e.search(ctx, x, r)
		}
	}
	if r.Untold {
		r.Query = ""
	}
	result.tell(span, r.Query)
	span.End(err)
	return result, err
}

func (e *Engine) source() *index.Source {
	e.turn.Lock()
	defer e.turn.Unlock()
	return e.Index
}

// instead is the source that is asked after one has failed.
func (e *Engine) instead(ctx context.Context, failed *index.Source, err error) (*index.Source, error) {
	e.turn.Lock()
	defer e.turn.Unlock()
	if e.Index != failed {
		return e.Index, nil // somebody else was faster
	}
	if e.Instead == nil {
		return nil, err
	}
	other, err := e.Instead(ctx, err)
	if err == nil {
		e.Index, e.Instead = other, nil
	}
	return other, err
}

func (e *Engine) search(ctx context.Context, x *index.Source, r Request) (Result, error) {
	s := &search{Engine: e, Index: x, Request: r, question: ask(r.Query)}
	s.K = cmp.Or(r.K, DefaultK)
	earlier, asked := conversation(ctx), entryOf(r)
	if known, ok := earlier.find(asked); ok {
		return known, nil
	}
	asked.vector = s.embed(ctx)
	if known, ok := earlier.find(asked); ok {
		return known, nil
	}
	lists, err := s.lists(ctx, asked.vector)
	if err != nil {
		return Result{}, err
	}
	var hits []Hit
	_, _ = s.stage("fuse", func() ([]chunk.Chunk, error) { // it cannot fail
		hits = fuse(lists, max(merged, s.K), s.hidden)
		return hitChunks(hits), nil
	})
	s.rerank(ctx, hits)
	s.result.Hits = hits[:min(len(hits), s.K)]
	earlier.keep(asked, s.result)
	return s.result, nil
}

// search is one question on its way.
type search struct {
	*Engine
	Index *index.Source // the engine's, or the one instead of it
	Request
	question question
	hidden   map[string]bool // chunks that who asks has before him
	result   Result
}

// lists asks all that can answer, each list a stage.
func (s *search) lists(ctx context.Context, vector []float32) ([]list, error) {
	words, err := s.lexical(ctx)
	if err != nil {
		return nil, err
	}
	near, err := s.similar(ctx, vector)
	if err != nil {
		return nil, err
	}
	var rest []list
	switch {
	case s.question.hunks != nil:
		rest, err = s.changed(ctx, words)
	case s.question.uses:
		var uses []chunk.Chunk
		uses, err = s.uses(ctx, s.question.words[0], words)
		rest = []list{{name: "structure", weight: 3, chunks: uses}}
	default:
		rest, err = s.named(ctx, words)
	}
	return append([]list{words.best(), near}, rest...), err
}

// stage runs one step and keeps what it gave.
func (s *search) stage(name string, do func() ([]chunk.Chunk, error)) ([]chunk.Chunk, error) {
	began := s.now()
	chunks, err := do()
	s.result.Stages = append(s.result.Stages, Stage{Name: name, Chunks: chunks, Took: s.now().Sub(began)})
	return chunks, err
}

func (s *search) now() time.Time {
	if s.Now == nil {
		return time.Time{}
	}
	return s.Now()
}

func hitChunks(hits []Hit) (all []chunk.Chunk) {
	for _, h := range hits {
		all = append(all, h.Chunk)
	}
	return all
}

// IDs name the stage's chunks, so many at most.
func (s Stage) IDs(most int) []string {
	all := []string{}
	for _, c := range s.Chunks[:min(len(s.Chunks), most)] {
		all = append(all, c.ID())
	}
	return all
}
