package tree

import (
	"context"
	"errors"
)

// maxTries bounds how often a source that fails is asked: once, and again for at
// most two later calls.
const maxTries = 3

// lazy loads something once for all who ask, one of them at a time.
type lazy[T any] struct {
	load  func(context.Context) (T, error)
	turn  chan struct{} // full while somebody loads
	tries int           // maxTries where no other is wanted
	value T
	err   error // of the last try
}

func newLazy[T any](load func(context.Context) (T, error)) *lazy[T] {
	return &lazy[T]{load: load, turn: make(chan struct{}, 1)}
}

// get waits for the value, or for the error of its own try. Who was cancelled
// while loading has used up no try.
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
