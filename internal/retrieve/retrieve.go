// Package retrieve finds the pieces of a repository that answer a question, or that
// a reviewer of a change has to know.
//
// It searches by words (BM25, with synonyms), by meaning (vectors, if an endpoint is
// configured) and by structure (which code defines, uses, calls and tests what). The
// lists are fused by rank and, if a remote reranker is configured, ordered by its scores.
// The result names every stage and the chunks that it found. Nothing here reads files,
// parses code or calls a chat model; the caller provides the index.
//
// Start reading at Engine.Search, then words.go; Engine.Pack chooses what a review gets.
package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/trace"
)

// The number of hits that a search returns by default, and how many of each list are merged.
const (
	DefaultK = 10
	merged   = 40
)

// Engine searches the chunks of one commit. Only Index is required. Without Instead many goroutines may use it.
type Engine struct {
	Index    *index.Source
	Embedder Embedder // nil: no search by meaning
	Reranker Reranker // nil: lists are fused by rank
	Changed  []string // paths of the change's files, which its packs prefer
	// returns the source that replaces Index, a database, once it has failed; may be nil
	Instead func(ctx context.Context, failed error) (*index.Source, error)
}

// Request is one question.
type Request struct {
	// words, a name, "references: NAME", or a pasted diff hunk, optionally with words
	// above it
	Query  string
	K      int      // hits at most; 0 for DefaultK
	Paths  []string // globs of the paths to search; none for all
	Untold bool     // keeps the query out of the trace: it holds text that must not be exported
}

// Result is the answer to a Request.
type Result struct {
	Hits   []Hit    // best first
	Stages []Stage  // in the order in which they ran
	Notes  []string // what did not answer, and how the search went on without it
	Cached bool     // from an earlier question of the same conversation
}

// Hit is a chunk that was found.
type Hit struct {
	chunk.Chunk
	Score float64
	// places in the lists that found it (lexical, vector, symbol, structure), from 1
	Ranks  map[string]int
	Rerank *float64 // the remote reranker's score; nil without one
}

// Stage is one step of a search: the chunks that it found, best first, and how long it took.
type Stage struct {
	Name   string
	Chunks []chunk.Chunk
	Took   time.Duration
}

// Search answers a question. Errors come from the index. An endpoint that does not answer
// becomes a note, and the search continues without it.
func (e *Engine) Search(ctx context.Context, r Request) (Result, error) {
	ctx, span := trace.Retrieval(ctx)
	result, err := e.search(ctx, r)
	if err != nil && ctx.Err() == nil && e.Instead != nil {
		var other *index.Source
		if other, err = e.Instead(ctx, err); err == nil {
			e.Index, e.Instead = other, nil
			result, err = e.search(ctx, r)
		}
	}
	if r.Untold {
		r.Query = ""
	}
	result.recordOn(span, r.Query)
	span.End(err)
	return result, err
}

func (e *Engine) search(ctx context.Context, r Request) (Result, error) {
	ctx, s := e.begin(ctx, r, parseQuery(r.Query))
	defer s.stop()
	earlier, asked := conversation(ctx), entryOf(r)
	if known, ok := earlier.find(asked); ok {
		return known, nil
	}
	asked.vector = s.embed(ctx)
	if known, ok := earlier.find(asked); ok {
		return known, nil
	}
	lists := s.lists(ctx, asked.vector)
	if s.err != nil {
		return Result{}, s.err
	}
	hits := fuse(lists, max(merged, s.K), s.hidden)
	s.stage("fuse", hitChunks(hits))
	s.rerank(ctx, hits)
	s.result.Hits = hits[:min(len(hits), s.K)]
	earlier.keep(asked, s.result)
	return s.result, nil
}

// search is the state of one question. The first error of the index ends it: whatever is asked after that is not
// answered, so only the whole result has to be checked.
type search struct {
	*Engine
	Request
	question question
	hidden   map[string]bool // IDs of chunks that the caller has already
	linked   []string        // files that the changed one imports, and those that import it
	result   Result
	last     time.Time // when the last stage ended
	err      error
	stop     context.CancelFunc
}

// begin returns the state of a question, and the context for all that it asks.
func (e *Engine) begin(ctx context.Context, r Request, q question) (context.Context, *search) {
	s := &search{Engine: e, Request: r, question: q}
	s.K = cmp.Or(r.K, DefaultK)
	ctx, s.stop = context.WithCancel(ctx)
	return ctx, s
}

// check ends the search if an answer of the index was an error.
func (s *search) check(err error) {
	if err != nil && s.err == nil {
		s.err = err
		s.stop()
	}
}

// lists runs every search that applies to the question, and returns the list of each.
func (s *search) lists(ctx context.Context, vector []float32) []list {
	s.last = time.Now()
	words := s.lexical(ctx)
	lists := []list{words.best(), s.similar(ctx, vector)}
	switch {
	case s.question.hunks != nil:
		return append(lists, s.changeLists(ctx, words)...)
	case s.question.uses:
		return append(lists, list{"structure", 3, s.mentionStage(ctx, s.question.words[0], words)})
	}
	return append(lists, s.nameLists(ctx, words)...)
}

// stage records a step: its chunks, which it returns, and the time since the step before.
func (s *search) stage(name string, chunks []chunk.Chunk) []chunk.Chunk {
	began := s.last
	s.last = time.Now()
	s.result.Stages = append(s.result.Stages, Stage{Name: name, Chunks: chunks, Took: s.last.Sub(began)})
	return chunks
}

func hitChunks(hits []Hit) (all []chunk.Chunk) {
	for _, h := range hits {
		all = append(all, h.Chunk)
	}
	return all
}

// IDs returns the IDs of the stage's first chunks, at most that many.
func (s Stage) IDs(most int) []string {
	all := []string{}
	for _, c := range s.Chunks[:min(len(s.Chunks), most)] {
		all = append(all, c.ID())
	}
	return all
}

// recordOn records a result on its span: the hits, and the first chunks of the lists by words and by vectors.
func (r Result) recordOn(span *trace.Span, query string) {
	lists := map[string][]string{}
	for _, s := range r.Stages {
		lists[s.Name] = s.IDs(DefaultK)
	}
	var judged []string
	for _, h := range r.Hits {
		score := h.Score
		if h.Rerank != nil {
			score = *h.Rerank
		}
		judged = append(judged, fmt.Sprintf("%s %.4f", h.ID(), score))
	}
	span.Retrieved(query, lists["lexical"], lists["vector"], judged, r.Cached)
}
