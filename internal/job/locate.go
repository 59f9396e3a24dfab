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
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// reviewed is the review of a pull request, as it is now.
func (j *job) reviewed(ctx context.Context) (*gated[reviewpr.State], error) {
	if j.Mode == "resume" {
		if err := j.probe(ctx); err != nil {
			return nil, err
		}
	}
	now, err := ingest.Current(ctx, j.api, j.ref)
	if err != nil {
		return nil, err
	}
	steps := reviewpr.Steps{Post: func(ctx context.Context, s reviewpr.State) (post.Posted, error) {
		return driver.Post(ctx, j.ours, s, j.desk(now.Pull).Race(*s.Decision), false, j.runner.Warning)
	}}
	return &gated[reviewpr.State]{
		job: j, of: reviewpr.Subject(driver.CheckShown), origin: j.origin(now),
		graph: reviewpr.Name, version: reviewpr.Version, prompt: prompt.Fingerprint(),
		build: func(store graph.Store) (*graph.Flow[reviewpr.State], error) {
			return reviewpr.New(steps, store, driver.Sealing(j.Protection)...)
		},
		unmoved: func(_ context.Context, o checkpoint.Draft) error {
			return post.CheckHead(o.Manifest.Subject, o.Code, driver.PullNow(now))
		},
		standing: func(reviewpr.State) func(context.Context, string) (string, bool, error) { return j.posted },
		author:   func(context.Context, checkpoint.Manifest) (string, error) { return now.Pull.Author, nil },
		deciders: func(s reviewpr.State) []string { return s.Draft.Config.Deciders },
		items:    reviewpr.State.Items, compared: everything, onRecord: reviewpr.State.OnRecord, speaks: true,
		parent: func(s reviewpr.State) string { return s.Draft.Trace },
		report: func(ctx context.Context, o *handoff.Draft[reviewpr.State]) (driver.Report, error) {
			return driver.ReportOf(ctx, o.Flow, o.Store, o.Manifest.Thread, j.Protection)
		},
	}, nil
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
			found := github.Artifact{Name: r.Name, Size: int64(len(zip)), RunID: r.Run,
				RepositoryID: r.Subject.RepositoryID}
			return []handoff.Candidate{{Artifact: found, Fetch: func(context.Context) ([]byte, error) {
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
	return j.deskOf(reviewpr.PullRequest(j.ref, pr.RepoID, j.Instance), pr.DefaultBranch, j.posted)
}

// posted finds the review of a thread, whichever draft of it was approved.
func (j *job) posted(ctx context.Context, thread string) (string, bool, error) {
	return post.FindPosted(ctx, j.ours, j.ref, thread)
}

// deskOf is where decisions on drafts of a subject are kept; standing finds what was done.
func (j *job) deskOf(about checkpoint.Subject, branch string,
	standing func(context.Context, string) (string, bool, error)) *handoff.Desk {
	return &handoff.Desk{
		Records: j.records(about, branch), Run: j.env.RunID, Listed: j.CheckpointDir == "" && j.store != nil,
		Keyed: j.Protection.Keyed(), Warn: j.warning, Standing: standing,
	}
}

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
