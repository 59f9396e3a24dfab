package tree

import (
	"context"
	"errors"
)

// maxTries bounds the attempts to load from a source that fails: the first call, and
// at most two later ones.
const maxTries = 3

// lazy loads a value once for all callers. Only one of them loads at a time.
type lazy[T any] struct {
	load  func(context.Context) (T, error)
	turn  chan struct{} // full while a caller loads
	tries int           // failed attempts; maxTries once loaded
	value T
	err   error // of the last attempt
}

func newLazy[T any](load func(context.Context) (T, error)) *lazy[T] {
	return &lazy[T]{load: load, turn: make(chan struct{}, 1)}
}

// get returns the value, or the error of its own attempt; after maxTries, that of the
// last one. An attempt that was cancelled does not count.
func (l *lazy[T]) get(ctx context.Context) (T, error) {
	var none T
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	defer func() { <-l.turn }()
	if l.tries >= maxTries {
		return l.value, l.err
	}
	value, err := l.load(ctx)
	switch {
	case err == nil:
		l.value, l.err, l.tries = value, nil, maxTries
	case !errors.Is(ctx.Err(), context.Canceled):
		l.tries, l.err = l.tries+1, err
	}
	return value, err
}
