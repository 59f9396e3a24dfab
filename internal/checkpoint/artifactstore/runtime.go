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

// Runtime carries checkpoints as artifacts of this run. Those of earlier
// attempts may be listed, unless all jobs were run again, which deletes them.
type Runtime struct {
	Client       *artifact.Client
	Prefix       string // of the names that are listed
	Days         int    // they are kept; 0 is the repository's own
	RunID        int64  // this run's, and its repository's: what is listed is theirs
	RepositoryID int64
}

// Put uploads an artifact.
func (r Runtime) Put(ctx context.Context, name string, zip []byte) error {
	_, err := r.Client.Upload(ctx, name, zip, r.Days)
	return err
}

// List is what the run has, newest first.
func (r Runtime) List(ctx context.Context) ([]Item, error) {
	list, err := r.Client.List(ctx, r.Prefix)
	var items []Item
	for _, a := range list {
		items = append(items, Item{Artifact: github.Artifact{
			Name: a.Name, ID: a.ID, Size: a.Size, Digest: a.Digest, Created: a.Created, RunID: r.RunID,
			RepositoryID: r.RepositoryID,
		}})
	}
	return items, err
}

// Get loads the artifact of the item's id.
func (r Runtime) Get(ctx context.Context, i Item, max int64) ([]byte, error) {
	list, err := r.Client.List(ctx, i.Name)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(a artifact.Stored) bool { return a.ID == i.ID && a.Name == i.Name })
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

// Cache carries checkpoints as entries of the repository's cache, which is
// there also after "Re-run all jobs" has deleted the run's artifacts.
//
// Who wrote an entry cannot be known: any workflow of the branch may have. So
// an item of it names no run, and is only ever used under a valid seal (T34).
type Cache struct {
	Client *artifact.Client
	Prefix string // of the keys, such as pr-review-42-docs-<run id>-; the names follow it
}

// Put stores an entry: artifact.ErrReadOnly where the run may not.
func (c Cache) Put(ctx context.Context, name string, zip []byte) error {
	return c.Client.PutCache(ctx, c.Prefix+name, zip)
}

// List is the newest entry: the service tells no more.
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

// Get loads the entry of the item's name.
func (c Cache) Get(ctx context.Context, i Item, max int64) ([]byte, error) {
	return c.Client.GetCache(ctx, c.Prefix+i.Name, max)
}

// Delete leaves an entry to its end, a week after its last use: the service
// deletes nothing.
func (c Cache) Delete(context.Context, string) error { return nil }
