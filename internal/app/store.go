package app

import (
	"context"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/graph"
)

// threadStore keeps this machine's threads: in a folder or in Postgres.
type threadStore interface {
	graph.Store
	Threads(ctx context.Context) ([]string, error)
	Remove(ctx context.Context, thread string) error
	Where() string // for a person; without a password
	Close() error
}

// openStore opens the store that the command line names.
func (a *app) openStore(ctx context.Context, o *options) (threadStore, error) {
	where := o.store
	if where == "" {
		var err error
		if where, err = filestore.Default(a.getenv); err != nil {
			return nil, usageError("there is no folder to keep drafts in", "name one: --store DIR, or PR_REVIEW_STORE")
		}
	}
	if strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") {
		return openPostgres(ctx, where)
	}
	store, err := filestore.New(where)
	if err != nil {
		return nil, usageError(err.Error(), "name a folder with --store")
	}
	return store, nil
}
