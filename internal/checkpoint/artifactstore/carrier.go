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
	// Put stores a zip: all of it or nothing, under a name that is not taken.
	Put(ctx context.Context, name string, zip []byte) error
	// List is what there is, newest first, also what others stored.
	List(ctx context.Context) ([]Item, error)
	// Get loads an item as it was listed, at most max bytes.
	Get(ctx context.Context, i Item, max int64) ([]byte, error)
	// Delete removes a name. One that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// Item is a stored checkpoint, and what the carrier's server says of it; what
// is not told is zero. RunID names the run that stored it.
type Item struct {
	github.Artifact
	Source Source
}

// Source says who vouches for where an item comes from.
type Source int

// The sources.
const (
	OfRun    Source = iota // the server names the run; where it does not, nothing is assumed
	OfFolder               // whoever carries the folder from job to job
	OfCache                // nobody: any workflow of the branch may write there
)

// ErrReadOnly is a carrier that stores nothing.
var ErrReadOnly = errors.New("nothing can be stored there")

// check holds loaded bytes against the listed digest. Content that was replaced
// behind its name is not what was listed.
func (i Item) check(zip []byte) error {
	if i.Digest != "" && i.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(zip)) {
		return fmt.Errorf("%w: %q", artifact.ErrDigest, i.Name)
	}
	return nil
}

// lane is a carrier and what this process has left with it.
type lane struct {
	carrier Carrier
	newest  string
	stale   []string // to be deleted: replaced ones, and those that may or may not have been stored
	closed  bool     // it is read-only, and is not asked again
}

// put stores a partial and deletes what it replaces, so that there are never
// more than two. Only the last of a run, whose time is short, is stored before
// one of unknown outcome is deleted.
func (l *lane) put(ctx context.Context, name string, zip []byte, last bool, onError func(error)) error {
	if l.closed {
		return nil
	}
	if !last {
		l.drop(ctx)
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
	if err := l.drop(ctx); err != nil && ctx.Err() == nil {
		onError(fmt.Errorf("deleting replaced progress: %w", err))
	}
	return nil
}

// drop deletes what is stale. What could not be deleted stays so.
func (l *lane) drop(ctx context.Context) error {
	var errs []error
	l.stale = slices.DeleteFunc(l.stale, func(name string) bool {
		err := l.carrier.Delete(ctx, name)
		errs = append(errs, err)
		return err == nil
	})
	return errors.Join(errs...)
}

// clear deletes everything.
func (l *lane) clear(ctx context.Context) error {
	if l.newest != "" {
		l.stale, l.newest = append(l.stale, l.newest), ""
	}
	if l.closed {
		return nil
	}
	return l.drop(ctx)
}
