package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/index"
)

// Store keeps this machine's threads; OpenStore knows where. It is what the command line
// needs of a store beside graph.Store; storetest holds Threads and Remove too.
type Store interface {
	graph.Store
	Threads(ctx context.Context) ([]string, error)
	Remove(ctx context.Context, thread string) error
	Where() string // for a person; without a password
	Close() error
}

// database keeps indexes of commits beside this machine; pgindex.Store is one.
type database interface {
	// Find is the index of a commit with the vectors of a model, and what was said of its
	// making; nil where there is none.
	Find(ctx context.Context, k index.Key) (*index.Source, index.Report, error)
	Write(ctx context.Context, k index.Key, x *index.Index, made index.Report) (*index.Source, error)
	Vectors() bool
}
