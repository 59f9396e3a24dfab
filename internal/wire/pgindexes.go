//go:build !nopostgres

package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/index/pgindex"
)

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
