package artifactstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/github"
)

// Runtime stores checkpoints as artifacts of this run. It may also list those of
// earlier attempts, unless all jobs were re-run, which deletes them.
type Runtime struct {
	Client       *artifact.Client
	Prefix       string // of the names to list
	Days         int    // retention; 0 for the repository's default
	RunID        int64  // id of this run and, below, of its repository, which listed items belong to
	RepositoryID int64
}

// Put uploads an artifact.
func (r Runtime) Put(ctx context.Context, name string, zip []byte) error {
	_, err := r.Client.Upload(ctx, name, zip, r.Days)
	return err
}

// List returns the run's artifacts, newest first.
func (r Runtime) List(ctx context.Context) ([]Item, error) {
	list, err := r.Client.List(ctx, r.Prefix)
	var items []Item
	for _, a := range list {
		items = append(items, Item{Artifact: github.Artifact{
			Name: a.Name, ID: int64(a.ID), Size: int64(a.Size), Digest: a.Digest, Created: a.Created, RunID: r.RunID,
			RepositoryID: r.RepositoryID,
		}})
	}
	return items, err
}

// Get loads the artifact with the item's id.
func (r Runtime) Get(ctx context.Context, i Item, max int64) ([]byte, error) {
	list, err := r.Client.List(ctx, i.Name)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(a artifact.Stored) bool { return int64(a.ID) == i.ID && a.Name == i.Name })
	if at < 0 {
		return nil, fmt.Errorf("%w: artifact %d, %q", artifact.ErrNotFound, i.ID, i.Name)
	}
	zip, err := r.Client.Load(ctx, list[at], max)
	if err == nil {
		err = i.check(zip)
	}
	return zip, err
}

// Delete removes an artifact.
func (r Runtime) Delete(ctx context.Context, name string) error {
	if err := r.Client.Delete(ctx, name); !errors.Is(err, artifact.ErrNotFound) {
		return err
	}
	return nil
}

// Cache stores checkpoints as entries of the repository's cache, which survive
// even after "Re-run all jobs" has deleted the run's artifacts.
//
// The author of an entry is unknown: any workflow of the branch may have written
// it. So its items name no run, and are only used under a valid seal (T34).
type Cache struct {
	Client *artifact.Client
	Prefix string // of the keys, such as pr-review-42-docs-<run id>-; names follow it
}

// Put stores an entry. It returns artifact.ErrReadOnly if the run may not.
func (c Cache) Put(ctx context.Context, name string, zip []byte) error {
	return c.Client.PutCache(ctx, c.Prefix+name, zip)
}

// List returns the newest entry; the service reports no others.
func (c Cache) List(ctx context.Context) ([]Item, error) {
	key, err := c.Client.NewestCache(ctx, c.Prefix)
	if errors.Is(err, artifact.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []Item{{Source: OfCache, Artifact: github.Artifact{Name: strings.TrimPrefix(key, c.Prefix)}}}, nil
}

// Get loads the entry with the item's name.
func (c Cache) Get(ctx context.Context, i Item, max int64) ([]byte, error) {
	return c.Client.GetCache(ctx, c.Prefix+i.Name, max)
}

// Delete does nothing: the service cannot delete entries. They expire a week
// after their last use.
func (c Cache) Delete(context.Context, string) error { return nil }

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
