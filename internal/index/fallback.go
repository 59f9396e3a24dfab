package index

import (
	"context"
	"sync"

	"github.com/org/pr-review-action/internal/chunk"
)

// Fallback asks a source until it fails, and from then on another one, which is opened
// only then: a database that stops in the middle of a run ends no search.
type Fallback struct {
	mu    sync.Mutex
	now   Source
	other func(ctx context.Context, failed error) (Source, error) // nil once it was called
}

// WithFallback returns a Fallback. other is called at most once at a time, with what
// the first source failed with, and not again where it gave a source.
func WithFallback(first Source, other func(ctx context.Context, failed error) (Source, error)) *Fallback {
	return &Fallback{now: first, other: other}
}

var _ Source = (*Fallback)(nil)

// fallen asks, and once more where the first source has failed.
func fallen[T any](ctx context.Context, f *Fallback, ask func(Source) (T, error)) (T, error) {
	f.mu.Lock()
	source := f.now
	f.mu.Unlock()
	v, err := ask(source)
	if err == nil || ctx.Err() != nil {
		return v, err
	}
	if source, err = f.next(ctx, source, err); err != nil {
		return v, err
	}
	return ask(source)
}

// next is the source that is asked after one has failed.
func (f *Fallback) next(ctx context.Context, failed Source, err error) (Source, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now != failed {
		return f.now, nil // somebody else was faster
	}
	if f.other == nil {
		return nil, err
	}
	other, err := f.other(ctx, err)
	if err == nil {
		f.now, f.other = other, nil
	}
	return other, err
}

// Lexical is Source's, as are the others.
func (f *Fallback) Lexical(ctx context.Context, terms []Term, k int, filter Filter) ([]Hit, error) {
	return fallen(ctx, f, func(s Source) ([]Hit, error) { return s.Lexical(ctx, terms, k, filter) })
}

// Similar is Source's.
func (f *Fallback) Similar(ctx context.Context, vector []float32, k int, filter Filter) ([]Hit, error) {
	return fallen(ctx, f, func(s Source) ([]Hit, error) { return s.Similar(ctx, vector, k, filter) })
}

// Defines is Source's.
func (f *Fallback) Defines(ctx context.Context, most int, names ...string) (map[string][]chunk.Chunk, error) {
	return fallen(ctx, f, func(s Source) (map[string][]chunk.Chunk, error) { return s.Defines(ctx, most, names...) })
}

// Mentions is Source's.
func (f *Fallback) Mentions(ctx context.Context, name string, k int) ([]chunk.Chunk, error) {
	return fallen(ctx, f, func(s Source) ([]chunk.Chunk, error) { return s.Mentions(ctx, name, k) })
}

// Linked is Source's.
func (f *Fallback) Linked(ctx context.Context, path string) ([]string, error) {
	return fallen(ctx, f, func(s Source) ([]string, error) { return s.Linked(ctx, path) })
}

// TestsOf is Source's.
func (f *Fallback) TestsOf(ctx context.Context, path string, names []string, k int) ([]chunk.Chunk, error) {
	return fallen(ctx, f, func(s Source) ([]chunk.Chunk, error) { return s.TestsOf(ctx, path, names, k) })
}

// In is Source's.
func (f *Fallback) In(ctx context.Context, path string, from, to int) ([]chunk.Chunk, error) {
	return fallen(ctx, f, func(s Source) ([]chunk.Chunk, error) { return s.In(ctx, path, from, to) })
}

// Paths is Source's.
func (f *Fallback) Paths(ctx context.Context) ([]string, error) {
	return fallen(ctx, f, func(s Source) ([]string, error) { return s.Paths(ctx) })
}

// Vectors is Source's.
func (f *Fallback) Vectors(ctx context.Context) (VectorsInfo, error) {
	return fallen(ctx, f, func(s Source) (VectorsInfo, error) { return s.Vectors(ctx) })
}
