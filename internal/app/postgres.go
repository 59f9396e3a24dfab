//go:build !nopostgres

package app

import (
	"context"

	"github.com/org/pr-review-action/internal/checkpoint/pgstore"
)

func openPostgres(ctx context.Context, url string) (threadStore, error) {
	return pgstore.Open(ctx, url)
}
