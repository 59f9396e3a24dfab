package app

import (
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"

	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
)

// verified is a draft that passed checks 1 to 10, what has changed since it was
// made without mattering, and the pull request as it is now.
type verified struct {
	checkpoint.Opened
	changes []string
	now     ingest.Change
}

// verify finds the draft and runs the resume checks up to 10.
func (j *job) verify(ctx context.Context) (verified, error) {
	shown := cmp.Or(j.digest, j.code)
	change, err := ingest.Current(ctx, j.api, j.ref)
	if err != nil {
		return verified{}, err
	}
	r := handoff.Resume{
		Origin: j.origin(change), Graph: reviewpr.Name, Version: reviewpr.Version, Name: handoff.ArtifactName(j.ref.Number, j.instance, checkpoint.Code(shown)), Shown: shown,
		Settings: checkpoint.Settings{Trust: j.protection.Trust, Environment: j.environment, ToolVersion: Version(), PromptFingerprint: prompt.Fingerprint()},
		Unmoved: func(_ context.Context, o checkpoint.Opened) error {
			return post.CheckHead(o.Manifest.Subject, o.Code, pullNow(change))
		},
	}
	r.Run = cmp.Or(j.runID, r.Run)
	if !j.routeA() { // a run of another workflow drafted it
		r.Run, r.Workflow = j.runID, j.draftWorkflow
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
		Subject: reviewpr.Subject(j.ref, change.Pull.RepoID, j.instance), Thread: func(head string) string { return pull.ThreadID(j.ref, j.instance, head) },
		Branch: change.Pull.DefaultBranch, Protection: j.protection,
		Workflow: cmp.Or(workflowFile(j.env.WorkflowRef), j.draftWorkflow), Run: j.env.RunID, RunFacts: j.runs.facts(change.Pull.DefaultBranch), Now: j.Now(),
	}
}

// candidates lists the artifacts of the draft's name: in the folder where one
// carries it; else this run's by the runner's protocol, and where that has none,
// by the API those of the run or, where it is 0, of the repository.
func (j *job) candidates(ctx context.Context, r handoff.Resume) ([]handoff.Candidate, error) {
	if j.checkpointDir != "" {
		found, err := named(ctx, j.carrier(), r.Name)
		if err != nil {
			return nil, problem("the folder of checkpoint-dir cannot be read", err.Error(), "name the folder that holds the draft's zip")
		}
		return candidatesOf(found, r.Subject.RepositoryID), nil
	}
	if j.store != nil && r.Run == j.env.RunID {
		zip, err := j.store.Download(ctx, r.Name, checkpoint.MaxZip)
		if err == nil {
			found := checkpoint.Found{Name: r.Name, Size: int64(len(zip)), RepositoryID: r.Subject.RepositoryID}
			return []handoff.Candidate{{Found: found, Run: r.Run, Fetch: func(context.Context) ([]byte, error) { return zip, nil }}}, nil
		}
		if !errors.Is(err, artifact.ErrNotFound) && !answered(err, http.StatusNotFound) {
			return nil, unusable(r.Name, err)
		}
	}
	found, err := named(ctx, j.rest(r.Name, r.Run), r.Name)
	if errors.Is(err, github.ErrNotFound) {
		err = nil // no such run here: check 1
	}
	return candidatesOf(found, r.Subject.RepositoryID), needsActionsRead(err, "the draft's artifact cannot be read")
}

// rest reads artifacts of one name by the API, of a run or, where it is 0, of any.
func (j *job) rest(name string, run int64) artifactstore.REST {
	return artifactstore.REST{API: j.api, Owner: j.ref.Owner, Repo: j.ref.Repo, Name: name, RunID: run}
}

// siblings are the decisions on other drafts of the pull request, as far as they
// are among the repository's newer artifacts.
func (j *job) siblings(ctx context.Context, code string) ([]source, error) {
	all, err := sources(ctx, j.runs.everything())
	j.runs.tellCut(j.Stdout)
	codes := map[string]bool{}
	for _, s := range all {
		if name, ok := j.checkpointName(s); ok {
			codes[handoff.DecisionArtifactName(name.Code)] = name.Code != code
		}
	}
	found := slices.DeleteFunc(all, func(s source) bool { return !codes[s.Name] })
	return found[:min(len(found), maxSiblings)], err
}

// maxSiblings bounds how many decisions on other drafts are read: anybody can
// name an artifact.
const maxSiblings = 50

// claims are the decisions on a draft, and on others of its pull request, that
// runs which may decide have stored.
func (j *job) claims(ctx context.Context, code string, o *pull.Pull) ([]handoff.Claim, error) {
	name := handoff.DecisionArtifactName(code)
	found, err := named(ctx, j.rest(name, 0), name)
	others, othersErr := j.siblings(ctx, code)
	if err := cmp.Or(err, othersErr); err != nil {
		return nil, needsActionsRead(err, "earlier decisions cannot be read")
	}
	found = append(found, others...)
	if j.checkpointDir != "" {
		there, _ := named(ctx, j.carrier(), name) // a folder that cannot be read holds no decision
		found = append(found, there...)
	}
	var claims []handoff.Claim
	for _, s := range found {
		claim, ours, err := j.runs.claim(ctx, s, j.protection, o.RepoID, o.DefaultBranch)
		if err != nil {
			return nil, err
		}
		if ours {
			claims = append(claims, claim)
		}
	}
	return claims, nil
}
