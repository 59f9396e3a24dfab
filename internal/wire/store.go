package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/graph"
)

// Store keeps this machine's threads: in a folder or in Postgres. It is what the command
// line needs of a store beside graph.Store; storetest holds Threads and Remove too.
type Store interface {
	graph.Store
	Threads(ctx context.Context) ([]string, error)
	Remove(ctx context.Context, thread string) error
	Where() string // for a person; without a password
	Close() error
}
