package wire

import (
	"fmt"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/handoff"
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
		all.RunID = c.Env.RunID
	}
	return append(c.Progress(), all)
}
