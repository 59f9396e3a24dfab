package githubtest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v62/github"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

func (w *world) comments(t *testing.T, n int) []*github.PullRequestComment {
	t.Helper()
	list, _, err := w.client(t, w.read).PullRequests.ListComments(t.Context(), "octo", "demo", n, nil)
	require.NoError(t, err)
	return list
}

func TestCommentsFollowTheirLinesUntilThoseChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lines := []string{"1\n", "2\n", "3\n", "4\n", "5\n"}
	text := func() string { return strings.Join(lines, "") }
	p := w.repo.AddPull(githubtest.PullOptions{HeadFiles: githubtest.Tree{"n": text(), "gone": "x\n"}})
	at := p.HeadSHA()
	p.AddReview("maya", "", githubtest.Comment{Path: "n", Line: 4, StartLine: 3, Body: "b"},
		githubtest.Comment{Path: "gone", Line: 1, Body: "b"})
	p.AddReview("maya", "", githubtest.Comment{Path: "n", Line: 1, WholeFile: true, Body: "b", ReplyTo: 7})

	lines[0] = "0\n1\n"
	head := p.Push(githubtest.Tree{"n": text()})
	list := w.comments(t, p.Number)
	moved, gone, whole := list[0], list[1], list[2]
	require.Equal(t, []int{5, 4, 4, 3}, []int{moved.GetLine(), moved.GetStartLine(), moved.GetOriginalLine(),
		moved.GetOriginalStartLine()})
	require.Equal(t, []string{head, at}, []string{moved.GetCommitID(), moved.GetOriginalCommitID()})
	require.Nil(t, gone.Line)
	require.Nil(t, gone.Position)
	require.Equal(t, at, gone.GetCommitID())
	require.Equal(t, "file", whole.GetSubjectType())
	require.EqualValues(t, 7, whole.GetInReplyTo())

	lines[3] = "four\n"
	p.Push(githubtest.Tree{"n": text()})
	moved = w.comments(t, p.Number)[0]
	require.Nil(t, moved.Line, "outdated")
	require.Nil(t, moved.StartLine)
	require.Equal(t, 4, moved.GetOriginalLine())
}

func TestWhatADeletedAccountWroteStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.repo.AddPull(githubtest.PullOptions{Author: "gone", HeadFiles: githubtest.Tree{"n": "1\n"}})
	p.AddReview("gone", "", githubtest.Comment{Path: "n", Line: 1, Body: "b"})
	w.DeleteUser("gone")
	c := w.client(t, w.read)
	got, _, err := c.PullRequests.Get(t.Context(), "octo", "demo", p.Number)
	require.NoError(t, err)
	require.Equal(t, "ghost", got.GetUser().GetLogin())
	listed, _, err := c.PullRequests.List(t.Context(), "octo", "demo", nil)
	require.NoError(t, err)
	require.Nil(t, listed[0].User)
	reviews, _, err := c.PullRequests.ListReviews(t.Context(), "octo", "demo", p.Number, nil)
	require.NoError(t, err)
	require.Nil(t, reviews[0].User)
	require.Nil(t, w.comments(t, p.Number)[0].User)
}

func TestPullsAreListedByCreationOrUpdate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := newWorld(t, githubtest.Options{Now: func() time.Time { return now }})
	w.repo.AddPull(githubtest.PullOptions{})
	w.Advance(time.Hour)
	w.repo.AddPull(githubtest.PullOptions{}).Put(githubtest.Review{User: "maya", State: "APPROVED"})
	w.Advance(time.Hour)
	w.pull.Merge()
	w.Advance(time.Hour)
	list := func(sort, direction string) (numbers []int) {
		got, _, err := w.client(t, w.read).PullRequests.List(t.Context(), "octo", "demo",
			&github.PullRequestListOptions{State: "all", Sort: sort, Direction: direction})
		require.NoError(t, err)
		for _, p := range got {
			numbers = append(numbers, p.GetNumber())
			if p.GetNumber() == 1 {
				require.Equal(t, now.Add(2*time.Hour), p.GetMergedAt().Time)
				require.Equal(t, p.GetMergedAt(), p.GetUpdatedAt())
			}
		}
		return numbers
	}
	require.Equal(t, []int{3, 2, 1}, list("", ""))
	require.Equal(t, []int{3, 2, 1}, list("created", ""))
	require.Equal(t, []int{1, 2, 3}, list("created", "asc"))
	require.Equal(t, []int{1, 3, 2}, list("updated", "desc"))
	require.Equal(t, []int{2, 3, 1}, list("updated", ""), "ascending where no direction is asked for")
	reviews, _, err := w.client(t, w.read).PullRequests.ListReviews(t.Context(), "octo", "demo", 3, nil)
	require.NoError(t, err)
	require.Equal(t, "APPROVED", reviews[0].GetState())
}

func TestAComparisonComesAsADiff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubtest.Options{PatchLines: 2})
	files := githubtest.Tree{"logo": "\x00", "empty": "", "many": strings.Repeat("x\n", 100)}
	p := w.repo.AddPull(githubtest.PullOptions{HeadFiles: w.repo.Tree("main").With(files)})
	w.repo.Commit("main", "moved on", w.repo.Tree("main").With(githubtest.Tree{"z": "z\n"}))
	c := w.client(t, w.read)
	raw := github.RawOptions{Type: github.Diff}
	text, r, err := c.Repositories.CompareCommitsRaw(t.Context(), "octo", "demo", "main", p.HeadSHA(), raw)
	require.NoError(t, err)
	require.Contains(t, r.Header.Get("Content-Type"), ".diff")
	require.Contains(t, text, "Binary files /dev/null and b/logo differ\n")
	require.Contains(t, text, "diff --git a/empty b/empty\nnew file mode 100644\ndiff --git")
	require.Equal(t, 100, strings.Count(text, "\n+x"), "with every line, where the list of files leaves the patch out")
	require.NotContains(t, text, "b/z", "three dots: the base's own changes are not in it")
	text, _, err = c.Repositories.CompareCommitsRaw(t.Context(), "octo", "demo", "main", "main", raw)
	require.NoError(t, err)
	require.Empty(t, text)
	_, r, _ = c.Repositories.CompareCommitsRaw(t.Context(), "octo", "demo", "main", strings.Repeat("0", 40), raw)
	require.Equal(t, http.StatusNotFound, status(r))
}
