package post_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

var (
	head   = strings.Repeat("ab", 20)
	digest = strings.Repeat("0123", 16)
	ref    = pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: 42}
)

func request() post.Request {
	return post.Request{
		Ref: ref, Commit: head, Thread: pull.ThreadID(ref, "", head), Digest: digest,
		Decision: decision.Record{By: "rita"},
		Review: render.Review{
			Name: "#42", Head: head, Files: []finding.FileReview{{Path: "a.go", State: finding.Reviewed}},
			Findings: []finding.Finding{
				{ID: "F1", Path: "a.go", Side: finding.Right, StartLine: 2, Line: 3, Severity: finding.Major,
					Title: "One", Body: "b1", Placement: finding.Inline},
				{ID: "F2", Path: "a.go", Side: finding.Left, StartLine: 9, Line: 9, Severity: finding.Minor,
					Title: "Two", Body: "b2", Placement: finding.Body},
			},
		},
	}
}

func TestP2_WhatIsPostedIsWhatWasApproved(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	posted, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	require.False(t, posted.Before)
	require.Len(t, p.reviews, 1)
	require.Equal(t, head, p.reviews[0].CommitID, "T24: the reviewed commit, whatever the head is now")
	body, comments := post.Rendered(q.Review)
	shown := render.File(q.Review)
	require.Contains(t, shown, body)
	require.True(t, strings.HasPrefix(p.reviews[0].Body, strings.TrimRight(body, "\n")))
	rest := strings.Split(strings.TrimPrefix(p.reviews[0].Body, strings.TrimRight(body, "\n")), "\n")
	require.Len(t, rest, 4, "an empty line, the approval's, the marker's")
	require.Contains(t, rest[2], "approved by rita")
	require.Equal(t, comments, p.writes)
	require.Len(t, comments, 1)
	require.Equal(t, write.Comment{Path: "a.go", Side: "RIGHT", StartLine: 2, Line: 3, Body: comments[0].Body},
		comments[0])
	require.Contains(t, shown, comments[0].Body)
}

func TestP7_RefusedCommentsMoveToTheBodyAsItWasShown(t *testing.T) {
	t.Parallel()
	p, q := &page{refuse: fmt.Errorf("%w: line must be part of the diff", write.ErrRefused)}, request()
	_, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	require.Len(t, p.reviews, 1)
	require.Empty(t, p.writes)
	fallback, _ := post.Rendered(q.Review.InBody())
	require.True(t, strings.HasPrefix(p.reviews[0].Body, strings.TrimRight(fallback, "\n")))
	require.Contains(t, render.File(q.Review), strings.TrimRight(fallback, "\n"), "P2: the fallback was shown too")
	again, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	require.True(t, again.Before, "P5: and it is found again")
}

func TestARefusedReviewWithoutCommentsIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	q.Review = q.Review.InBody()
	p.lost, p.fail = []error{write.ErrRefused}, true
	_, err := post.Review(t.Context(), p, p, q)
	require.ErrorIs(t, err, write.ErrRefused)
	require.Equal(t, 1, p.posts)
}

func TestOtherErrorsOfAWriteAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{write.ErrNoPermission, errors.New("limited")} {
		p := &page{lost: []error{cause}, fail: true}
		_, err := post.Review(t.Context(), p, p, request())
		require.ErrorIs(t, err, cause)
		require.Equal(t, 1, p.posts, cause)
		require.Empty(t, p.reviews)
	}
}

// TestP5_ALostAnswerIsLookedUp loses the answers of the first writes, of which each
// took effect or none did.
func TestP5_ALostAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	lost := func(n int) []error { return slices.Repeat([]error{write.ErrUnknown}, n) }
	for name, c := range map[string]struct {
		lost   []error
		failed bool
		posts  int // writes tried
		want   error
	}{
		"of the creation":                   {lost(1), false, 2, nil},
		"of the submission":                 {append([]error{nil}, lost(1)...), false, 2, nil},
		"of both":                           {lost(2), false, 2, nil},
		"nothing was created":               {lost(1), true, 3, nil},
		"nothing was submitted":             {append([]error{nil}, lost(1)...), true, 3, nil},
		"three times nothing was created":   {lost(3), true, 5, nil},
		"three times nothing was submitted": {append([]error{nil}, lost(3)...), true, 5, nil},
		"nothing was written, again, again": {lost(9), true, 4, write.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p := &page{lost: c.lost, fail: c.failed}
				posted, err := post.Review(t.Context(), p, p, request())
				require.Equal(t, c.posts, p.posts)
				require.LessOrEqual(t, time.Since(began), 30*time.Second)
				if c.want != nil {
					require.ErrorIs(t, err, c.want)
					return
				}
				require.NoError(t, err)
				require.Equal(t, p.reviews[0].URL, posted.URL)
				require.Equal(t, "COMMENTED", p.reviews[0].State)
				require.False(t, posted.Before, "it was posted now")
				require.Len(t, p.reviews, 1)
			})
		})
	}
}

// TestP2_WhatADeadJobLeftIsTakenWholeOrNotAtAll finds a pending review that is marked as
// the one to be posted.
func TestP2_WhatADeadJobLeftIsTakenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	left := func() *page {
		p := &page{lost: []error{nil, write.ErrNoPermission}, fail: true}
		_, err := post.Review(t.Context(), keeps{p}, keeps{p}, request())
		require.ErrorIs(t, err, write.ErrNoPermission)
		require.Equal(t, "PENDING", p.reviews[0].State)
		p.reviews[0].ID = 9
		return p
	}
	for name, c := range map[string]struct {
		change func(*page)
		taken  bool
	}{
		"as it was":                {func(*page) {}, true},
		"a comment is gone":        {func(p *page) { p.writes = nil }, false},
		"a comment says otherwise": {func(p *page) { p.writes[0].Body = "otherwise" }, false},
		"the body says otherwise":  {func(p *page) { p.reviews[0].Body = "otherwise\n" + p.reviews[0].Body }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := left()
			c.change(p)
			synctest.Test(t, func(t *testing.T) {
				_, err := post.Review(t.Context(), p, p, request())
				require.NoError(t, err)
				require.Len(t, p.reviews, 1)
				require.Equal(t, c.taken, p.reviews[0].ID == 9)
				body, _ := post.Rendered(request().Review)
				require.True(t, strings.HasPrefix(p.reviews[0].Body, strings.TrimRight(body, "\n")))
				require.Len(t, p.writes, 1)
				require.NotEqual(t, "otherwise", p.writes[0].Body)
			})
		})
	}
}

// TestP5_AReviewPostedBeforeTheCreationIsSeenBehindIt is what two commands of one account
// on two machines come to, which have neither claims nor a store in common.
func TestP5_AReviewPostedBeforeTheCreationIsSeenBehindIt(t *testing.T) {
	t.Parallel()
	p := &page{}
	posted, err := post.Review(t.Context(), p, overtaken{p}, request())
	require.NoError(t, err)
	require.True(t, posted.Before)
	require.Len(t, p.reviews, 1, "the pending one is taken away")
	require.Equal(t, p.reviews[0].URL, posted.URL)
}

func TestCheck13_P5_TheSameReviewIsPostedOnce(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	first, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	q.Decision.By, q.Decision.At = "eve", time.Now()
	again, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	require.Equal(t, post.Posted{URL: first.URL, Before: true}, again)
	require.Len(t, p.reviews, 1)
}

func TestCheck13_AnotherReviewOfTheThreadIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*post.Request){
		"another draft":   func(q *post.Request) { q.Digest = strings.Repeat("f", 64) },
		"another content": func(q *post.Request) { q.Review.Findings = q.Review.Findings[:1] },
		"an edit":         func(q *post.Request) { q.Review.Findings[0].Body = "edited" },
	} {
		p, q := &page{}, request()
		_, err := post.Review(t.Context(), p, p, q)
		require.NoError(t, err)
		change(&q)
		_, err = post.Review(t.Context(), p, p, q)
		var r *problem.Error
		require.ErrorAs(t, err, &r, name)
		require.Equal(t, 13, r.Check)
		require.Contains(t, err.Error(), p.reviews[0].URL)
		require.Len(t, p.reviews, 1)
	}
}

func TestCheck13_AReviewOfAnotherDiffBarsWhatWasDraftedBefore(t *testing.T) {
	t.Parallel()
	q, drafted := request(), time.Now()
	q.Diff, q.Drafted = strings.Repeat("e", 64), drafted
	for at, check := range map[time.Time]int{drafted: 0, drafted.Add(time.Second): 13} {
		p := &page{reviews: []github.Review{{Body: otherDiff, UserType: "Bot", URL: "u", At: at}}}
		_, err := post.Review(t.Context(), p, p, q)
		require.Equal(t, check, problem.Check(err), "%v", err)
	}
}

func TestCheck13_OnlyOurOwnMarkersOfThisThreadCount(t *testing.T) {
	t.Parallel()
	q := request()
	posted := &page{}
	_, err := post.Review(t.Context(), posted, posted, q)
	require.NoError(t, err)
	ours := posted.reviews[0].Body
	for name, r := range map[string]github.Review{
		"that does not stand": {Body: ours, User: "eve", UserType: "User", URL: "u"},
		"of another thread":   {Body: strings.Replace(ours, "#42:", "#43:", 1), UserType: "Bot", URL: "u"},
		"of an instance":      {Body: strings.Replace(ours, "#42:", "#42@docs:", 1), UserType: "Bot", URL: "u"},
		"quoted, not last":    {Body: ours + "\nmore", UserType: "Bot", URL: "u"},
		"none":                {Body: "hello", UserType: "Bot", URL: "u"},
	} {
		p := &page{reviews: []github.Review{r}}
		_, err := post.Review(t.Context(), p, p, q)
		require.NoError(t, err, name)
		require.Len(t, p.reviews, 2, name)
	}
}

func TestWhatCannotBeLookedUpIsNotPosted(t *testing.T) {
	t.Parallel()
	p := &page{broken: github.ErrNoAccess}
	_, err := post.Review(t.Context(), p, p, request())
	require.ErrorIs(t, err, github.ErrNoAccess)
	require.Empty(t, p.reviews)
}

func TestApprovedCoversBodyAndEveryComment(t *testing.T) {
	t.Parallel()
	want := post.Approved(request().Review)
	require.Regexp(t, "^[0-9a-f]{64}$", want)
	require.Equal(t, want, post.Approved(request().Review))
	for name, change := range map[string]func(*finding.Finding){
		"place":  func(f *finding.Finding) { f.Line = 4 },
		"side":   func(f *finding.Finding) { f.Side = finding.Left },
		"text":   func(f *finding.Finding) { f.Body += "!" },
		"path":   func(f *finding.Finding) { f.Path = "b.go" },
		"placed": func(f *finding.Finding) { f.Placement = finding.Body },
	} {
		r := request().Review
		change(&r.Findings[0])
		require.NotEqual(t, want, post.Approved(r), name)
	}
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	var r *problem.Error
	require.ErrorAs(t, err, &r)
	require.Equal(t, 13, r.Check)
	require.Equal(t, "next", r.Rows[len(r.Rows)-1][0], "P12: the last row is what to do")
	for _, w := range words {
		require.ErrorContains(t, err, w)
	}
}

func claim(id, run int64, live bool, r decision.Record) handoff.Claim {
	return handoff.Claim{ID: id, Run: run, Live: live, Record: r}
}

func TestCheck13_LookTellsAnUnknownOutcomeAndWritesNothing(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	_, found, err := post.Look(t.Context(), p, q)
	require.NoError(t, err)
	require.False(t, found)
	first, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	there, found, err := post.Look(t.Context(), p, q)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, post.Posted{URL: first.URL, Before: true}, there)
	other := q
	other.Digest = strings.Repeat("f", 64)
	_, found, err = post.Look(t.Context(), p, other)
	require.False(t, found)
	refused(t, err, first.URL)
	p.reviews = append([]github.Review{{Body: strings.Replace(p.reviews[0].Body, digest, other.Digest, 1),
		UserType: "Bot",
		URL:      "u"}}, p.reviews...)
	_, found, err = post.Look(t.Context(), p, q)
	require.NoError(t, err, "ours stands, whatever else does")
	require.True(t, found)
}

func TestCheck13_AReviewOfTheThreadStandsWhateverDraftItIsOf(t *testing.T) {
	t.Parallel()
	p, q := &page{}, request()
	_, found, err := post.FindPosted(t.Context(), p, ref, q.Thread, "")
	require.NoError(t, err)
	require.False(t, found)
	first, err := post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	url, found, err := post.FindPosted(t.Context(), p, ref, q.Thread, "")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, first.URL, url)
	_, found, err = post.FindPosted(t.Context(), p, ref, "o/r#42:"+strings.Repeat("c", 40), "")
	require.NoError(t, err)
	require.False(t, found, "another commit's")
	_, found, err = post.FindPosted(t.Context(), p, ref, q.Thread, strings.Repeat("d", 64))
	require.NoError(t, err)
	require.True(t, found, "this one does not say of which diff it is")
	q.Diff = strings.Repeat("e", 64)
	p = &page{}
	_, err = post.Review(t.Context(), p, p, q)
	require.NoError(t, err)
	_, found, err = post.FindPosted(t.Context(), p, ref, q.Thread, strings.Repeat("d", 64))
	require.NoError(t, err)
	require.False(t, found, "the same commit's, against another base")
	p.broken = github.ErrNoAccess
	_, _, err = post.FindPosted(t.Context(), p, ref, q.Thread, "")
	require.ErrorIs(t, err, github.ErrNoAccess)
}

func TestT24_APushOrCloseBeforeTheWritePostsNothing(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]pull.Pull{
		"pushed":          {State: "open", HeadSHA: strings.Repeat("9", 40)},
		"closed":          {State: "closed", HeadSHA: head},
		"of another base": {State: "open", HeadSHA: head, BaseRef: "release"},
		"of a moved base": {State: "open", HeadSHA: head, BaseSHA: strings.Repeat("8", 40)},
	} {
		p, q := &page{now: now}, request()
		q.Now = func(context.Context) (post.Now, error) {
			return post.Now{Open: true, HeadSHA: head, DiffDigest: "another"}, nil
		}
		_, err := post.Review(t.Context(), p, p, q)
		var refusal *problem.Error
		require.ErrorAs(t, err, &refusal, name)
		require.Equal(t, 9, refusal.Check)
		require.Empty(t, p.reviews, name)
	}
}

// TestT24_APushWhileWaitingForTheTurnPostsNothing has the pull request move while
// another job that decides the same draft is waited for.
func TestT24_APushWhileWaitingForTheTurnPostsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, q := &page{}, request()
		q.Race = &handoff.Race{Run: me, Record: yes(), Claims: func(context.Context) ([]handoff.Claim, error) {
			return []handoff.Claim{claim(5, me, true, yes()), claim(6, 8, true, yes())}, nil
		}}
		p.moves = time.Now().Add(5 * time.Second)
		_, err := post.Review(t.Context(), p, p, q)
		require.ErrorContains(t, err, "changed while this draft was being posted")
		require.Empty(t, p.reviews)
	})
}
