package app

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/transport"
)

// verify finds the draft and runs the resume checks up to 10.
func (j *job) verify(ctx context.Context) (checkpoint.Opened, error) {
	shown := cmp.Or(j.digest, j.code)
	change, err := ingest.Current(ctx, j.api, j.ref)
	if err != nil {
		return checkpoint.Opened{}, err
	}
	r := reviewpr.Resume{
		Name: checkpoint.ArtifactName(j.ref.Number, j.instance, checkpoint.Code(shown)), Shown: shown,
		Ref: j.ref, RepoID: change.Pull.RepoID, Instance: j.instance, Branch: change.Pull.DefaultBranch,
		Workflow: j.draftWorkflow, Run: j.runID, Now: j.Now(),
		RunFacts: j.runFacts,
		PullNow:  func(context.Context) (checkpoint.PullNow, error) { return pullNow(change), nil },
	}
	if j.routeA() {
		r.Run = cmp.Or(j.runID, j.env.RunID)
		r.Workflow = cmp.Or(workflowFile(j.env.WorkflowRef), j.draftWorkflow)
	}
	if r.Candidates, err = j.candidates(ctx, r); err != nil {
		return checkpoint.Opened{}, err
	}
	return r.Verify(ctx)
}

// workflowFile takes the path out of owner/name/path@ref.
func workflowFile(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	parts := strings.SplitN(ref, "/", 3)
	return parts[len(parts)-1]
}

// candidates lists the artifacts of the draft's name: this run's by the
// runner's protocol, and by the API those of the run or, where it is 0, of the
// repository.
func (j *job) candidates(ctx context.Context, r reviewpr.Resume) ([]reviewpr.Candidate, error) {
	if j.store != nil && r.Run == j.env.RunID {
		zip, err := j.store.Download(ctx, r.Name, checkpoint.MaxZip)
		if err == nil {
			found := checkpoint.Found{Name: r.Name, Size: int64(len(zip)), RepositoryID: r.RepoID}
			return []reviewpr.Candidate{{Found: found, Run: r.Run, Fetch: func(context.Context) ([]byte, error) { return zip, nil }}}, nil
		}
		if !errors.Is(err, artifact.ErrNotFound) && !answered(err, http.StatusNotFound) {
			return nil, unusable(r.Name, err)
		}
	}
	list, err := j.listed(ctx, r.Run, r.Name)
	if err != nil {
		return nil, needsActionsRead(err, "the draft's artifact cannot be read")
	}
	var out []reviewpr.Candidate
	for _, a := range list {
		out = append(out, reviewpr.Candidate{
			Found: checkpoint.Found{Name: a.Name, Size: a.Size, Expired: a.Expired, ExpiresAt: a.ExpiresAt, RepositoryID: a.RepoID},
			Run:   a.RunID,
			Fetch: func(ctx context.Context) ([]byte, error) {
				zip, err := j.api.Download(ctx, j.ref.Owner, j.ref.Repo, a.ID, checkpoint.MaxZip)
				return zip, unusable(r.Name, err)
			},
		})
	}
	return out, nil
}

// unusable turns what a store says of an artifact's content into the refusal
// that it is.
func unusable(name string, err error) error {
	refusal := &checkpoint.Refusal{Rows: [][2]string{{"where", "artifact " + name}, {"next", "start a new draft: run the review workflow again"}}}
	switch {
	case errors.Is(err, artifact.ErrDigest):
		refusal.Check, refusal.What = 2, "the artifact is not the draft that was shown"
	case errors.Is(err, transport.ErrTooLarge):
		refusal.Check, refusal.What = 1, "the artifact has a size that no draft has"
	case errors.Is(err, github.ErrExpired):
		refusal.Check, refusal.What, refusal.Expired = 1, "the draft was not decided in time, its artifact is gone", true
	default:
		return err
	}
	return refusal
}

// needsActionsRead makes a missing permission, as far as the API tells it from
// a bad token, a mistake in the workflow.
func needsActionsRead(err error, what string) error {
	if errors.Is(err, github.ErrNoAccess) && answered(err, http.StatusForbidden) {
		return usage{problem(what, "", "give the job actions: read")}
	}
	return err
}

func (j *job) listed(ctx context.Context, run int64, name string) ([]github.Artifact, error) {
	if run != 0 {
		return j.api.RunArtifacts(ctx, j.ref.Owner, j.ref.Repo, run, name)
	}
	return j.api.Artifacts(ctx, j.ref.Owner, j.ref.Repo, name)
}

func (j *job) runFacts(ctx context.Context, id int64) (checkpoint.RunFacts, error) {
	run, err := j.api.Run(ctx, j.ref.Owner, j.ref.Repo, id)
	if errors.Is(err, github.ErrNotFound) {
		return checkpoint.RunFacts{}, nil // refused by check 4
	}
	return checkpoint.RunFacts{
		ID: run.ID, Path: run.Path, Event: run.Event, HeadBranch: run.HeadBranch, RepositoryID: run.RepoID, HeadRepositoryID: run.HeadRepoID,
	}, needsActionsRead(err, "the run that made the draft cannot be read")
}

func answered(err error, code int) bool {
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && status.Code == code
}

// checkRecords is resume check 13 as far as decisions are on record: one of
// this draft, stored by a run that may decide, holds.
func (j *job) checkRecords(ctx context.Context, o checkpoint.Opened, verdict decision.Verdict) error {
	list, err := j.api.Artifacts(ctx, j.ref.Owner, j.ref.Repo, checkpoint.DecisionArtifactName(o.Code))
	if err != nil {
		return needsActionsRead(err, "earlier decisions cannot be read")
	}
	for _, a := range list {
		ours, err := j.mayRecord(ctx, a, o.Manifest.RepositoryID)
		if err != nil {
			return err
		}
		if a.Expired || !ours {
			continue
		}
		zip, err := j.api.Download(ctx, j.ref.Owner, j.ref.Repo, a.ID, checkpoint.MaxZip)
		if err != nil {
			return err
		}
		record, err := checkpoint.OpenRecord(zip)
		if err != nil {
			return err
		}
		if err := post.CheckRecord(record, o.Digest, verdict); err != nil {
			return err
		}
	}
	return nil
}

// mayRecord reports whether an artifact is of a run whose decisions count.
func (j *job) mayRecord(ctx context.Context, a github.Artifact, repoID int64) (bool, error) {
	facts, err := j.runFacts(ctx, a.RunID)
	if err != nil {
		return false, err
	}
	path, _, _ := strings.Cut(facts.Path, "@")
	known := path == j.draftWorkflow || path == j.decideWorkflow || path == workflowFile(j.env.WorkflowRef)
	fork := facts.HeadRepositoryID != repoID && facts.Event != "pull_request_target"
	return known && !fork && facts.RepositoryID == repoID && a.RepoID == repoID, nil
}
