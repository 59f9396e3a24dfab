package handoff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// Runs reads a repository's workflow runs: who made a draft, and who has decided one.
type Runs struct {
	API   *github.Client
	Ref   pull.Ref // the repository
	Names Names    // names of what the runs store
	Files []string // the workflow files whose runs may decide
	Event string   // event of the current run, "" on the command line
	Own   int64    // id of the current run, 0 on the command line

	ended   map[int64]github.Run      // completed runs that were read
	landed  map[string]bool           // by commit: whether the default branch contains it
	records map[int64]decision.Record // by artifact; they never change
	cut     bool                      // not every artifact was searched
	told    bool                      // and the user was told
}

// artifactPages bounds how many pages of 100 of a repository's artifacts are
// searched: the API cannot search by prefix.
const artifactPages = 5

// Everything returns a view of the artifacts of all runs, within the search bound.
func (r *Runs) Everything() artifactstore.REST {
	return artifactstore.REST{API: r.API, Owner: r.Ref.Owner, Repo: r.Ref.Repo, Cut: &r.cut,
		Artifacts: github.Artifacts{Prefix: string(r.Names), Pages: artifactPages}}
}

// Stored returns the artifacts with a name, of one run or, if run is 0, of any run.
func (r *Runs) Stored(ctx context.Context, name string, run int64) ([]Stored, error) {
	place := artifactstore.REST{API: r.API, Owner: r.Ref.Owner, Repo: r.Ref.Repo,
		Artifacts: github.Artifacts{Run: run, Name: name}}
	return Named(ctx, place, name)
}

// TellCut writes once that not everything was searched: other people's runs can
// push older artifacts out of view.
func (r *Runs) TellCut(to io.Writer) {
	if r.cut && !r.told {
		r.told = true
		fmt.Fprintf(to, "Only the newest %d artifacts of %s were looked through: "+
			"drafts and decisions behind them are not seen.\n", 100*artifactPages, r.Ref.FullName())
	}
}

// Read returns a run, and caches it once it has completed.
func (r *Runs) Read(ctx context.Context, id int64) (github.Run, error) {
	if run, known := r.ended[id]; known {
		return run, nil
	}
	run, err := r.API.Run(ctx, r.Ref.Owner, r.Ref.Repo, id)
	if err == nil && run.Status == "completed" {
		remember(&r.ended, id, run)
	}
	return run, err
}

// Facts returns a function that reads runs for check 4, which refuses a missing
// run. branch is the default branch.
func (r *Runs) Facts(branch string) func(context.Context, int64) (checkpoint.Run, error) {
	return func(ctx context.Context, id int64) (checkpoint.Run, error) {
		run, err := r.Read(ctx, id)
		if errors.Is(err, github.ErrNotFound) {
			return checkpoint.Run{}, nil
		}
		if err != nil {
			return checkpoint.Run{}, NeedsActions(err, "the run that made the draft cannot be read")
		}
		on, err := r.dispatchedOn(ctx, run, branch)
		return checkpoint.Run{Run: run, OnDefault: on}, err
	}
}

// dispatchedOn reports whether a run was dispatched on the default branch, by name
// and by commit: a tag can have the branch's name and contain an edited workflow.
func (r *Runs) dispatchedOn(ctx context.Context, run github.Run, branch string) (bool, error) {
	if run.Event != "workflow_dispatch" || run.HeadBranch != branch {
		return false, nil
	}
	if on, known := r.landed[run.HeadSHA]; known {
		return on, nil
	}
	on, err := r.API.OnBranch(ctx, r.Ref.Owner, r.Ref.Repo, branch, run.HeadSHA)
	if errors.Is(err, github.ErrNoAccess) || errors.Is(err, github.ErrNotFound) {
		return false, problem.Refuse(4,
			fmt.Sprintf("cannot tell whether run %d is of the default branch", run.ID),
			"give the job contents: read; the draft still waits", problem.At(err.Error()))
	}
	if err == nil {
		remember(&r.landed, run.HeadSHA, on)
	}
	return on, err
}

// Claim reads a decision that a run has stored. It is ours only if the run may
// decide and, under a key, if the seal is valid.
func (r *Runs) Claim(ctx context.Context, s Stored, p checkpoint.Protection, repositoryID int64,
	branch string) (c Claim, ours bool, err error) {
	var run github.Run
	if s.Source != artifactstore.OfFolder {
		if ours, run, err = r.mayRecord(ctx, s.Item, repositoryID, branch); err != nil || !ours || s.Expired {
			return Claim{}, false, err
		}
	}
	return r.open(ctx, s, run, p)
}

// open reads the record of a run's decision; under a key it must be sealed with it.
func (r *Runs) open(ctx context.Context, s Stored, run github.Run, p checkpoint.Protection) (c Claim, ours bool,
	err error) {
	c = Claim{ID: s.ID, Run: s.RunID, Live: run.ID != 0 && run.Status != "completed", Done: run.Conclusion == "success"}
	if c.Record, ours = r.records[s.ID]; ours && s.ID != 0 {
		return c, true, nil
	}
	zip, err := s.From.Get(ctx, s.Item, checkpoint.MaxZip)
	if errors.Is(err, github.ErrExpired) || errors.Is(err, github.ErrNotFound) {
		return Claim{}, false, nil
	}
	if err != nil {
		return Claim{}, false, err
	}
	c.Record, err = p.OpenRecord(zip)
	switch {
	case problem.Check(err) > 0 && p.Keyed():
		return Claim{}, false, nil // written without the key
	case err != nil:
		return Claim{}, false, problem.Refuse(13,
			"a decision on record for this draft cannot be read, nothing was posted",
			"delete that artifact if it is nobody's decision, or draft again (a review with again: true)",
			problem.At(fmt.Sprintf("artifact %s of run %d: %v", s.Name, s.RunID, err)))
	}
	remember(&r.records, s.ID, c.Record)
	return c, true, nil
}

// mayRecord reports whether an artifact is from a run whose decisions count, and returns
// that run. Its workflow must be the default branch's: that of a pull request's branch
// may contain anything, so it counts only if the current run is of the same kind.
func (r *Runs) mayRecord(ctx context.Context, i artifactstore.Item, repositoryID int64, branch string) (ours bool,
	run github.Run, err error) {
	run, err = r.Read(ctx, i.RunID)
	if errors.Is(err, github.ErrNotFound) {
		return false, run, nil
	}
	if err != nil {
		return false, run, NeedsActions(err, "the run that stored a decision cannot be read")
	}
	path, _, _ := strings.Cut(run.Path, "@")
	if !slices.Contains(r.Files, path) || run.RepoID != repositoryID ||
		i.RepositoryID != repositoryID && i.RepositoryID != 0 {
		return false, run, nil
	}
	switch alike := r.Event == run.Event; {
	case run.Event == "pull_request_target":
		return true, run, nil
	case run.HeadRepoID != repositoryID:
		return false, run, nil
	case run.Event == "pull_request", i.RunID == r.Own:
		return alike, run, nil
	}
	ours, err = r.dispatchedOn(ctx, run, branch)
	return ours, run, err
}

// remember stores a value in a cache and creates the map if needed.
func remember[K comparable, V any](into *map[K]V, key K, value V) {
	if *into == nil {
		*into = map[K]V{}
	}
	(*into)[key] = value
}

// NeedsActions turns a missing permission, if the API distinguishes it from a bad
// token, into a usage error about the workflow.
func NeedsActions(err error, what string) error {
	if status, ok := errors.AsType[*transport.StatusError](err); ok && status.Code == http.StatusForbidden &&
		errors.Is(err, github.ErrNoAccess) {
		return problem.Usage(what, "give the job actions: read")
	}
	return err
}
