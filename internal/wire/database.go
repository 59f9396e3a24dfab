package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/index"
)

// database keeps indexes of commits beside this machine; pgindex.Store is one.
type database interface {
	// Find is the index of a commit with the vectors of a model, nil where there is none.
	Find(ctx context.Context, repository, commit, made, model string) (index.Source, error)
	Write(ctx context.Context, repository, commit, made, model string, x *index.Index) (index.Source, error)
	Vectors() bool
}
