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
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/handofftest"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// evidence is a posted review, and what GitHub knows about it.
type evidence struct {
	hub        *githubtest.Server
	repo       *githubtest.Repo
	record     decision.Record
	protection checkpoint.Protection // of the record and of whoever reads it
	late       time.Duration         // how long after the review the record was stored
	ours       post.Ours
	review     github.Review
	marker     marker.Review
}

// posted is a review by an account, with the record of the decision behind it.
func posted(t *testing.T, login string, change func(*evidence)) (*evidence, *post.Ours) {
	t.Helper()
	e := &evidence{hub: githubtest.New(t)}
	e.repo = e.hub.AddRepo("o/r", githubtest.RepoOptions{})
	e.repo.Permit("maya", "write")
	p := e.repo.AddPull(githubtest.PullOptions{Number: 42})
	thread := pull.ThreadID(ref, "", e.repo.Head(p.Head()))
	e.record = decision.Record{Decision: decision.Approve, By: "rita", Thread: thread, Digest: digest,
		Code: digest[:16], At: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC), Via: decision.ByDispatch}
	e.marker = marker.Review{Thread: thread, Digest: digest, Approved: digest}
	client := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(client.CloseIdleConnections)
	api, err := github.New(github.Options{APIURL: e.hub.URL, HTTP: client, Token: e.hub.AppToken(e.repo,
		map[string]string{"contents": "read", "actions": "read", "pull_requests": "read"})})
	require.NoError(t, err)
	e.ours = post.Ours{Client: api, Retention: 24 * time.Hour, Now: time.Now, Runs: &handoff.Runs{API: api, Ref: ref,
		Names: "pr-review-", Files: []string{".github/workflows/pr-review.yml"}, Event: "workflow_dispatch"}}
	change(e)
	e.ours.Protection = e.protection
	zip, err := e.protection.PackRecord(e.record)
	require.NoError(t, err)
	p.AddReview(login, e.marker.String())
	e.hub.Advance(e.late)
	e.repo.AddRun(githubtest.RunOptions{Event: "workflow_dispatch"}).
		AddArtifact("pr-review-decision-"+checkpoint.Code(digest), zip)
	reviews, err := api.Reviews(t.Context(), ref)
	require.NoError(t, err)
	require.Len(t, reviews, 1)
	e.review = reviews[0]
	e.marker, _ = marker.Parse(e.review.Body)
	return e, post.NewOurs(e.ours)
}

func TestCheck13_T12_AMarkerCountsWithEvidence(t *testing.T) {
	t.Parallel()
	sealed, bot, unproved := handofftest.Sealed(t), github.ActionsBot, strings.Repeat("f", 48)
	later := func(of time.Duration) func() time.Time {
		return func() time.Time { return time.Now().Add(of) }
	}
	for name, c := range map[string]struct {
		login              string
		change             func(*evidence)
		stands, remembered bool
	}{
		"an approval on record": {bot, func(*evidence) {}, true, true},
		"a rejection on record": {bot, func(e *evidence) { e.record.Decision = decision.Abort }, false, false},
		"of another digest":     {bot, func(e *evidence) { e.record.Digest = digest[:16] + unproved }, false, false},
		"of another thread":     {bot, func(e *evidence) { e.record.Thread += "0" }, false, false},
		"of a code alone":       {bot, func(e *evidence) { e.marker.Digest = digest[:16] }, false, false},
		"stored after it":       {bot, func(e *evidence) { e.late = 2 * time.Minute }, false, false},
		"older than any record": {bot, func(e *evidence) {
			e.record.Decision, e.ours.Now = decision.Abort, later(25*time.Hour)
		}, true, true},
		"not older": {bot, func(e *evidence) {
			e.record.Decision, e.ours.Now = decision.Abort, later(23*time.Hour)
		}, false, false},
		"decided in the store": {bot, func(e *evidence) {
			e.record.Decision, e.ours.Decided = decision.Abort, map[string]bool{digest: true}
		}, true, true},
		"sealed": {bot, func(e *evidence) {
			e.record.Decision, e.protection, e.marker.Key = decision.Abort, sealed, sealed.MarkerKey()
		}, true, true},
		"not sealed, under a key": {bot, func(e *evidence) { e.protection = sealed }, false, false},
		"an app's, not ours":      {"other[bot]", func(*evidence) {}, false, false},
		"a writer's":              {"maya", func(*evidence) {}, true, true},
		"a writer's, of no record": {"maya", func(e *evidence) {
			e.record.Decision = decision.Abort
		}, true, false},
		"a writer's, old, under a key": {"maya", func(e *evidence) {
			e.record.Decision, e.protection, e.ours.Now = decision.Abort, sealed, later(25*time.Hour)
		}, true, false},
		"an outsider's": {"eve", func(*evidence) {}, false, false},
		"the author's":  {"author", func(e *evidence) { e.repo.Permit("author", "write") }, false, false},
		"the author's, who may": {"author", func(e *evidence) {
			e.repo.Permit("author", "write")
			e.ours.Author = true
		}, true, true},
		"of another's commit": {"maya", func(e *evidence) { e.marker.Thread = "o/r#42:" + head }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ours := posted(t, c.login, c.change)
			for range 2 { // the second answer is kept
				stands, err := ours.Stands(t.Context(), e.review, e.marker)
				require.NoError(t, err)
				require.Equal(t, c.stands, stands)
				remembered, err := ours.Remembers(t.Context(), e.review, e.marker)
				require.NoError(t, err)
				require.Equal(t, c.remembered, remembered)
			}
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
			e, ours := posted(t, c.login, func(*evidence) {})
			e.hub.Fail("GET", c.path, githubtest.Fault{Status: 500})
			_, err := ours.Stands(t.Context(), e.review, e.marker)
			require.ErrorContains(t, err, "500")
			_, err = ours.Remembers(t.Context(), e.review, e.marker)
			require.ErrorContains(t, err, "500", "nor is a result kept")
			e.hub.ClearFaults()
			stands, err := ours.Stands(t.Context(), e.review, e.marker)
			require.NoError(t, err)
			require.True(t, stands)
		})
	}
}

func TestP5_OnlyAnEmptyPendingReviewIsDeleted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body     string
		comments []write.Comment
		taken    bool
	}{
		"empty":         {"", nil, true},
		"with a text":   {"half a review", nil, false},
		"with comments": {"", []write.Comment{{Path: "a.go", Body: "a person's"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &page{reviews: []github.Review{{ID: 9, State: "PENDING", Body: c.body}}, writes: c.comments}
				_, err := post.Review(t.Context(), p, p, request())
				require.Equal(t, c.taken, err == nil, "%v", err)
				require.Len(t, p.reviews, 1)
				require.Equal(t, c.taken, p.reviews[0].ID != 9)
			})
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
		"of the same decision": {func(*decision.Record, *github.Review) {}, true, 0},
		"of another draft": {func(r *decision.Record, _ *github.Review) {
			r.Digest = strings.Repeat("f", 64)
		}, false, 13},
		"of another thread": {func(r *decision.Record, _ *github.Review) { r.Thread += "0" }, false, 0},
		"of another review": {func(r *decision.Record, _ *github.Review) { r.Review++ }, false, 0},
		"known to the draft": {func(_ *decision.Record, r *github.Review) {
			r.Body, r.At = otherDiff, time.Time{}
		}, false, 0},
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
