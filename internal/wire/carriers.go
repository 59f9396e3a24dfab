package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
)

// Carriers builds the carriers that take checkpoints out of a job.
type Carriers struct {
	settings.Settings
	Ref     pull.Ref
	Env     action.Env
	Runtime *artifact.Client // nil if the runner provides none
	Names   handoff.Names    // of the artifacts
}

// Own returns the carrier for this job's drafts.
func (c Carriers) Own() artifactstore.Carrier {
	if c.CheckpointDir != "" {
		return artifactstore.Dir{Path: c.CheckpointDir, Prefix: string(c.Names), Days: c.Retention}
	}
	return artifactstore.Runtime{Client: c.Runtime, Prefix: string(c.Names), Days: c.Retention,
		RunID:        c.Env.RunID,
		RepositoryID: c.Env.RepositoryID}
}

// Decisions returns the carrier for this job's decision records, which outlive drafts.
func (c Carriers) Decisions() artifactstore.Carrier {
	c.Retention = c.Settings.Records
	return c.Own()
}

// Progress returns the carriers for a run in progress: the cache keeps what "Re-run all jobs"
// would delete. Any workflow may write to the cache, so it only takes sealed checkpoints.
func (c Carriers) Progress() []artifactstore.Carrier {
	switch {
	case c.CheckpointDir == "" && c.Runtime == nil:
		return nil
	case c.CheckpointDir == "" && c.Protection.Keyed():
		key := fmt.Sprintf("%s%d-%s-%d-", c.Names, c.Ref.Number, c.Instance, c.Env.RunID)
		return []artifactstore.Carrier{c.Own(), artifactstore.Cache{Client: c.Runtime, Prefix: key}}
	}
	return []artifactstore.Carrier{c.Own()}
}

// Earlier returns the carriers that may hold checkpoints of earlier runs: the job's own, and
// the repository's artifacts. Those are limited to this run, unless a seal can vouch for
// others or drafts are replaced.
func (c Carriers) Earlier(all artifactstore.REST) []artifactstore.Carrier {
	if c.CheckpointDir != "" {
		return c.Progress()
	}
	if !c.Protection.Keyed() && !c.Anew {
		all.Run = c.Env.RunID
	}
	return append(c.Progress(), all)
}

// CarriedIndex carries indexes of base commits between runs in the repository's cache. Any
// workflow may write to that cache, so only sealed indexes are used (T34), and without a key
// nothing is carried.
type CarriedIndex struct {
	client     *artifact.Client
	protection checkpoint.Protection
	prefix     string
}

const (
	indexSeal = "index seal"
	maxPacked = 256 << 20 // bytes of a compressed index
)

// CarriedIndex returns the carrier of indexes, or nil without a key or if the runner provides
// no cache.
func (c Carriers) CarriedIndex() *CarriedIndex {
	if c.Runtime == nil || !c.Protection.Keyed() {
		return nil
	}
	return &CarriedIndex{c.Runtime, c.Protection,
		fmt.Sprintf("pr-review-index-%d-%s-", c.Env.RepositoryID, chunker.Version())}
}

// Load returns the index of a commit, or else the newest one to build on; nil if there is
// none sealed with the key. The error explains a nil index, which only costs time.
func (c *CarriedIndex) Load(ctx context.Context, commit string) (x *index.Index, exact bool, err error) {
	key, err := c.client.NewestCache(ctx, c.prefix+commit)
	if errors.Is(err, artifact.ErrNotFound) {
		key, err = c.client.NewestCache(ctx, c.prefix)
	}
	var packed []byte
	if err == nil {
		packed, err = c.client.GetCache(ctx, key, maxPacked)
	}
	if errors.Is(err, artifact.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	content, ok := c.protection.OpenBytes(indexSeal, key, packed)
	if !ok {
		return nil, false, fmt.Errorf("the index %s in the cache is not sealed with this key", key)
	}
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, false, err
	}
	stored, err := io.ReadAll(io.LimitReader(r, 4*maxPacked))
	if err != nil {
		return nil, false, err
	}
	x, err = index.Decode(stored)
	return x, strings.HasPrefix(key, c.prefix+commit), err
}

// Keep stores the index of a base commit, beside others of it that lack vectors: what is in the cache never
// changes. It is not an error if it is there already, or if the run may only read the cache.
func (c *CarriedIndex) Keep(ctx context.Context, commit string, x *index.Index) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	content := x.Encode()
	_, err = w.Write(content)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	if packed.Len() > maxPacked {
		return fmt.Errorf("the index has %d bytes packed, and at most %d are carried", packed.Len(), maxPacked)
	}
	key := fmt.Sprintf("%s%s-%.8x", c.prefix, commit, sha256.Sum256(content))
	err = c.client.PutCache(ctx, key, c.protection.SealBytes(indexSeal, key, packed.Bytes()))
	if errors.Is(err, artifact.ErrExists) || errors.Is(err, artifact.ErrReadOnly) {
		return nil
	}
	return err
}
