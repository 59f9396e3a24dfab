package artifactstore

import (
	"context"

	"github.com/org/pr-review-action/internal/github"
)

// REST reads what runs of a repository have stored as artifacts. It stores
// nothing. What forks' runs stored is among it: each item names its run.
type REST struct {
	API              *github.Client
	Owner, Repo      string
	github.Artifacts       // those that are listed
	Cut              *bool // is set where others may lie behind them; nil for nobody
}

// Put is ErrReadOnly.
func (r REST) Put(context.Context, string, []byte) error { return ErrReadOnly }

// Delete is ErrReadOnly.
func (r REST) Delete(context.Context, string) error { return ErrReadOnly }

// List is what there is, newest first.
func (r REST) List(ctx context.Context) ([]Item, error) {
	list, cut, err := r.API.Artifacts(ctx, r.Owner, r.Repo, r.Artifacts)
	if cut && r.Cut != nil {
		*r.Cut = true
	}
	var items []Item
	for _, a := range list {
		items = append(items, Item{Artifact: a})
	}
	return items, err
}

// Get loads the artifact of the item's id, whatever has the name by now.
func (r REST) Get(ctx context.Context, i Item, max int64) ([]byte, error) {
	zip, err := r.API.Download(ctx, r.Owner, r.Repo, i.ID, max)
	if err == nil {
		err = i.check(zip)
	}
	return zip, err
}
