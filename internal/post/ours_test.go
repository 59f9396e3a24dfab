package post_test

import (
	"context"
	"slices"
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
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// posted is a review by an account, the marker in it, and who tells whether it is ours: its decision is on record.
func posted(t *testing.T, login string) (*githubtest.Server, *post.Ours, github.Review, marker.Review) {
	t.Helper()
	hub := githubtest.New(t)
	repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
	repo.Permit("maya", "write")
	p := repo.AddPull(githubtest.PullOptions{Number: 42})
	record := yes()
	record.Thread, record.At, record.Via = pull.ThreadID(ref, "", repo.Head(p.Head())), time.Now(), decision.ByDispatch
	zip, err := checkpoint.Protection{}.PackRecord(record)
	require.NoError(t, err)
	repo.AddRun(githubtest.RunOptions{}).AddArtifact("pr-review-decision-"+record.Code, zip)
	m := marker.Review{Thread: record.Thread, Digest: digest, Approved: digest}
	p.AddReview(login, m.String())
	client := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(client.CloseIdleConnections)
	api, err := github.New(github.Options{APIURL: hub.URL, HTTP: client, Token: hub.AppToken(repo,
		map[string]string{"contents": "read", "actions": "read", "pull_requests": "read"})})
	require.NoError(t, err)
	reviews, err := api.Reviews(t.Context(), ref)
	require.NoError(t, err)
	return hub, post.NewOurs(post.Ours{Client: api, Now: time.Now, Retention: time.Hour, Runs: &handoff.Runs{API: api,
		Ref: ref, Names: "pr-review-", Files: []string{".github/workflows/pr-review.yml"}, Event: "workflow_dispatch",
	}}), reviews[0], m
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
			hub, ours, review, m := posted(t, c.login)
			hub.Fail("GET", c.path, githubtest.Fault{Status: 500})
			_, err := ours.Stands(t.Context(), review, m)
			require.ErrorContains(t, err, "500")
			_, err = ours.Remembers(t.Context(), review, m)
			require.ErrorContains(t, err, "500", "nor is a result kept")
			hub.ClearFaults()
			stands, err := ours.Stands(t.Context(), review, m)
			require.NoError(t, err)
			require.True(t, stands)
		})
	}
}

func TestP5_APendingReviewOfAPersonIsNotDeleted(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*page{
		"of comments alone": {reviews: []github.Review{{ID: 9, State: "PENDING"}},
			writes: []write.Comment{{Body: "a person's"}}},
		"of text alone": {reviews: []github.Review{{ID: 9, State: "PENDING", Body: "a person's"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := post.Review(t.Context(), p, p, request())
				require.ErrorContains(t, err, "a pending review of this token's account is in the way")
				require.ErrorContains(t, err, "\n  next    the draft still waits")
				require.EqualValues(t, 9, p.reviews[0].ID)
				require.LessOrEqual(t, time.Since(began), 2*handoff.Settle*time.Second)
			})
		})
	}
}

// twice is a page that accepts another job's review at the same moment as ours, and made that one first.
type twice struct{ *page }

func (p twice) CreatePending(ctx context.Context, to pull.Ref, commit, body string,
	comments []write.Comment) (int64, string, error) {
	_, url, err := p.page.CreatePending(ctx, to, commit, body, comments)
	older := p.reviews[0]
	older.ID, older.URL, p.reviews[0].ID = 10, "older", 20
	p.reviews = append(p.reviews, older)
	return 20, url, err
}

func TestP5_OfTwoPendingReviewsTheOlderIsSubmitted(t *testing.T) {
	t.Parallel()
	p := twice{&page{}}
	posted, err := post.Review(t.Context(), p, p, request())
	require.NoError(t, err)
	require.Equal(t, "older", posted.URL)
	require.Len(t, p.reviews, 1)
	require.Equal(t, "COMMENTED", p.reviews[0].State)
}

// TestCheck13_ARecordFindsAReviewWhateverItsTextIsNow has somebody edit the marker away.
func TestCheck13_ARecordFindsAReviewWhateverItsTextIsNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*decision.Record, *github.Review)
		before bool
		check  int
	}{
		"of the same decision, later": {func(_ *decision.Record, r *github.Review) { r.UserType = "late" }, true, 0},
		"of the same decision":        {func(*decision.Record, *github.Review) {}, true, 0},
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
				late := was.UserType == "late" // the record is listed only when the job waits for its turn
				q.Race.Claims = func(context.Context) ([]handoff.Claim, error) {
					if late {
						late = false
						return nil, nil
					}
					return []handoff.Claim{claim(1, me, true, record)}, nil
				}
				p := &page{reviews: []github.Review{was}}
				posted, err := post.Review(t.Context(), p, p, q)
				require.Equal(t, c.check, problem.Check(err), "%v", err)
				require.Equal(t, c.before, posted.Before)
				require.Equal(t, c.before || c.check > 0, !slices.ContainsFunc(p.reviews, func(r github.Review) bool {
					return r.URL != was.URL && r.State == "COMMENTED"
				}))
			})
		})
	}
}

var otherDiff = marker.Review{Thread: pull.ThreadID(ref, "", head), Digest: digest, Approved: digest,
	Diff: strings.Repeat("d", 64)}.String()
