package post_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// evidence is a posted review, and what GitHub knows about it.
type evidence struct {
	hub    *githubtest.Server
	repo   *githubtest.Repo
	ours   *post.Ours
	review github.Review
	marker marker.Review
}

// posted is a review by an account, with the record of the decision behind it.
func posted(t *testing.T, login string, change func(*decision.Record, *marker.Review)) evidence {
	t.Helper()
	e := evidence{hub: githubtest.New(t)}
	e.repo = e.hub.AddRepo("o/r", githubtest.RepoOptions{})
	e.repo.Permit("maya", "write")
	p := e.repo.AddPull(githubtest.PullOptions{Number: 42})
	thread := pull.ThreadID(ref, "", e.repo.Head(p.Head()))
	record := decision.Record{Decision: decision.Approve, By: "rita", Thread: thread, Digest: digest,
		Code: digest[:16], At: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC), Via: decision.ByDispatch}
	e.marker = marker.Review{Thread: thread, Digest: digest, Approved: digest}
	change(&record, &e.marker)
	zip, err := checkpoint.Protection{}.PackRecord(record)
	require.NoError(t, err)
	e.repo.AddRun(githubtest.RunOptions{Event: "workflow_dispatch"}).
		AddArtifact("pr-review-decision-"+checkpoint.Code(digest), zip)
	p.AddReview(login, e.marker.String())
	client := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(client.CloseIdleConnections)
	api, err := github.New(github.Options{APIURL: e.hub.URL, HTTP: client, Token: e.hub.AppToken(e.repo,
		map[string]string{"contents": "read", "actions": "read", "pull_requests": "read"})})
	require.NoError(t, err)
	e.ours = post.NewOurs(post.Ours{Client: api, Now: time.Now, Retention: 1 << 62, Runs: &handoff.Runs{API: api,
		Ref: ref, Names: "pr-review-", Files: []string{".github/workflows/pr-review.yml"}, Event: "workflow_dispatch"}})
	reviews, err := api.Reviews(t.Context(), ref)
	require.NoError(t, err)
	require.Len(t, reviews, 1)
	e.review = reviews[0]
	return e
}

func TestCheck13_T12_AMarkerCountsWithEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		login  string
		change func(*decision.Record, *marker.Review)
		stands bool
	}{
		"an approval on record": {github.ActionsBot, func(*decision.Record, *marker.Review) {}, true},
		"a rejection on record": {github.ActionsBot, func(r *decision.Record, _ *marker.Review) {
			r.Decision = decision.Abort
		}, false},
		"of another digest": {github.ActionsBot, func(r *decision.Record, _ *marker.Review) {
			r.Digest = digest[:16] + strings.Repeat("f", 48)
		}, false},
		"of another thread": {github.ActionsBot, func(r *decision.Record, _ *marker.Review) {
			r.Thread = strings.Replace(r.Thread, "#42:", "#43:", 1)
		}, false},
		"of a code alone":     {github.ActionsBot, func(_ *decision.Record, m *marker.Review) { m.Digest = digest[:16] }, false},
		"an app's, not ours":  {"other[bot]", func(*decision.Record, *marker.Review) {}, false},
		"a writer's":          {"maya", func(*decision.Record, *marker.Review) {}, true},
		"an outsider's":       {"eve", func(*decision.Record, *marker.Review) {}, false},
		"the author's":        {"author", func(*decision.Record, *marker.Review) {}, false},
		"of another's commit": {"maya", func(_ *decision.Record, m *marker.Review) { m.Thread = "o/r#42:" + head }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := posted(t, c.login, c.change)
			stands, err := e.ours.Stands(t.Context(), e.review, e.marker)
			require.NoError(t, err)
			require.Equal(t, c.stands, stands)
		})
	}
}

// A review of ours that is overlooked would be posted twice.
func TestP5_WhatCannotBeAskedOfAReviewIsNoNo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ login, path string }{
		"whose token this is":      {github.ActionsBot, "/user"},
		"the pull request":         {github.ActionsBot, "/repos/o/r/pulls/42"},
		"the records":              {github.ActionsBot, "/repos/o/r/actions/artifacts"},
		"the run of a record":      {github.ActionsBot, "/repos/o/r/actions/runs/*"},
		"a record":                 {github.ActionsBot, "/repos/o/r/actions/artifacts/*/zip"},
		"whether a person writes":  {"maya", "/repos/o/r/collaborators/maya/permission"},
		"whose pull request it is": {"maya", "/repos/o/r/pulls/42"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := posted(t, c.login, func(*decision.Record, *marker.Review) {})
			e.hub.Fail("GET", c.path, githubtest.Fault{Status: 500})
			_, err := e.ours.Stands(t.Context(), e.review, e.marker)
			require.ErrorContains(t, err, "500")
			_, err = e.ours.Remembers(t.Context(), e.review, e.marker)
			require.ErrorContains(t, err, "500", "nor is a result kept")
			e.hub.ClearFaults()
			stands, err := e.ours.Stands(t.Context(), e.review, e.marker)
			require.NoError(t, err)
			require.True(t, stands)
		})
	}
}

// TestCheck13_ARecordFindsAReviewWhateverItsTextIsNow has somebody edit the marker away.
func TestCheck13_ARecordFindsAReviewWhateverItsTextIsNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*decision.Record, *github.Review)
		before bool
		check  int
	}{
		"of the same decision":    {func(*decision.Record, *github.Review) {}, true, 0},
		"of another draft":        {func(r *decision.Record, _ *github.Review) { r.Digest = strings.Repeat("f", 64) }, false, 13},
		"of another thread":       {func(r *decision.Record, _ *github.Review) { r.Thread += "0" }, false, 0},
		"of another review":       {func(r *decision.Record, _ *github.Review) { r.Review++ }, false, 0},
		"known to the draft":      {func(_ *decision.Record, r *github.Review) { r.Body, r.At = otherDiff, time.Time{} }, false, 0},
		"of a review not yet out": {func(_ *decision.Record, r *github.Review) { r.State = "PENDING" }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q, record := request(), yes()
				q.Diff, q.Drafted = strings.Repeat("e", 64), time.Now()
				record.Thread, record.Digest, record.Review = q.Thread, digest, 1
				q.Race = &handoff.Race{Run: me, Record: record}
				was := github.Review{ID: 1, State: "COMMENTED", URL: "u", At: time.Now().Add(time.Minute)}
				c.change(&record, &was)
				q.Race.Claims = func(context.Context) ([]handoff.Claim, error) {
					return []handoff.Claim{claim(1, me, true, record)}, nil
				}
				p := &page{reviews: []github.Review{was}}
				posted, err := post.Review(t.Context(), p, p, q)
				require.Equal(t, c.check, problem.Check(err), "%v", err)
				require.Equal(t, c.before, posted.Before)
				require.Equal(t, c.before || c.check > 0, p.posts == 0)
			})
		})
	}
}

var otherDiff = marker.Review{Thread: pull.ThreadID(ref, "", head), Digest: digest, Approved: digest,
	Diff: strings.Repeat("d", 64)}.String()
