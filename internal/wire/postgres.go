//go:build !nopostgres

package wire

import (
	"context"
	"errors"

	"github.com/org/pr-review-action/internal/checkpoint/pgstore"
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

// openIndexes opens the database of index.store. It stays open until the process ends.
func openIndexes(ctx context.Context, url, password string) (database, error) {
	store, err := pgindex.Open(ctx, url, password)
	if err != nil {
		return nil, err
	}
	return store, nil
}
