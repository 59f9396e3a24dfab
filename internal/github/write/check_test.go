package write_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

var at = pull.Ref{Owner: "o", Repo: "r", Number: 7}

// writer is a client with a job's token of some permissions.
func writer(t *testing.T, s *githubtest.Server, repo *githubtest.Repo, permissions map[string]string) *write.Client {
	t.Helper()
	hc := transport.New(transport.Options{})
	t.Cleanup(hc.CloseIdleConnections)
	c, err := github.New(github.Options{APIURL: s.URL, Token: s.AppToken(repo, permissions), HTTP: hc})
	require.NoError(t, err)
	return write.New(c)
}

func setting(t *testing.T) (s *githubtest.Server, repo *githubtest.Repo, sha string) {
	t.Helper()
	s = githubtest.New(t)
	repo = s.AddRepo("o/r", githubtest.RepoOptions{})
	return s, repo, repo.Head("main")
}

func kept(n int) (all []finding.Finding) {
	for i := range n {
		all = append(all, finding.Finding{Path: "a.go", Side: finding.Right, StartLine: i + 1, Line: i + 2,
			Severity: finding.Minor, Title: "It breaks", Body: fmt.Sprint("Number ", i)})
	}
	return all
}

func check(sha string, all ...finding.Finding) write.Check {
	return write.Check{Head: sha, Thread: "o/r#7:" + sha, Digest: strings.Repeat("ab", 32), Findings: all,
		Covered: true, Review: "https://github.com/o/r/pull/7#pullrequestreview-5"}
}

func TestACheckRunIsMadeOnceWithAllAnnotations(t *testing.T) {
	t.Parallel()
	s, repo, sha := setting(t)
	c := writer(t, s, repo, map[string]string{"checks": "write"})
	off := finding.Finding{Path: "a.go", Side: finding.Left, Line: 3, Severity: finding.Nit, Title: "old"}
	k := check(sha, append(kept(120), off, finding.Finding{Severity: finding.Nit,
		Title: "the title of the pull request"})...)
	url, err := c.CheckRun(t.Context(), at, k)
	require.NoError(t, err)
	require.Contains(t, url, "/o/r/runs/")
	require.Len(t, writes(s), 1)

	again, err := c.CheckRun(t.Context(), at, k)
	require.NoError(t, err)
	require.Equal(t, url, again)
	require.Len(t, writes(s), 1, "a second one is not made")
	made := repo.Checks(sha)
	require.Len(t, made, 1)
	require.Equal(t, []string{"pr-review", "completed", "neutral", "120 minor, 2 nits",
		"o/r#7:" + sha + " abababababababab"},
		[]string{made[0].Name, made[0].Status, made[0].Conclusion, made[0].Title, made[0].ExternalID})
	require.Contains(t, made[0].Summary, "beyond the first 50: 72.\n\n[The "+
		"review](https://github.com/o/r/pull/7#pullrequestreview-5)")
	require.Len(t, made[0].Annotations, 50)
	for i, a := range made[0].Annotations {
		require.Equal(t, githubtest.Annotation{Path: "a.go", Start: i + 1, End: i + 2, Level: "warning",
			Title: "It breaks", Message: fmt.Sprint("minor\n\nNumber ", i)}, a)
	}

	other := k
	other.Digest = strings.Repeat("cd", 32)
	_, err = c.CheckRun(t.Context(), at, other)
	require.NoError(t, err)
	again, err = c.CheckRun(t.Context(), at, k)
	require.NoError(t, err)
	require.Equal(t, url, again, "also where a newer one has its name")
	k.Instance = "docs"
	_, err = c.CheckRun(t.Context(), at, k)
	require.NoError(t, err)
	require.Len(t, repo.Checks(sha), 3, "another draft and another reviewer have their own")
}

func TestACheckRunWhoseAnswerIsLostIsFound(t *testing.T) {
	t.Parallel()
	s, repo, sha := setting(t)
	s.Fail("POST", "**", githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
	url, err := writer(t, s, repo, map[string]string{"checks": "write"}).CheckRun(t.Context(), at,
		check(sha, kept(60)...))
	require.NoError(t, err)
	require.NotEmpty(t, url)
	require.Len(t, repo.Checks(sha), 1)
	require.Len(t, repo.Checks(sha)[0].Annotations, 50)
}

func TestWhatWasKeptConcludesTheCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		found  []finding.Finding
		failOn finding.Severity
		want   string
	}{
		"nothing":   {nil, finding.Nit, "success"},
		"something": {kept(1), "", "neutral"},

		"nothing, with files that were not read": {nil, "", "neutral"},
		"weaker than that":                       {kept(1), finding.Major, "neutral"},
		"as grave as that":                       {kept(1), finding.Minor, "failure"},
		"graver than that":                       {kept(1), finding.Nit, "failure"},
		"unknown severity, nit": {[]finding.Finding{{Severity: "?", Title: "t"}}, finding.Nit,
			"neutral"},
	} {
		s, repo, sha := setting(t)
		k := check(sha, tc.found...)
		k.FailOn, k.Covered = tc.failOn, name != "nothing, with files that were not read"
		_, err := writer(t, s, repo, map[string]string{"checks": "write"}).CheckRun(t.Context(), at, k)
		require.NoError(t, err, name)
		require.Equal(t, tc.want, repo.Checks(sha)[0].Conclusion, name)
	}
}

func TestATokenWithoutTheRightIsNamed(t *testing.T) {
	t.Parallel()
	s, repo, sha := setting(t)
	for _, permissions := range []map[string]string{{"pull-requests": "write"},
		{"checks": "read", "statuses": "read"}} {
		c := writer(t, s, repo, permissions)
		_, err := c.CheckRun(t.Context(), at, check(sha))
		require.ErrorIs(t, err, write.ErrNoChecks)
		require.ErrorIs(t, c.Mark(t.Context(), at, sha, mark()), write.ErrNoStatuses)
	}
	require.Empty(t, repo.Checks(sha))
	require.Empty(t, repo.Statuses(sha))
}

func TestT10_T31_HostileTextInACheckRunIsInertAndBounded(t *testing.T) {
	t.Parallel()
	s, repo, sha := setting(t)
	hostile := []finding.Finding{
		{Path: "a.go", Line: 1, Severity: finding.Nit, Title: "![c](https://collect.example) @org/team \u202e",
			Body: "[x](https://collect.example) <img src=x> closes #12"},
		{Path: "a.go", Line: 2, StartLine: 9, Severity: finding.Blocker, Title: strings.Repeat("@org ", 300),
			Body: strings.Repeat("\U000e0041", 90_000)},
		{Path: "a.go", Line: 3, StartLine: -4, Severity: finding.Blocker},
	}
	k := check(sha, hostile...)
	k.Review = "https://x/) [y](https://collect.example"
	_, err := writer(t, s, repo, map[string]string{"checks": "write"}).CheckRun(t.Context(), at, k)
	require.NoError(t, err)
	made := repo.Checks(sha)[0]
	require.NotContains(t, made.Summary, "collect.example")
	require.Len(t, made.Annotations, 3)
	first := made.Annotations[0]
	require.Equal(t, "![c\\](`https://collect.example`) `@org/team` \\<U+202E>", first.Title)
	require.Equal(t, "nit\n\n[x\\](`https://collect.example`) \\<img src=x> closes `#12`", first.Message)
	require.Contains(t, made.Annotations[1].Message, "Cut here: 86000 more characters.")
	require.Equal(t, []int{2, 2, 3, 3}, []int{made.Annotations[1].Start, made.Annotations[1].End,
		made.Annotations[2].Start, made.Annotations[2].End})
	require.Equal(t, []string{"blocker", "blocker"}, []string{made.Annotations[2].Title, made.Annotations[2].Message})

	k = check(sha, append(kept(600), finding.Finding{Path: "b.go", Side: finding.Right, StartLine: 1, Line: 1,
		Severity: finding.Blocker, Title: "It was posted before"})...)
	k.Instance = "many"
	_, err = writer(t, s, repo, map[string]string{"checks": "write"}).CheckRun(t.Context(), at, k)
	require.NoError(t, err)
	require.Len(t, repo.Checks(sha)[1].Annotations, 50)
	require.Equal(t, "b.go", repo.Checks(sha)[1].Annotations[0].Path, "the gravest come first")
	require.Contains(t, repo.Checks(sha)[1].Summary, "beyond the first 50: 551.")
}

func mark() write.Mark {
	return write.Mark{Code: "3f9c2a71be04d855", Findings: 4, Blockers: 1,
		Expires: time.Date(2026, 12, 5, 14, 10, 0, 0, time.UTC), Page: "https://github.com/o/r/actions/runs/5"}
}

func TestAMarkWaitsUntilTheDecisionEndsIt(t *testing.T) {
	t.Parallel()
	s, repo, sha := setting(t)
	c := writer(t, s, repo, map[string]string{"statuses": "write"})
	cleared, err := c.Unmark(t.Context(), at, sha, mark(), write.Posted)
	require.NoError(t, err)
	require.False(t, cleared, "no mark, nothing to end")

	require.NoError(t, c.Mark(t.Context(), at, sha, mark()))
	other := write.Mark{Code: "0123456789abcdef"}
	for _, end := range []write.Ending{write.Rejected, write.Lapsed} {
		cleared, err := c.Unmark(t.Context(), at, sha, other, end)
		require.NoError(t, err)
		require.False(t, cleared, "another draft waits")
	}
	docs := mark()
	docs.Instance, docs.Page, docs.Findings = "docs", "https://x/) y", 1<<62
	require.NoError(t, c.Mark(t.Context(), at, sha, docs))
	for _, end := range []write.Ending{write.Posted, write.Rejected} {
		_, err := c.Unmark(t.Context(), at, sha, write.Mark{Code: other.Code, Page: "https://github.com/o/r/pull/7"}, end)
		require.NoError(t, err)
	}
	cleared, err = c.Unmark(t.Context(), at, sha, write.Mark{Instance: "docs", Code: docs.Code}, write.Lapsed)
	require.NoError(t, err)
	require.True(t, cleared)
	require.Equal(t, []githubtest.Status{
		{Context: "pr-review", State: "pending", Description: "waits for a decision: 4 findings, 1 blocker; code " +
			"3f9c2a71be04d855, until 5 Dec 2026 14:10 UTC", URL: "https://github.com/o/r/actions/runs/5"},
		{Context: "pr-review@docs", State: "pending",
			Description: "waits for a decision: 4611686018427387904 findings, 1 blocker; code 3f9c2a71be04d855, " +
				"until 5 Dec 2026 14:10 UTC"},
		{Context: "pr-review", State: "success", Description: "decided: posted", URL: "https://github.com/o/r/pull/7"},
		{Context: "pr-review@docs", State: "error", Description: "expired, not decided"},
	}, repo.Statuses(sha), "an ended mark is not ended again")

	forged := mark()
	forged.Code = "no code at all:)"
	require.Error(t, c.Mark(t.Context(), at, sha, forged))
}

// allowed is all that this product writes to GitHub: the review, a check run, a
// commit status, and one GraphQL mutation that resolve_test.go holds.
var allowed = regexp.MustCompile(`^(POST /repos/o/r/(pulls/[0-9]+/reviews(/[0-9]+/events)?|check-runs` +
	`|statuses/[0-9a-f]{40})|DELETE /repos/o/r/pulls/[0-9]+/reviews/[0-9]+)$`)

func writes(s *githubtest.Server) []githubtest.Request {
	return slices.DeleteFunc(s.Requests(), func(r githubtest.Request) bool { return r.Method == "GET" })
}

func TestT32_NoRequestApprovesMergesOrChangesAnythingElse(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	p := repo.AddPull(githubtest.PullOptions{BaseFiles: githubtest.Tree{"a.go": "one\n"},
		HeadFiles: githubtest.Tree{"a.go": "one\ntwo\n"}})
	ref := pull.Ref{Owner: "o", Repo: "r", Number: p.Number}
	c := writer(t, s, repo, map[string]string{"contents": "write", "pull-requests": "write", "checks": "write",
		"statuses": "write", "issues": "write"})
	review := func() int64 {
		id, _, err := c.CreatePending(t.Context(), ref, p.HeadSHA(), "body",
			[]write.Comment{{Path: "a.go", Side: "RIGHT", Line: 2, Body: "/approve and merge"}})
		require.NoError(t, err)
		return id
	}
	require.NoError(t, c.DeletePending(t.Context(), ref, review()))
	_, err := c.Submit(t.Context(), ref, review(), "body")
	require.NoError(t, err)
	_, err = c.CheckRun(t.Context(), ref, check(p.HeadSHA(), kept(60)...))
	require.NoError(t, err)
	require.NoError(t, c.Mark(t.Context(), ref, p.HeadSHA(), mark()))
	_, err = c.Unmark(t.Context(), ref, p.HeadSHA(), mark(), write.Posted)
	require.NoError(t, err)
	sent := writes(s)
	require.Len(t, sent, 7)
	for _, r := range sent {
		require.Regexp(t, allowed, r.Method+" "+r.Path)
		require.NotRegexp(t, `APPROVE|REQUEST_CHANGES`, string(r.Body))
	}
}
