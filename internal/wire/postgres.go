//go:build !nopostgres

package wire

import (
	"context"
	"errors"

	"github.com/org/pr-review-action/internal/checkpoint/pgstore"
	"github.com/org/pr-review-action/internal/settings"
)

func openPostgres(ctx context.Context, url string) (Store, error) {
	store, err := pgstore.Open(ctx, url)
	if errors.Is(err, pgstore.ErrAddress) {
		err = settings.Mistake{Err: err}
	}
	return store, err
}
