package artifactstore

import (
	"context"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/github"
)

// REST reads what runs of a repository have stored as artifacts. It stores
// nothing. What forks' runs stored is among it: each item names its run.
type REST struct {
	API         *github.Client
	Owner, Repo string
	Name        string // the one name that is listed, which the API can look for
	Prefix      string // of the names that are listed, where Name is empty
	RunID       int64  // the run whose artifacts are listed; 0 is any
	Pages       int    // of 100 artifacts, that are searched for a prefix where RunID is 0
	Cut         *bool  // is set where those pages were full, so that others may lie behind them; nil for nobody
}

// Put is ErrReadOnly.
func (r REST) Put(context.Context, string, []byte) error { return ErrReadOnly }

// Delete is ErrReadOnly.
func (r REST) Delete(context.Context, string) error { return ErrReadOnly }

// List is what there is, newest first.
func (r REST) List(ctx context.Context) ([]Item, error) {
	list, err := r.artifacts(ctx)
	var items []Item
	for _, a := range list {
		items = append(items, Item{
			Name: a.Name, ID: a.ID, Size: a.Size, Digest: a.Digest, Created: a.Created, ExpiresAt: a.ExpiresAt,
			Expired: a.Expired,
			RunID:   a.RunID, RepositoryID: a.RepoID,
		})
	}
	return items, err
}

func (r REST) artifacts(ctx context.Context) ([]github.Artifact, error) {
	switch {
	case r.Name != "" && r.RunID != 0:
		return r.API.RunArtifacts(ctx, r.Owner, r.Repo, r.RunID, r.Name)
	case r.Name != "":
		return r.API.Artifacts(ctx, r.Owner, r.Repo, r.Name)
	case r.RunID == 0:
		list, cut, err := r.API.RepoArtifacts(ctx, r.Owner, r.Repo, r.Prefix, r.Pages)
		if cut && r.Cut != nil {
			*r.Cut = true
		}
		return list, err
	}
	list, err := r.API.RunArtifactsAll(ctx, r.Owner, r.Repo, r.RunID)
	return slices.DeleteFunc(list, func(a github.Artifact) bool { return !strings.HasPrefix(a.Name, r.Prefix) }), err
}

// Get loads the artifact of the item's id, whatever has the name by now.
func (r REST) Get(ctx context.Context, i Item, max int64) ([]byte, error) {
	zip, err := r.API.Download(ctx, r.Owner, r.Repo, i.ID, max)
	if err == nil {
		err = i.check(zip)
	}
	return zip, err
}
