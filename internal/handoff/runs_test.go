package handoff_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/handofftest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// reading is what a job knows of the runs of a repository.
func reading(t *testing.T, hub *githubtest.Server, repo *githubtest.Repo) *handoff.Runs {
	t.Helper()
	client := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(client.CloseIdleConnections)
	api, err := github.New(github.Options{APIURL: hub.URL, HTTP: client,
		Token: hub.AppToken(repo, map[string]string{"contents": "read", "actions": "read"})})
	require.NoError(t, err)
	return &handoff.Runs{API: api, Ref: pull.Ref{Owner: "o", Repo: "r"}, Names: "pr-review-",
		Files: []string{".github/workflows/pr-review.yml"}}
}

// onRecord is a decision as a run without a key stores it.
func onRecord(t *testing.T, r decision.Record) []byte {
	t.Helper()
	r.Thread, r.At, r.Via = "o/r#42:ab", made, decision.ByDispatch
	zip, err := checkpoint.Protection{}.PackRecord(r)
	require.NoError(t, err)
	return zip
}

func TestT19_T25_WhichRunsMayDraftAndDecide(t *testing.T) {
	t.Parallel()
	hub := githubtest.New(t)
	repo, fork := hub.AddRepo("o/r", githubtest.RepoOptions{}), hub.AddRepo("eve/r", githubtest.RepoOptions{})
	feature := repo.Commit("feature", "an edited workflow", githubtest.Tree{"x": "y"})
	const dispatch, pulled = "workflow_dispatch", "pull_request"
	for name, c := range map[string]struct {
		run       githubtest.RunOptions
		event     string // of the run under way
		own       bool   // it is the same
		counts    bool   // a decision that it stored
		onDefault bool   // check 4 is told so
	}{
		"the default branch's":        {counts: true},
		"the same, for a fork's pull": {run: githubtest.RunOptions{HeadRepo: fork}, counts: true},
		"another workflow's":          {run: githubtest.RunOptions{Path: ".github/workflows/other.yml"}},
		"a branch's":                  {run: githubtest.RunOptions{Event: pulled}, event: dispatch},
		"a branch's, as this run is":  {run: githubtest.RunOptions{Event: pulled}, event: pulled, counts: true},
		"a fork's own":                {run: githubtest.RunOptions{Event: pulled, HeadRepo: fork}, event: pulled},
		"a dispatch":                  {run: githubtest.RunOptions{Event: dispatch}, counts: true, onDefault: true},
		"a dispatch of a branch":      {run: githubtest.RunOptions{Event: dispatch, HeadBranch: "feature"}},
		"a dispatch of a branch at the default's commit": {
			run: githubtest.RunOptions{Event: dispatch, HeadBranch: "feature", HeadSHA: repo.Head("main")}},
		"a dispatch of a tag called as the branch": {
			run: githubtest.RunOptions{Event: dispatch, HeadSHA: feature}},
		"this very run": {run: githubtest.RunOptions{Event: dispatch, HeadBranch: "feature"}, event: dispatch,
			own: true, counts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, runs := repo.AddRun(c.run), reading(t, hub, repo)
			if runs.Event = c.event; c.own {
				runs.Own = run.ID
			}
			record := yes()
			run.AddArtifact("pr-review-decision", onRecord(t, record))
			found, err := runs.Stored(t.Context(), "pr-review-decision", run.ID)
			require.NoError(t, err)
			require.Len(t, found, 1)
			claim, ours, err := runs.Claim(t.Context(), found[0], checkpoint.Protection{}, repo.ID, "main")
			require.NoError(t, err)
			require.Equal(t, c.counts, ours)
			if ours {
				require.Equal(t, run.ID, claim.Run)
				require.Equal(t, []bool{true, false}, []bool{claim.Live, claim.Done})
				require.True(t, claim.Record.Same(record))
			}
			facts, err := runs.Facts("main")(t.Context(), run.ID)
			require.NoError(t, err)
			require.Equal(t, c.onDefault, facts.OnDefault)
		})
	}
}

func TestCheck13_ARecordThatCannotBeReadRefuses(t *testing.T) {
	t.Parallel()
	hub := githubtest.New(t)
	repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
	run, runs := repo.AddRun(githubtest.RunOptions{}), reading(t, hub, repo)
	run.AddArtifact("pr-review-decision", []byte("PK"))
	run.Finish("success")
	found, err := runs.Stored(t.Context(), "pr-review-decision", run.ID)
	require.NoError(t, err)
	_, ours, err := runs.Claim(t.Context(), found[0], checkpoint.Protection{}, repo.ID, "main")
	require.False(t, ours)
	require.Equal(t, 13, problem.Check(err), "%v", err)
	_, ours, err = runs.Claim(t.Context(), found[0], handofftest.Sealed(t), repo.ID, "main")
	require.False(t, ours)
	require.Equal(t, 13, problem.Check(err), "%v", err)
	found[0].RepositoryID = repo.ID + 1
	_, ours, err = runs.Claim(t.Context(), found[0], checkpoint.Protection{}, repo.ID, "main")
	require.NoError(t, err)
	require.False(t, ours, "another repository's")

	run.AddArtifact("pr-review-unsealed", onRecord(t, yes()))
	found, err = runs.Stored(t.Context(), "pr-review-unsealed", run.ID)
	require.NoError(t, err)
	_, ours, err = runs.Claim(t.Context(), found[0], handofftest.Sealed(t), repo.ID, "main")
	require.NoError(t, err)
	require.False(t, ours, "somebody's without the key")
	claim, ours, err := runs.Claim(t.Context(), found[0], checkpoint.Protection{}, repo.ID, "main")
	require.NoError(t, err)
	require.True(t, ours)
	require.Equal(t, []bool{false, true}, []bool{claim.Live, claim.Done})

	again := handoff.Stored{Item: found[0].Item} // of no place
	_, ours, err = runs.Claim(t.Context(), again, checkpoint.Protection{}, repo.ID, "main")
	require.NoError(t, err)
	require.True(t, ours, "what was read is not fetched again")
	facts, err := runs.Facts("main")(t.Context(), 999)
	require.NoError(t, err)
	require.Zero(t, facts, "check 4 refuses a run that is not there")
}

// A decision that is overlooked would be taken twice.
func TestP5_WhatCannotBeAskedOfARunIsNoNo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path   string
		status int
		check  int    // of the refusal; 0 where it is none
		want   string // of the error
	}{
		"the run, no access": {"/repos/o/r/actions/runs/*", 403, 0, "give the job actions: read"},
		"the run":            {"/repos/o/r/actions/runs/*", 500, 0, "500"},
		"the branch, hidden": {"/repos/o/r/branches/*", 404, 4, "give the job contents: read"},
		"the branch":         {"/repos/o/r/branches/*", 500, 0, "500"},
		"the record":         {"/repos/o/r/actions/artifacts/*/zip", 500, 0, "500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub := githubtest.New(t)
			repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
			run, runs := repo.AddRun(githubtest.RunOptions{Event: "workflow_dispatch"}), reading(t, hub, repo)
			run.AddArtifact("pr-review-decision", onRecord(t, yes()))
			found, err := runs.Stored(t.Context(), "pr-review-decision", run.ID)
			require.NoError(t, err)
			hub.Fail("GET", c.path, githubtest.Fault{Status: c.status})
			_, _, err = runs.Claim(t.Context(), found[0], checkpoint.Protection{}, repo.ID, "main")
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.check, problem.Check(err))
			if name != "the record" {
				_, err = runs.Facts("main")(t.Context(), run.ID)
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}
