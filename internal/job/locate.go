package job

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wire"
)

// verified is a draft that passed checks 1 to 10, what has changed since it was
// made without mattering, and the pull request as it is now.
type verified struct {
	checkpoint.Draft
	changes []string
	now     ingest.Change
}

// verify finds the draft and runs the resume checks up to 10.
func (j *job) verify(ctx context.Context) (verified, error) {
	shown := cmp.Or(j.Digest, j.Code)
	change, err := ingest.Current(ctx, j.api, j.ref)
	if err != nil {
		return verified{}, err
	}
	r := handoff.Resume{
		Origin: j.origin(change), Graph: reviewpr.Name, Version: reviewpr.Version, Shown: shown,
		Name: reviewpr.Names.Draft(reviewpr.PullRequest(j.ref, 0, j.Instance), shown),
		Settings: checkpoint.Settings{
			Trust: j.Protection.Trust, Environment: j.Environment,
			ToolVersion: wire.Version(), PromptFingerprint: prompt.Fingerprint(),
		},
		Unmoved: func(_ context.Context, o checkpoint.Draft) error {
			return post.CheckHead(o.Manifest.Subject, o.Code, driver.PullNow(change))
		},
	}
	r.Run = cmp.Or(j.RunID, r.Run)
	if !j.routeA() { // a run of another workflow drafted it
		r.Run, r.Workflow = j.RunID, j.DraftWorkflow
	}
	candidates, err := j.candidates(ctx, r)
	if err != nil {
		return verified{}, err
	}
	opened, changes, err := r.Verify(ctx, candidates)
	return verified{opened, changes, change}, err
}

// origin is where checkpoints of this workflow must come from.
func (j *job) origin(change ingest.Change) handoff.Origin {
	return handoff.Origin{
		Names:    reviewpr.Names,
		Subject:  reviewpr.PullRequest(j.ref, change.Pull.RepoID, j.Instance),
		Thread:   func(head string) string { return pull.ThreadID(j.ref, j.Instance, head) },
		Workflow: cmp.Or(workflowFile(j.env.WorkflowRef), j.DraftWorkflow), Branch: change.Pull.DefaultBranch,
		Run: j.env.RunID, RunFacts: j.runs.Facts(change.Pull.DefaultBranch), Protection: j.Protection, Now: j.Now(),
	}
}

// candidates lists the artifacts of the draft's name: in the folder where one
// carries it; else this run's by the runner's protocol, and where that has none,
// by the API those of the run or, where it is 0, of the repository.
func (j *job) candidates(ctx context.Context, r handoff.Resume) ([]handoff.Candidate, error) {
	if j.CheckpointDir != "" {
		found, err := handoff.Named(ctx, j.carriers().Own(), r.Name)
		if err != nil {
			return nil, problem.New("the folder of checkpoint-dir cannot be read", err.Error(),
				"name the folder that holds the draft's zip")
		}
		return handoff.Candidates(found, r.Subject.RepositoryID), nil
	}
	if j.store != nil && r.Run == j.env.RunID {
		zip, err := j.store.Download(ctx, r.Name, checkpoint.MaxZip)
		if err == nil {
			found := checkpoint.Found{Name: r.Name, Size: int64(len(zip)), RepositoryID: r.Subject.RepositoryID}
			return []handoff.Candidate{{Found: found, Run: r.Run, Fetch: func(context.Context) ([]byte, error) {
				return zip, nil
			}}}, nil
		}
		if !errors.Is(err, artifact.ErrNotFound) && !answered(err, http.StatusNotFound) {
			return nil, handoff.Unusable(r.Name, err)
		}
	}
	found, err := j.runs.Stored(ctx, r.Name, r.Run)
	if errors.Is(err, github.ErrNotFound) {
		err = nil // no such run here: check 1
	}
	return handoff.Candidates(found, r.Subject.RepositoryID),
		handoff.NeedsActions(err, "the draft's artifact cannot be read")
}

// desk is where decisions on drafts of the pull request are kept.
func (j *job) desk(pr *pull.Pull) *handoff.Desk {
	return &handoff.Desk{
		Records: j.records(pr), Run: j.env.RunID, Listed: j.CheckpointDir == "" && j.store != nil,
		Keyed: j.Protection.Keyed(), Warn: j.warning,
		Standing: func(ctx context.Context, thread string) (string, bool, error) {
			return post.FindPosted(ctx, j.ours, j.ref, thread)
		},
	}
}

func (j *job) records(pr *pull.Pull) *handoff.Artifacts {
	all := &handoff.Artifacts{
		Runs: j.runs, Subject: reviewpr.PullRequest(j.ref, pr.RepoID, j.Instance), Branch: pr.DefaultBranch,
		Protection: j.Protection, Out: j.Stdout, Warn: j.warning,
	}
	if j.store != nil || j.CheckpointDir != "" {
		all.Own = j.carriers().Own()
	}
	if j.CheckpointDir != "" {
		all.Folder = all.Own
	}
	return all
}

// warning is an annotation of what happened, and why where there is an error.
func (j *job) warning(what string, err error) {
	if err != nil {
		what += ": " + driver.Explain(err)
	}
	j.runner.Warning(what)
}

func answered(err error, code int) bool {
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && status.Code == code
}

// workflowFile takes the path out of owner/name/path@ref.
func workflowFile(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	parts := strings.SplitN(ref, "/", 3)
	return parts[len(parts)-1]
}
