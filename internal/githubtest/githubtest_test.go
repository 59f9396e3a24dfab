package githubtest_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

const before = "package a\n\nfunc one() int {\n\treturn 1\n}\n\n// filler 1\n// filler 2\n// filler 3\n// filler " +
	"4\n// filler 5\n// filler 6\n// filler 7\n\nfunc two() int {\n\treturn 2\n}\n"

var after = strings.NewReplacer("return 1", "return 10", "return 2", "return 20").Replace(before)

// world is a repository with one pull request, and the tokens of its jobs.
type world struct {
	*githubtest.Server
	repo        *githubtest.Repo
	pull        *githubtest.Pull
	read, write string
}

func newWorld(t *testing.T, options ...githubtest.Options) *world {
	t.Helper()
	s := githubtest.New(t, options...)
	repo := s.AddRepo("octo/demo", githubtest.RepoOptions{Protected: []string{"main"}})
	repo.Permit("maya", "write")
	base := githubtest.Tree{"a.go": before, "gone.txt": "old\n", "old/name.txt": "the same\nlines\n",
		"logo.png": "\x89PNG\x00"}
	head := base.With(githubtest.Tree{"a.go": after, "new.go": "package a\n", "new/name.txt": "the same\nlines\n",
		"logo.png": "\x89PNG\x00\x01"}).Without("gone.txt", "old/name.txt")
	w := &world{Server: s, repo: repo, pull: repo.AddPull(githubtest.PullOptions{Title: "Change", BaseFiles: base,
		HeadFiles: head})}
	w.read = s.AppToken(repo, map[string]string{"contents": "read", "pull-requests": "read", "actions": "read"})
	w.write = s.AppToken(repo, map[string]string{"contents": "read", "pull-requests": "write", "actions": "read"})
	return w
}

func (w *world) client(t *testing.T, token string) *github.Client {
	t.Helper()
	c := github.NewClient(nil)
	if token != "" {
		c = c.WithAuthToken(token)
	}
	u, err := url.Parse(w.URL + "/")
	require.NoError(t, err)
	c.BaseURL = u
	return c
}

func status(r *github.Response) int {
	if r == nil {
		return 0
	}
	return r.StatusCode
}

func TestReadsAPullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, w.read)
	p, _, err := c.PullRequests.Get(t.Context(), "octo", "demo", 1)
	require.NoError(t, err)
	require.Equal(t, "open", p.GetState())
	require.Equal(t, w.pull.HeadSHA(), p.GetHead().GetSHA())
	require.Equal(t, w.repo.ID, p.GetHead().GetRepo().GetID())
	require.Equal(t, "main", p.GetBase().GetRepo().GetDefaultBranch())
	require.Equal(t, 5, p.GetChangedFiles())
	require.Equal(t, "https://github.com/octo/demo/pull/1", p.GetHTMLURL())

	files, _, err := c.PullRequests.ListFiles(t.Context(), "octo", "demo", 1, nil)
	require.NoError(t, err)
	got := map[string]string{}
	for _, f := range files {
		got[f.GetFilename()] = f.GetStatus()
	}
	require.Equal(t, map[string]string{"a.go": "modified", "gone.txt": "removed", "logo.png": "modified",
		"new.go": "added", "new/name.txt": "renamed"}, got)
	require.Equal(t, "old/name.txt", files[4].GetPreviousFilename())
	require.Empty(t, files[2].GetPatch(), "a binary file has no patch")
	require.True(t, strings.HasPrefix(files[0].GetPatch(), "@@ -1,7 +1,7 @@\n package a\n"), files[0].GetPatch())
	require.Contains(t, files[0].GetPatch(), "@@ -13,5 +13,5 @@ func one() int {\n")

	cmp, _, err := c.Repositories.CompareCommits(t.Context(), "octo", "demo", p.GetBase().GetSHA(),
		p.GetHead().GetSHA(), nil)
	require.NoError(t, err)
	require.Equal(t, p.GetBase().GetSHA(), cmp.GetMergeBaseCommit().GetSHA())
	require.Len(t, cmp.Files, 5)
	branch, _, err := c.Repositories.GetBranch(t.Context(), "octo", "demo", "main", 0)
	require.NoError(t, err)
	require.True(t, branch.GetProtected())
	_, response, _ := c.PullRequests.Get(t.Context(), "octo", "demo", 2)
	require.Equal(t, http.StatusNotFound, status(response))
	diff, _, err := c.Repositories.CompareCommitsRaw(t.Context(), "octo", "demo", p.GetBase().GetSHA(),
		p.GetHead().GetSHA(), github.RawOptions{Type: github.Diff})
	require.NoError(t, err)
	require.Contains(t, diff, "rename from old/name.txt")
}

func review(line int) *github.PullRequestReviewRequest {
	return &github.PullRequestReviewRequest{
		Body: github.String("Found one."), Event: github.String("COMMENT"),
		Comments: []*github.DraftReviewComment{{Path: github.String("a.go"), Side: github.String("RIGHT"),
			Line: github.Int(line), Body: github.String("why?")}},
	}
}

func TestStoresAReviewWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, w.write)
	r, response, err := c.PullRequests.CreateReview(t.Context(), "octo", "demo", 1, review(4))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status(response))
	require.Equal(t, "github-actions[bot]", r.GetUser().GetLogin())
	require.Contains(t, r.GetHTMLURL(), "https://github.com/octo/demo/pull/1#pullrequestreview-")

	_, response, err = c.PullRequests.CreateReview(t.Context(), "octo", "demo", 1, review(9))
	require.Equal(t, http.StatusUnprocessableEntity, status(response))
	require.ErrorContains(t, err, "Pull request review thread line must be part of the diff")
	require.Len(t, w.pull.Reviews(), 1)
	require.Equal(t, 4, w.pull.Reviews()[0].Comments[0].Line)

	list, _, err := c.PullRequests.ListReviews(t.Context(), "octo", "demo", 1, nil)
	require.NoError(t, err)
	require.Len(t, list, 1)
	comments, _, err := c.PullRequests.ListComments(t.Context(), "octo", "demo", 1, nil)
	require.NoError(t, err)
	require.Len(t, comments, 1)
	require.Contains(t, comments[0].GetDiffHunk(), "+\treturn 10")
}

func TestRefusesAsGitHubDoes(t *testing.T) {
	t.Parallel()
	with := func(change func(*github.PullRequestReviewRequest)) *github.PullRequestReviewRequest {
		r := review(4)
		change(r)
		return r
	}
	comment := func(change func(*github.DraftReviewComment)) *github.PullRequestReviewRequest {
		r := review(4)
		change(r.Comments[0])
		return r
	}
	w := newWorld(t)
	for name, tc := range map[string]struct {
		token string
		sent  *github.PullRequestReviewRequest
		want  string
	}{
		"an approval": {w.write, with(func(r *github.PullRequestReviewRequest) {
			r.Event = github.String("APPROVE")
		}), "APPROVE is not known here"},
		"body too long": {w.write, with(func(r *github.PullRequestReviewRequest) {
			r.Body = github.String(strings.Repeat("x", 65537))
		}), "Body is too long (maximum is 65536"},
		"no body": {w.write, with(func(r *github.PullRequestReviewRequest) {
			r.Body = nil
		}), "can't be blank"},
		"another commit": {w.write, with(func(r *github.PullRequestReviewRequest) {
			r.CommitID = github.String(strings.Repeat("1", 40))
		}), "not part of the pull request"},
		"another file": {w.write, comment(func(k *github.DraftReviewComment) {
			k.Path = github.String("b.go")
		}), "could not be resolved"},
		"file without patch": {w.write, comment(func(k *github.DraftReviewComment) {
			k.Path = github.String("logo.png")
		}), "must be part of the diff"},
		"start in other hunk": {w.write, comment(func(k *github.DraftReviewComment) {
			k.StartLine, k.Line = github.Int(4), github.Int(16)
		}), "same hunk"},
		"start behind line": {w.write, comment(func(k *github.DraftReviewComment) {
			k.StartLine = github.Int(5)
		}), "precede"},
		"start off the diff": {w.write, comment(func(k *github.DraftReviewComment) {
			k.StartLine = github.Int(9)
		}), "start line must be part of the diff"},
		"the base's commit": {w.write, with(func(r *github.PullRequestReviewRequest) {
			r.CommitID = github.String(w.pull.BaseSHA())
		}), "not part of the pull request"},
	} {
		t.Run(name, func(t *testing.T) {
			_, response, err := w.client(t, tc.token).PullRequests.CreateReview(t.Context(), "octo", "demo", 1, tc.sent)
			require.Equal(t, http.StatusUnprocessableEntity, status(response), "%v", err)
			require.ErrorContains(t, err, tc.want)
		})
	}
	require.Empty(t, w.pull.Reviews())
}

func TestPermissionsByToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := w.AddRepo("octo/secret", githubtest.RepoOptions{Private: true})
	secret.Permit("maya", "read")
	secret.AddPull(githubtest.PullOptions{})
	get := func(token, repo string) int {
		_, r, _ := w.client(t, token).PullRequests.Get(t.Context(), "octo", repo, 1)
		return status(r)
	}
	require.Equal(t, http.StatusOK, get("", "demo"))
	require.Equal(t, http.StatusNotFound, get("", "secret"))
	require.Equal(t, http.StatusNotFound, get(w.read, "secret"))
	require.Equal(t, http.StatusNotFound, get(w.UserToken("eve"), "secret"))
	require.Equal(t, http.StatusOK, get(w.UserToken("maya"), "secret"))
	require.Equal(t, http.StatusUnauthorized, get("ghp_wrong", "demo"))
	require.Equal(t, http.StatusForbidden, get(w.AppToken(secret, nil), "secret"))

	_, r, err := w.client(t, w.read).PullRequests.CreateReview(t.Context(), "octo", "demo", 1, review(4))
	require.Equal(t, http.StatusForbidden, status(r))
	require.ErrorContains(t, err, "Resource not accessible by integration")
	require.Equal(t, "pull_requests=write", r.Header.Get("X-Accepted-GitHub-Permissions"))
	level, _, err := w.client(t, w.read).Repositories.GetPermissionLevel(t.Context(), "octo", "demo", "maya")
	require.NoError(t, err)
	require.Equal(t, "write", level.GetPermission())
	_, r, _ = w.client(t, w.UserToken("eve")).Repositories.GetPermissionLevel(t.Context(), "octo", "demo", "maya")
	require.Equal(t, http.StatusForbidden, status(r), "a user without push access may not look")
	other := w.AppToken(w.AddRepo("octo/other", githubtest.RepoOptions{}), map[string]string{"pull_requests": "write"})
	require.Equal(t, http.StatusOK, get(other, "demo"))
	_, r, _ = w.client(t, other).PullRequests.CreateReview(t.Context(), "octo", "demo", 1, review(4))
	require.Equal(t, http.StatusForbidden, status(r), "an installation token is of one repository")
	u, _, err := w.client(t, w.UserToken("maya")).Users.Get(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "maya", u.GetLogin())
	_, r, _ = w.client(t, w.read).Users.Get(t.Context(), "")
	require.Equal(t, http.StatusForbidden, status(r))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, w.write)
	get := func() error {
		_, _, err := c.PullRequests.Get(t.Context(), "octo", "demo", 1)
		return err
	}
	w.Fail("GET", "/repos/*/*/pulls/1", githubtest.Fault{Status: 502, Times: 1})
	require.ErrorContains(t, get(), "502")
	require.NoError(t, get())

	w.Fail("POST", "/repos/**", githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
	_, _, err := c.PullRequests.CreateReview(t.Context(), "octo", "demo", 1, review(4))
	require.Error(t, err)
	require.Len(t, w.pull.Reviews(), 1, "the answer was lost, the review was not")

	hold := make(chan struct{})
	w.Fail("", "/user", githubtest.Fault{Hold: hold, Times: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = c.Users.Get(ctx, "")
	require.ErrorIs(t, err, context.Canceled)
	close(hold)

	w.Fail("GET", "/repos/**", githubtest.RateLimited(time.Now().Add(time.Hour)))
	var limited *github.RateLimitError
	require.ErrorAs(t, get(), &limited)
	w.ClearFaults()

	log := w.Requests()
	require.NotEmpty(t, log[0].Header.Get("Authorization"))
	require.Equal(t, 502, log[0].Status)
	require.Equal(t, "/repos/octo/demo/pulls/1", log[0].Path)
}
