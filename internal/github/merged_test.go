package github

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is a closed pull request of a list; days of March 2026, none merged at 0.
type listed struct{ number, updated, merged int }

func (l listed) json() string {
	merged := "null"
	if l.merged > 0 {
		merged = fmt.Sprintf(`"2026-03-%02dT00:00:00Z"`, l.merged)
	}
	return fmt.Sprintf(`{"number":%d,"state":"closed","updated_at":"2026-03-%02dT00:00:00Z","merged_at":%s,
		"title":"T","user":null,
		"base":{"ref":"main","sha":"b","repo":{"id":1,"full_name":"O/R"}},"head":{"ref":"x","sha":"h",
		"repo":null}}`, l.number, l.updated, merged)
}

// pages serves a list page by page and counts the requests; behind the last page
// comes another one where more is set.
func pages(t *testing.T, more bool, list ...[]listed) (*Client, *int) {
	t.Helper()
	asked := 0
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		q := r.URL.Query()
		if q.Get("state") != "closed" || q.Get("sort") != "updated" || q.Get("direction") != "desc" ||
			q.Get("page") != fmt.Sprint(asked) {
			t.Errorf("asked for %s", r.URL.RawQuery)
		}
		if asked < len(list) || more {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, asked+1))
		}
		var rows []string
		for _, l := range list[min(asked, len(list))-1] {
			rows = append(rows, l.json())
		}
		io.WriteString(w, "["+strings.Join(rows, ",")+"]")
	}), &asked
}

func numbers(list []MergedPull) (n []int) {
	for _, p := range list {
		n = append(n, p.Number)
	}
	return n
}

func TestMergedPullsAreTheLastMergedAndNotTheLastUpdated(t *testing.T) {
	first := []listed{{number: 1, updated: 28, merged: 2}, {number: 2, updated: 27},
		{number: 3, updated: 26, merged: 20}}
	second := []listed{{number: 3, updated: 26, merged: 20}, {number: 4, updated: 25, merged: 25},
		{number: 5, updated: 24, merged: 20}}
	third := []listed{{number: 6, updated: 1, merged: 1}}
	for last, want := range map[int]struct {
		numbers []int
		pages   int
	}{
		0: {nil, 1},
		1: {[]int{4}, 2}, // update 26 ends page 1: after it a merge on the 25th may follow
		2: {[]int{4, 5}, 3},
		3: {[]int{4, 5, 3}, 3},
		9: {[]int{4, 5, 3, 1, 6}, 3},
	} {
		c, asked := pages(t, false, first, second, third)
		list, err := c.MergedPulls(t.Context(), "o", "r", last)
		require.NoError(t, err)
		require.Equal(t, want.numbers, numbers(list), last)
		require.Equal(t, want.pages, *asked, last)
		for _, p := range list {
			require.True(t, p.Merged)
			require.Equal(t, []string{"O/R", "b", "h", ""}, []string{p.FullName(), p.BaseSHA, p.HeadSHA, p.Author},
				"of a deleted account")
		}
	}
}

func TestMergedPullsLookBackSoManyPages(t *testing.T) {
	c, asked := pages(t, true, []listed{{number: 1, updated: 28, merged: 2}})
	list, err := c.MergedPulls(t.Context(), "o", "r", 5)
	require.NoError(t, err)
	require.Equal(t, []int{1}, numbers(list))
	require.Equal(t, MergedPages, *asked)
}

func TestAnIncompleteMergedPullIsAnError(t *testing.T) {
	c := serve(t, fixed(200, "application/json", `[{"number":1,"merged_at":"2026-03-01T00:00:00Z"}]`))
	_, err := c.MergedPulls(t.Context(), "o", "r", 5)
	require.ErrorIs(t, err, errIncomplete)
}

func TestAReviewCommentKeepsWhereItWasMade(t *testing.T) {
	c := routes(t, map[string]string{"/repos/o/r/pulls/7/comments?direction=asc&page=1&per_page=100&sort=created": `[
		{"id":1,"path":"a.go","side":"RIGHT","start_side":"LEFT","line":null,"original_line":5,"start_line":null,
		"original_start_line":3,"subject_type":"line",
		 "original_commit_id":"c1","user":{"login":"maya","type":"User"},"author_association":"MEMBER","body":"b",
		"html_url":"u","created_at":"2026-03-01T00:00:00Z"},
		{"id":2,"in_reply_to_id":1,"path":"a.go","side":"LEFT","line":9,"original_line":8,"user":null,"body":""},
		{"id":3,"path":"a.go","line":1,"original_line":1,"subject_type":"file","user":{"login":"x[bot]",
		"type":"Bot"}}]`})
	list, err := c.ReviewComments(t.Context(), ref)
	require.NoError(t, err)
	require.Len(t, list, 3)
	first := list[0]
	require.Equal(t, 2026, first.CreatedAt.Year())
	first.CreatedAt = list[1].CreatedAt
	require.Equal(t, ReviewComment{ID: 1, Path: "a.go", Side: "RIGHT", StartSide: "LEFT", Body: "b", User: "maya",
		UserType: "User", Association: "MEMBER", URL: "u",
		OriginalCommitID: "c1", OriginalLine: 5, OriginalStartLine: 3}, first)
	require.Equal(t, ReviewComment{ID: 2, ReplyTo: 1, Path: "a.go", Side: "LEFT", Line: 9, OriginalLine: 8}, list[1])
	require.True(t, first.Outdated())
	require.False(t, list[1].Outdated())
	require.True(t, list[2].WholeFile)
}

func TestCompareDiffIsADiffAndBounded(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, mediaDiff, r.Header.Get("Accept"))
		w.Header().Set("Content-Type", "application/vnd.github.v3.diff; charset=utf-8")
		switch r.URL.EscapedPath() {
		case "/repos/o/r/compare/b...x%2Fh":
			io.WriteString(w, "0123456789")
		case "/repos/o/r/compare/b...b":
		default:
			t.Errorf("asked for %s", r.URL.EscapedPath())
		}
	})
	got, err := c.CompareDiff(t.Context(), "o", "r", "b", "x/h", 10)
	require.NoError(t, err)
	require.Equal(t, "0123456789", got)
	_, err = c.CompareDiff(t.Context(), "o", "r", "b", "x/h", 9)
	require.ErrorIs(t, err, ErrTooLarge)
	got, err = c.CompareDiff(t.Context(), "o", "r", "b", "b", 9)
	require.NoError(t, err)
	require.Empty(t, got, "commits that do not differ")
}
