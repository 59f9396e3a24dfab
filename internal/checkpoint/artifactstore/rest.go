package artifactstore

import (
	"context"

	"github.com/org/pr-review-action/internal/github"
)

// REST reads the artifacts that runs of a repository have stored, and stores
// nothing. They include artifacts of forks' runs: each item names its run.
type REST struct {
	API              *github.Client
	Owner, Repo      string
	github.Artifacts       // selects those that are listed
	Cut              *bool // set to true if there may be more artifacts than were listed; may be nil
}

// Put returns ErrReadOnly.
func (r REST) Put(context.Context, string, []byte) error { return ErrReadOnly }

// Delete returns ErrReadOnly.
func (r REST) Delete(context.Context, string) error { return ErrReadOnly }

// List returns the selected artifacts, newest first.
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

// Get loads the artifact with the item's id, whatever has its name now.
func (r REST) Get(ctx context.Context, i Item, max int64) ([]byte, error) {
	zip, err := r.API.Download(ctx, r.Owner, r.Repo, i.ID, max)
	if err == nil {
		err = i.check(zip)
	}
	return zip, err
}
