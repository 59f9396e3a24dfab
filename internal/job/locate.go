package job

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// origin returns where checkpoints of this workflow must come from.
func (j *job) origin(change ingest.Change) handoff.Origin {
	return handoff.Origin{
		Names:    reviewpr.Names,
		Subject:  reviewpr.PullRequest(j.ref, change.Pull.RepoID, j.Instance),
		Thread:   func(head string) string { return pull.ThreadID(j.ref, j.Instance, head) },
		Workflow: cmp.Or(workflowFile(j.env.WorkflowRef), j.DraftWorkflow), Branch: change.Pull.DefaultBranch,
		Run: j.env.RunID, RunFacts: j.runs.Facts(change.Pull.DefaultBranch), Protection: j.Protection, Now: j.Now(),
	}
}

// lag is how long, in seconds, GitHub's lists may lack what an earlier job has stored.
const lag = 4

// candidates lists the artifacts with the draft's name. A draft of this run may be too new
// for GitHub's lists, so candidates looks for it again until lag is over.
func (j *job) candidates(ctx context.Context, r handoff.Resume) (found []handoff.Candidate, err error) {
	for second := 0; ; second += 2 {
		found, err = j.listed(ctx, r)
		if len(found) > 0 || err != nil || second >= lag || r.Run != j.env.RunID || j.CheckpointDir != "" {
			return found, err
		}
		if err := transport.Sleep(ctx, 2*time.Second); err != nil {
			return nil, err
		}
	}
}

// listed lists the artifacts with the draft's name. If checkpoint-dir is set it reads that
// folder. Otherwise it asks for this run's by the runner's protocol and, if there is none,
// the API for those of the run or, if r.Run is 0, of the repository.
func (j *job) listed(ctx context.Context, r handoff.Resume) ([]handoff.Candidate, error) {
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
			found := github.Artifact{Name: r.Name, Size: int64(len(zip)), RunID: r.Run,
				RepositoryID: r.Subject.RepositoryID}
			return []handoff.Candidate{{Artifact: found, Fetch: func(context.Context) ([]byte, error) {
				return zip, nil
			}}}, nil
		}
		status, ok := errors.AsType[*transport.StatusError](err)
		if !errors.Is(err, artifact.ErrNotFound) && !(ok && status.Code == http.StatusNotFound) {
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

// desk returns the desk that records decisions on drafts of the pull request.
func (j *job) desk(pr *pull.Pull) *handoff.Desk {
	return j.deskOf(reviewpr.PullRequest(j.ref, pr.RepoID, j.Instance), pr.DefaultBranch, j.posted)
}

// posted finds the posted review of a thread, whichever of its drafts was approved.
func (j *job) posted(ctx context.Context, thread string) (string, bool, error) {
	return post.FindPosted(ctx, j.ours, j.ref, thread)
}

// deskOf returns the desk that records decisions on drafts of a subject. standing finds what
// was done on a thread.
func (j *job) deskOf(about checkpoint.Subject, branch string,
	standing func(context.Context, string) (string, bool, error)) *handoff.Desk {
	desk := &handoff.Desk{
		Records: j.records(about, branch), Run: j.env.RunID, Listed: j.CheckpointDir == "" && j.store != nil,
		Keyed: j.Protection.Keyed(), Warn: j.warning, Standing: standing,
	}
	if j.own {
		desk.Records = unrecorded{j.records(about, branch)}
	}
	return desk
}

// unrecorded reads decisions but stores none: only a run can upload an artifact.
type unrecorded struct{ *handoff.Artifacts }

func (unrecorded) Put(context.Context, decision.Record) error { return nil }

func (j *job) records(about checkpoint.Subject, branch string) *handoff.Artifacts {
	all := &handoff.Artifacts{Runs: j.runs, Subject: about, Branch: branch, Protection: j.Protection, Out: j.Stdout,
		Warn: j.warning}
	if j.store != nil || j.CheckpointDir != "" {
		all.Own = j.carriers().Decisions()
	}
	if j.CheckpointDir != "" {
		all.Folder = all.Own
	}
	return all
}

// warning writes an annotation that says what happened and, if err is not nil, why.
func (j *job) warning(what string, err error) {
	if err != nil {
		what += ": " + driver.Explain(err)
	}
	j.warn(what)
}
