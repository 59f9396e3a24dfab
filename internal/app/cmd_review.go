package app

import (
	"context"

	"github.com/org/pr-review-action/internal/local"
)

func (a *app) reviewCommand() command {
	o := &local.ReviewOptions{Options: local.NewOptions()}
	return command{
		"review", "[url | owner/repo#n | n | base..head | base...head | revision | - | FILE.diff | demo]",
		"review a change, by default of the work tree, and stop for a decision", o.AddFlags,
		func(ctx context.Context, args []string) error { return a.Review(ctx, args, o) }, &o.JSON,
	}
}
