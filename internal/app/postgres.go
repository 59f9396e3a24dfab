//go:build !nopostgres

package app

import (
	"context"
	"errors"

	"github.com/org/pr-review-action/internal/checkpoint/pgstore"
)

func openPostgres(ctx context.Context, url string) (threadStore, error) {
	store, err := pgstore.Open(ctx, url)
	if errors.Is(err, pgstore.ErrAddress) {
		err = usage{err}
	}
	return store, err
}
