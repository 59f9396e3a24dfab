package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

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

// Carriers are what carries checkpoints out of a job.
type Carriers struct {
	settings.Settings
	Ref     pull.Ref
	Env     action.Env
	Runtime *artifact.Client // nil where the runner gives none
	Names   handoff.Names    // of what is carried
}

// Own is where this job stores drafts.
func (c Carriers) Own() artifactstore.Carrier {
	if c.CheckpointDir != "" {
		return artifactstore.Dir{Path: c.CheckpointDir, Prefix: string(c.Names)}
	}
	return artifactstore.Runtime{Client: c.Runtime, Prefix: string(c.Names), Days: c.Retention,
		RunID:        c.Env.RunID,
		RepositoryID: c.Env.RepositoryID}
}

// Decisions is where this job stores decision records, which outlive drafts.
func (c Carriers) Decisions() artifactstore.Carrier {
	c.Retention = c.Settings.Records
	return c.Own()
}

// Progress are where this job stores a run under way: the cache keeps what "Re-run
// all jobs" would delete. Anybody may have written to that, so it is for sealed
// checkpoints alone.
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

// Earlier are where checkpoints of earlier runs may be: with the job's own carriers,
// and among the repository's artifacts, those of this run or, where a seal can vouch
// for them or drafts are replaced, of any.
func (c Carriers) Earlier(all artifactstore.REST) []artifactstore.Carrier {
	if c.CheckpointDir != "" {
		return c.Progress()
	}
	if !c.Protection.Keyed() && !c.Anew {
		all.Run = c.Env.RunID
	}
	return append(c.Progress(), all)
}

// CarriedIndex carries indexes of base commits from run to run in the repository's
// cache. Anybody may have written to that, so an index is used under its seal alone
// (T34), and without a key there is none.
type CarriedIndex struct {
	client     *artifact.Client
	protection checkpoint.Protection
	prefix     string
}

const (
	indexSeal  = "index seal"
	mostPacked = 256 << 20 // bytes of an index as it is carried
)

// CarriedIndex is the carrier of indexes; nil without a key, or where the runner gives
// no cache.
func (c Carriers) CarriedIndex() *CarriedIndex {
	if c.Runtime == nil || !c.Protection.Keyed() {
		return nil
	}
	return &CarriedIndex{c.Runtime, c.Protection,
		fmt.Sprintf("pr-review-index-%d-%s-", c.Env.RepositoryID, chunker.Version())}
}

// Load is the index of a commit, or else the newest one, to build on; nil where there
// is none that is sealed with the key. The error says why, and costs time alone.
func (c *CarriedIndex) Load(ctx context.Context, commit string) (x *index.Index, exact bool, err error) {
	key, err := c.prefix+commit, error(nil)
	packed, err := c.client.GetCache(ctx, key, mostPacked)
	if errors.Is(err, artifact.ErrNotFound) {
		if key, err = c.client.NewestCache(ctx, c.prefix); err == nil {
			packed, err = c.client.GetCache(ctx, key, mostPacked)
		}
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
	stored, err := io.ReadAll(io.LimitReader(r, 4*mostPacked))
	if err != nil {
		return nil, false, err
	}
	x, err = index.Decode(stored)
	return x, key == c.prefix+commit, err
}

// Keep stores the index of a base commit. One that is there, or a run that may only
// read, is no error.
func (c *CarriedIndex) Keep(ctx context.Context, commit string, x *index.Index) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	_, err = w.Write(x.Encode())
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	if packed.Len() > mostPacked {
		return fmt.Errorf("the index has %d bytes packed, and at most %d are carried", packed.Len(), mostPacked)
	}
	key := c.prefix + commit
	err = c.client.PutCache(ctx, key, c.protection.SealBytes(indexSeal, key, packed.Bytes()))
	if errors.Is(err, artifact.ErrExists) || errors.Is(err, artifact.ErrReadOnly) {
		return nil
	}
	return err
}
