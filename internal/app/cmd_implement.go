package app

import (
	"context"

	"github.com/org/pr-review-action/internal/local"
)

func (a *app) implementCommand() command {
	o := &local.ImplementOptions{Options: local.NewOptions()}
	return command{
		"implement", "<FILE.md | KEY | owner/repo#n>",
		"write the change that a ticket asks for, and stop for a decision before it is committed", o.AddFlags,
		func(ctx context.Context, args []string) error { return a.Implement(ctx, args, o) }, &o.JSON,
	}
}
