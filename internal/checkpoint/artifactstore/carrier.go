package artifactstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/github"
)

// Carrier stores checkpoints by name, for this run or for others.
type Carrier interface {
	// Put stores a zip, all of it or nothing, under a name that is not in use.
	Put(ctx context.Context, name string, zip []byte) error
	// List returns all stored items, newest first, including those of others.
	List(ctx context.Context) ([]Item, error)
	// Get loads a listed item of at most max bytes.
	Get(ctx context.Context, i Item, max int64) ([]byte, error)
	// Delete removes a name. Deleting a name that does not exist is not an error.
	Delete(ctx context.Context, name string) error
}

// Item is a stored checkpoint as the carrier's server describes it; what the
// server does not report is zero. RunID is the run that stored it.
type Item struct {
	github.Artifact
	Source Source
}

// Source says who vouches for the origin of an item.
type Source int

// The sources.
const (
	OfRun    Source = iota // the server names the run; if it does not, nothing is assumed
	OfFolder               // whoever passes the folder from job to job
	OfCache                // no one: any workflow of the branch may write there
)

// ErrReadOnly reports that a carrier cannot store anything.
var ErrReadOnly = errors.New("nothing can be stored there")

// check compares loaded bytes with the listed digest, to detect content that was
// replaced under the same name.
func (i Item) check(zip []byte) error {
	if i.Digest != "" && i.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(zip)) {
		return fmt.Errorf("%w: %q", artifact.ErrDigest, i.Name)
	}
	return nil
}

// lane tracks what this process has stored with one carrier.
type lane struct {
	carrier Carrier
	newest  string
	stale   []string // to be deleted: replaced partials, and those with unknown outcome
	closed  bool     // the carrier is read-only and no longer used
}

// put stores a partial and deletes the one it replaces, so that there are never
// more than two. Partials of unknown outcome are deleted first, except before the
// last partial of a run, for which time is short.
func (l *lane) put(ctx context.Context, name string, zip []byte, last bool, onError func(error)) error {
	if l.closed {
		return nil
	}
	if !last {
		l.deleteStale(ctx)
	}
	if err := l.carrier.Put(ctx, name, zip); err != nil {
		l.closed = errors.Is(err, artifact.ErrReadOnly) || errors.Is(err, ErrReadOnly)
		l.stale = append(l.stale, name)
		return err
	}
	if l.newest != "" {
		l.stale = append(l.stale, l.newest)
	}
	l.newest = name
	if err := l.deleteStale(ctx); err != nil && ctx.Err() == nil {
		onError(fmt.Errorf("deleting replaced progress: %w", err))
	}
	return nil
}

// deleteStale deletes the stale partials. Those that could not be deleted stay stale.
func (l *lane) deleteStale(ctx context.Context) error {
	var errs []error
	l.stale = slices.DeleteFunc(l.stale, func(name string) bool {
		err := l.carrier.Delete(ctx, name)
		errs = append(errs, err)
		return err == nil
	})
	return errors.Join(errs...)
}

// clear deletes all partials of this process.
func (l *lane) clear(ctx context.Context) error {
	if l.newest != "" {
		l.stale, l.newest = append(l.stale, l.newest), ""
	}
	if l.closed {
		return nil
	}
	return l.deleteStale(ctx)
}
