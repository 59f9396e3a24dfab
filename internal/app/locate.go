package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
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
	r := reviewpr.Resume{
		Name: checkpoint.ArtifactName(j.ref.Number, j.instance, checkpoint.Code(shown)), Shown: shown,
		Ref: j.ref, RepoID: change.Pull.RepoID, Instance: j.instance, Branch: change.Pull.DefaultBranch,
		Workflow: j.draftWorkflow, Run: j.runID, Now: j.Now(), Protection: j.protection,
		Settings: checkpoint.Settings{Trust: j.protection.Trust, Environment: j.environment, ToolVersion: Version(), PromptFingerprint: prompt.Fingerprint()},
		RunFacts: j.runFacts,
		PullNow:  func(context.Context) (checkpoint.PullNow, error) { return pullNow(change), nil },
	}
	if j.routeA() {
		r.Run = cmp.Or(j.runID, j.env.RunID)
		r.Workflow = cmp.Or(workflowFile(j.env.WorkflowRef), j.draftWorkflow)
	}
	if r.Candidates, err = j.candidates(ctx, r); err != nil {
		return verified{}, err
	}
	opened, changes, err := r.Verify(ctx)
	return verified{opened, changes, change}, err
}

// workflowFile takes the path out of owner/name/path@ref.
func workflowFile(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	parts := strings.SplitN(ref, "/", 3)
	return parts[len(parts)-1]
}

// candidates lists the artifacts of the draft's name: in the folder where one
// carries it; else this run's by the runner's protocol, and where that has none,
// by the API those of the run or, where it is 0, of the repository.
func (j *job) candidates(ctx context.Context, r reviewpr.Resume) ([]reviewpr.Candidate, error) {
	if j.checkpointDir != "" {
		found, err := named(ctx, j.carrier(), r.Name)
		if err != nil {
			return nil, problem("the folder of checkpoint-dir cannot be read", err.Error(), "name the folder that holds the draft's zip")
		}
		return j.candidatesOf(found, r.RepoID), nil
	}
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
	found, err := named(ctx, j.rest(r.Name, r.Run), r.Name)
	if errors.Is(err, github.ErrNotFound) {
		err = nil // no such run here: check 1
	}
	return j.candidatesOf(found, r.RepoID), needsActionsRead(err, "the draft's artifact cannot be read")
}

// rest reads artifacts of one name by the API, of a run or, where it is 0, of any.
func (j *job) rest(name string, run int64) artifactstore.REST {
	return artifactstore.REST{API: j.api, Owner: j.ref.Owner, Repo: j.ref.Repo, Name: name, RunID: run}
}

// source is an artifact and where it can be had.
type source struct {
	artifactstore.Item
	from artifactstore.Carrier
}

// named is what a place has of a name, newest first.
func named(ctx context.Context, place artifactstore.Carrier, name string) ([]source, error) {
	items, err := place.List(ctx)
	var found []source
	for _, i := range items {
		if i.Name == name {
			found = append(found, source{i, place})
		}
	}
	return found, err
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

func (j *job) runFacts(ctx context.Context, id int64) (checkpoint.RunFacts, error) {
	return runFacts(ctx, j.api, j.ref, id)
}

// runFacts reads a run for check 4, which refuses one that is not there.
func runFacts(ctx context.Context, api *github.Client, ref pull.Ref, id int64) (checkpoint.RunFacts, error) {
	run, err := api.Run(ctx, ref.Owner, ref.Repo, id)
	if errors.Is(err, github.ErrNotFound) {
		return checkpoint.RunFacts{}, nil
	}
	return checkpoint.RunFacts{
		ID: run.ID, Path: run.Path, Event: run.Event, HeadBranch: run.HeadBranch, RepositoryID: run.RepoID, HeadRepositoryID: run.HeadRepoID,
	}, needsActionsRead(err, "the run that made the draft cannot be read")
}

func answered(err error, code int) bool {
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && status.Code == code
}

// siblings are the decisions on other drafts of the pull request, as far as they
// are among the repository's newer artifacts.
func (j *job) siblings(ctx context.Context, code string) ([]source, error) {
	place := artifactstore.REST{API: j.api, Owner: j.ref.Owner, Repo: j.ref.Repo, Prefix: "pr-review-", Pages: artifactPages}
	items, err := place.List(ctx)
	codes := map[string]bool{}
	for _, i := range items {
		if name, ok := checkpoint.ParseName(i.Name); ok && name.Pull == j.ref.Number && name.Instance == j.instance {
			codes[checkpoint.DecisionArtifactName(name.Code)] = name.Code != code
		}
	}
	var found []source
	for _, i := range items {
		if codes[i.Name] && len(found) < maxSiblings {
			found = append(found, source{i, place})
		}
	}
	return found, err
}

// maxSiblings bounds how many decisions on other drafts are read: anybody can
// name an artifact.
const maxSiblings = 50

// claims are the decisions on a draft, and on others of its pull request, that
// runs which may decide have stored.
func (j *job) claims(ctx context.Context, code string, o *pull.Pull) ([]post.Claim, error) {
	name := checkpoint.DecisionArtifactName(code)
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
	var claims []post.Claim
	for _, s := range found {
		claim, ours, err := j.claim(ctx, s, o)
		if err != nil {
			return nil, err
		}
		if ours {
			claims = append(claims, claim)
		}
	}
	return claims, nil
}

// claim reads one decision. It counts where its run may decide and, under a key,
// where its seal is ours.
func (j *job) claim(ctx context.Context, s source, o *pull.Pull) (c post.Claim, ours bool, err error) {
	var run github.Run
	if _, folder := s.from.(artifactstore.Dir); !folder {
		if ours, run, err = j.mayRecord(ctx, s.Item, o.RepoID, o.DefaultBranch); err != nil || !ours || s.Expired {
			return post.Claim{}, false, err
		}
	}
	claim := post.Claim{ID: s.ID, Run: s.RunID, Live: run.ID != 0 && run.Status != "completed", Done: run.Conclusion == "success"}
	if claim.Record, ours = j.records[s.ID]; ours && s.ID != 0 {
		return claim, true, nil
	}
	zip, err := s.from.Get(ctx, s.Item, checkpoint.MaxZip)
	if errors.Is(err, github.ErrExpired) || errors.Is(err, github.ErrNotFound) {
		return post.Claim{}, false, nil
	}
	if err != nil {
		return post.Claim{}, false, err
	}
	claim.Record, err = j.protection.OpenRecord(zip)
	if errors.As(err, new(*checkpoint.Refusal)) && j.protection.Keyed() {
		return post.Claim{}, false, nil // somebody's without the key
	}
	if err != nil {
		err = &checkpoint.Refusal{Check: 13, What: "a decision on record for this draft cannot be read, nothing was posted", Rows: [][2]string{
			{"where", fmt.Sprintf("artifact %s of run %d: %v", s.Name, s.RunID, err)},
			{"next", "delete that artifact if it is nobody's decision, or draft the commit anew with again: true"},
		}}
	}
	if err == nil {
		if j.records == nil {
			j.records = map[int64]decision.Record{}
		}
		j.records[s.ID] = claim.Record
	}
	return claim, err == nil, err
}

// readRun reads a run, once where it has completed.
func (j *job) readRun(ctx context.Context, id int64) (github.Run, error) {
	if run, known := j.runs[id]; known {
		return run, nil
	}
	run, err := j.api.Run(ctx, j.ref.Owner, j.ref.Repo, id)
	if err == nil && run.Status == "completed" {
		if j.runs == nil {
			j.runs = map[int64]github.Run{}
		}
		j.runs[id] = run
	}
	return run, err
}

// mayRecord reports whether an artifact is of a run whose decisions count, and
// reads that run.
func (j *job) mayRecord(ctx context.Context, i artifactstore.Item, repoID int64, branch string) (ours bool, run github.Run, err error) {
	run, err = j.readRun(ctx, i.RunID)
	if errors.Is(err, github.ErrNotFound) {
		return false, run, nil
	}
	if err != nil {
		return false, run, needsActionsRead(err, "the run that stored a decision cannot be read")
	}
	path, _, _ := strings.Cut(run.Path, "@")
	known := path == j.draftWorkflow || path == j.decideWorkflow || path == workflowFile(j.env.WorkflowRef)
	return known && mayAct(run, repoID, branch, j.event.Name) && i.RepositoryID == repoID, run, nil
}

// mayAct reports whether a run's workflow is the default branch's. A branch's own
// may say anything; it counts where the run under way, of event, is no better.
func mayAct(run github.Run, repoID int64, branch, event string) bool {
	alike := run.Event == "pull_request" && event == run.Event
	ours := run.HeadRepoID == repoID && (run.HeadBranch == branch || alike)
	return run.RepoID == repoID && (run.Event == "pull_request_target" || ours)
}
