package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/transport"
)

// prefix begins the names of drafts, partial checkpoints and decisions.
const prefix = "pr-review-"

// artifactPages bounds how far back a repository's artifacts are searched, 100
// a page: the API cannot search by prefix.
const artifactPages = 5

// everything is what runs of a repository have stored, as far back as is searched.
func (r *runs) everything() artifactstore.REST {
	return artifactstore.REST{API: r.api, Owner: r.ref.Owner, Repo: r.ref.Repo, Prefix: prefix, Pages: artifactPages, Cut: &r.cut}
}

// tellCut says once that not everything was searched: anybody's runs can push older
// artifacts out.
func (r *runs) tellCut(to io.Writer) {
	if r.cut && !r.told {
		r.told = true
		fmt.Fprintf(to, "Only the newest %d artifacts of %s were looked through: drafts and decisions behind them are not seen.\n", 100*artifactPages, r.ref.FullName())
	}
}

// places are where checkpoints of this pull request may be: with the job's own
// carriers, and by the API those of this run or, where a seal can vouch for them
// or drafts are replaced, of any.
func (j *job) places() []artifactstore.Carrier {
	if j.checkpointDir != "" {
		return j.carriers()
	}
	rest := j.runs.everything()
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
		key := fmt.Sprintf("%s%d-%s-%d-", prefix, j.ref.Number, j.instance, j.env.RunID)
		return []artifactstore.Carrier{j.carrier(), artifactstore.Cache{Client: j.store, Prefix: key}}
	}
	return []artifactstore.Carrier{j.carrier()}
}

// carrier stores this run's drafts and decisions.
func (j *job) carrier() artifactstore.Carrier {
	if j.checkpointDir != "" {
		return artifactstore.Dir{Path: j.checkpointDir, Prefix: prefix}
	}
	return artifactstore.Runtime{Client: j.store, Prefix: prefix, Days: j.retention, RunID: j.env.RunID, RepositoryID: j.env.RepositoryID}
}

// source is an artifact and where it can be had.
type source struct {
	artifactstore.Item
	from artifactstore.Carrier
}

// sources is what a place has, newest first.
func sources(ctx context.Context, place artifactstore.Carrier) ([]source, error) {
	items, err := place.List(ctx)
	var found []source
	for _, i := range items {
		found = append(found, source{i, place})
	}
	return found, err
}

// named is what a place has of a name, newest first.
func named(ctx context.Context, place artifactstore.Carrier, name string) ([]source, error) {
	found, err := sources(ctx, place)
	return slices.DeleteFunc(found, func(s source) bool { return s.Name != name }), err
}

// candidatesOf are listed artifacts, newest first. A folder and the cache hold
// what is ours and tell nothing of it: no size, no repository. Of an artifact
// whose run GitHub does not tell, nothing is assumed.
func candidatesOf(found []source, repoID int64) []handoff.Candidate {
	var out []handoff.Candidate
	for _, s := range found {
		switch s.from.(type) {
		case artifactstore.Dir, artifactstore.Cache:
			s.RepositoryID = repoID
		}
		out = append(out, handoff.Candidate{
			Found: checkpoint.Found{
				Name: s.Name, Size: max(s.Size, 1), Digest: s.Digest, Expired: s.Expired, ExpiresAt: s.ExpiresAt,
				RepositoryID: s.RepositoryID,
			},
			Run: s.RunID,
			Fetch: func(ctx context.Context) ([]byte, error) {
				zip, err := s.from.Get(ctx, s.Item, checkpoint.MaxZip)
				return zip, unusable(s.Name, err)
			},
		})
	}
	return out
}

// unusable turns what a store says of an artifact's content into the refusal
// that it is.
func unusable(name string, err error) error {
	where, next := "artifact "+name, draftAnew
	switch {
	case errors.Is(err, artifact.ErrDigest):
		return refusal(2, "the artifact is not the draft that was shown", where, next)
	case errors.Is(err, transport.ErrTooLarge), errors.Is(err, artifact.ErrEmpty):
		return refusal(1, "the artifact has a size that no draft has", where, next)
	case errors.Is(err, github.ErrExpired):
		gone := refusal(1, "the draft was not decided in time, its artifact is gone", where, next)
		gone.Expired = true
		return gone
	}
	return err
}
