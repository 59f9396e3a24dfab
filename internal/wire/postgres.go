//go:build !nopostgres

package wire

import (
	"context"
	"errors"

	"github.com/org/pr-review-action/internal/checkpoint/pgstore"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/index/pgindex"
	"github.com/org/pr-review-action/internal/problem"
)

func openPostgres(ctx context.Context, url string) (Store, error) {
	store, err := pgstore.Open(ctx, url)
	if errors.Is(err, pgstore.ErrAddress) {
		err = problem.As(problem.Misuse, err, "")
	}
	return store, err
}

// indexes are those in a Postgres database.
type indexes struct{ *pgindex.Store }

// openIndexes opens the database of index.store. It is open as long as the process is.
func openIndexes(ctx context.Context, url, password string) (database, error) {
	store, err := pgindex.Open(ctx, url, password)
	if err != nil {
		return nil, err
	}
	return indexes{store}, nil
}

// Find is database's.
func (s indexes) Find(ctx context.Context, repository, commit, made, model string) (index.Source, error) {
	return source(s.Store.Find(ctx, pgindex.Key{Repository: repository, Commit: commit, Made: made, Model: model}))
}

// Write is database's.
func (s indexes) Write(ctx context.Context, repository, commit, made, model string,
	x *index.Index) (index.Source, error) {
	return source(s.Store.Write(ctx, pgindex.Key{Repository: repository, Commit: commit, Made: made, Model: model}, x))
}

// source is nil for none.
func source(x *pgindex.Source, err error) (index.Source, error) {
	if x == nil || err != nil {
		return nil, err
	}
	return x, nil
}
