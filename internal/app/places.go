package app

import (
	"fmt"

	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/handoff"
)

// places are where checkpoints of this pull request may be: with the job's own
// carriers, and by the API those of this run or, where a seal can vouch for them
// or drafts are replaced, of any.
func (j *job) places() []artifactstore.Carrier {
	if j.checkpointDir != "" {
		return j.carriers()
	}
	rest := j.runs.Everything()
	if !j.protection.Keyed() && !j.anew {
		rest.RunID = j.env.RunID
	}
	return append(j.carriers(), rest)
}

// carriers are where this job stores a run under way: the cache keeps what
// "Re-run all jobs" would delete. Anybody may have written to that, so it is for
// sealed checkpoints alone.
func (j *job) carriers() []artifactstore.Carrier {
	switch {
	case j.checkpointDir == "" && j.store == nil:
		return nil
	case j.checkpointDir == "" && j.protection.Keyed():
		key := fmt.Sprintf("%s%d-%s-%d-", handoff.Prefix, j.ref.Number, j.instance, j.env.RunID)
		return []artifactstore.Carrier{j.carrier(), artifactstore.Cache{Client: j.store, Prefix: key}}
	}
	return []artifactstore.Carrier{j.carrier()}
}

// carrier stores this run's drafts and decisions.
func (j *job) carrier() artifactstore.Carrier {
	if j.checkpointDir != "" {
		return artifactstore.Dir{Path: j.checkpointDir, Prefix: handoff.Prefix}
	}
	return artifactstore.Runtime{Client: j.store, Prefix: handoff.Prefix, Days: j.retention, RunID: j.env.RunID, RepositoryID: j.env.RepositoryID}
}
