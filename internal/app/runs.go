package app

import (
	"github.com/org/pr-review-action/internal/handoff"

	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// runs reads the runs of a repository: who made a draft, and who has decided one.
type runs struct {
	api     *github.Client
	ref     pull.Ref
	files   []string                  // the workflow files whose runs may decide
	event   string                    // of the run under way, "" on the command line
	own     int64                     // that run, 0 there
	ended   map[int64]github.Run      // completed ones that were read
	landed  map[string]bool           // commits: whether the default branch has them
	records map[int64]decision.Record // by artifact: they never change
	cut     bool                      // not every artifact was looked through
	told    bool                      // and that was said
}

func newRuns(api *github.Client, ref pull.Ref, event string, files ...string) *runs {
	return &runs{api: api, ref: ref, event: event, files: files, ended: map[int64]github.Run{}, landed: map[string]bool{}, records: map[int64]decision.Record{}}
}

// read reads a run, once where it has completed.
func (r *runs) read(ctx context.Context, id int64) (github.Run, error) {
	if run, known := r.ended[id]; known {
		return run, nil
	}
	run, err := r.api.Run(ctx, r.ref.Owner, r.ref.Repo, id)
	if err == nil && run.Status == "completed" {
		r.ended[id] = run
	}
	return run, err
}

// facts reads runs for check 4, which refuses one that is not there. branch is the
// default one.
func (r *runs) facts(branch string) func(context.Context, int64) (checkpoint.RunFacts, error) {
	return func(ctx context.Context, id int64) (checkpoint.RunFacts, error) {
		run, err := r.read(ctx, id)
		if errors.Is(err, github.ErrNotFound) {
			return checkpoint.RunFacts{}, nil
		}
		if err != nil {
			return checkpoint.RunFacts{}, needsActionsRead(err, "the run that made the draft cannot be read")
		}
		on, err := r.dispatchedOn(ctx, run, branch)
		return checkpoint.RunFacts{
			ID: run.ID, Path: run.Path, Event: run.Event, HeadBranch: run.HeadBranch, HeadSHA: run.HeadSHA, OnDefault: on,
			RepositoryID: run.RepoID, HeadRepositoryID: run.HeadRepoID,
		}, err
	}
}

// dispatchedOn reports whether a run is a dispatch of the default branch, by name
// and by commit: a tag can have the name, and an edited workflow in it.
func (r *runs) dispatchedOn(ctx context.Context, run github.Run, branch string) (bool, error) {
	if run.Event != "workflow_dispatch" || run.HeadBranch != branch {
		return false, nil
	}
	if on, known := r.landed[run.HeadSHA]; known {
		return on, nil
	}
	on, err := r.api.OnBranch(ctx, r.ref.Owner, r.ref.Repo, branch, run.HeadSHA)
	if errors.Is(err, github.ErrNoAccess) || errors.Is(err, github.ErrNotFound) {
		return false, refusal(4, fmt.Sprintf("it cannot be read whether run %d is of the default branch", run.ID), err.Error(), "give the job contents: read; the draft still waits")
	}
	if err == nil {
		r.landed[run.HeadSHA] = on
	}
	return on, err
}

// claim reads a decision that a run has stored. It counts where its run may decide
// and, under a key, where its seal is ours.
func (r *runs) claim(ctx context.Context, s source, p checkpoint.Protection, repoID int64, branch string) (c handoff.Claim, ours bool, err error) {
	var run github.Run
	if _, folder := s.from.(artifactstore.Dir); !folder {
		if ours, run, err = r.mayRecord(ctx, s.Item, repoID, branch); err != nil || !ours || s.Expired {
			return handoff.Claim{}, false, err
		}
	}
	c = handoff.Claim{ID: s.ID, Run: s.RunID, Live: run.ID != 0 && run.Status != "completed", Done: run.Conclusion == "success"}
	if c.Record, ours = r.records[s.ID]; ours && s.ID != 0 {
		return c, true, nil
	}
	zip, err := s.from.Get(ctx, s.Item, checkpoint.MaxZip)
	if errors.Is(err, github.ErrExpired) || errors.Is(err, github.ErrNotFound) {
		return handoff.Claim{}, false, nil
	}
	if err != nil {
		return handoff.Claim{}, false, err
	}
	c.Record, err = p.OpenRecord(zip)
	switch {
	case errors.As(err, new(*checkpoint.Refusal)) && p.Keyed():
		return handoff.Claim{}, false, nil // somebody's without the key
	case err != nil:
		return handoff.Claim{}, false, refusal(13, "a decision on record for this draft cannot be read, nothing was posted",
			fmt.Sprintf("artifact %s of run %d: %v", s.Name, s.RunID, err),
			"delete that artifact if it is nobody's decision, or draft the commit anew with again: true")
	}
	r.records[s.ID] = c.Record
	return c, true, nil
}

// mayRecord reports whether an artifact is of a run whose decisions count, and
// reads that run. Its workflow must be the default branch's: that of a pull
// request's branch may say anything, and counts where the run under way is no better.
func (r *runs) mayRecord(ctx context.Context, i artifactstore.Item, repoID int64, branch string) (ours bool, run github.Run, err error) {
	run, err = r.read(ctx, i.RunID)
	if errors.Is(err, github.ErrNotFound) {
		return false, run, nil
	}
	if err != nil {
		return false, run, needsActionsRead(err, "the run that stored a decision cannot be read")
	}
	path, _, _ := strings.Cut(run.Path, "@")
	if !slices.Contains(r.files, path) || run.RepoID != repoID || i.RepositoryID != repoID {
		return false, run, nil
	}
	switch alike := r.event == run.Event; {
	case run.Event == "pull_request_target":
		return true, run, nil
	case run.HeadRepoID != repoID:
		return false, run, nil
	case run.Event == "pull_request", i.RunID == r.own:
		return alike, run, nil
	}
	ours, err = r.dispatchedOn(ctx, run, branch)
	return ours, run, err
}

// workflowFile takes the path out of owner/name/path@ref.
func workflowFile(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	parts := strings.SplitN(ref, "/", 3)
	return parts[len(parts)-1]
}

// needsActionsRead makes a missing permission, as far as the API tells it from
// a bad token, a mistake in the workflow.
func needsActionsRead(err error, what string) error {
	if errors.Is(err, github.ErrNoAccess) && answered(err, http.StatusForbidden) {
		return usage{problem(what, "", "give the job actions: read")}
	}
	return err
}

func answered(err error, code int) bool {
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && status.Code == code
}
