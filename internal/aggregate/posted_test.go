package aggregate_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/testvolume"
	"github.com/org/pr-review-action/internal/transport"
)

// unmarked is a GitHub on which no review of ours stands.
type unmarked struct{ *github.Client }

func (unmarked) Stands(context.Context, github.Review, marker.Review) (bool, error) {
	return false, nil
}

// TestP7_NoReviewIsRefusedAndNoFindingLost posts random changes' findings over
// HTTP, with the files as the server lists them.
func TestP7_NoReviewIsRefusedAndNoFindingLost(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	repo := s.AddRepo("o/r", githubtest.RepoOptions{})
	hc := transport.New(transport.Options{})
	t.Cleanup(hc.CloseIdleConnections)
	inline, posted := 0, testvolume.Of(300, 80)
	for seed := range uint64(posted) {
		d := draw(seed)
		token := s.AppToken(repo, map[string]string{"contents": "read", "pull-requests": "write"}) // one has a limit
		c, err := github.New(github.Options{APIURL: s.URL, Token: token, HTTP: hc})
		require.NoError(t, err)
		made := repo.AddPull(githubtest.PullOptions{})
		made.SetFiles(d.listed)
		p, err := c.Pull(t.Context(), pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: made.Number})
		require.NoError(t, err)
		listed, _, err := c.Files(t.Context(), p)
		require.NoError(t, err)
		require.Len(t, listed, len(d.files))
		for i, f := range d.files {
			if f.Blob == "" {
				require.Equal(t, f.Patch, listed[i].Patch, "the patch is read as it was written")
			}
		}
		kept := finding.Kept(d.all)
		q := post.Request{
			Ref: p.Ref, Base: p, Commit: p.HeadSHA, Thread: pull.ThreadID(p.Ref, "", p.HeadSHA),
			Digest:   strings.Repeat("0123", 16),
			Review:   render.Review{Name: fmt.Sprintf("#%d", made.Number), Head: p.HeadSHA, Findings: kept},
			Decision: decision.Record{By: "rita"},
		}
		_, err = post.Review(t.Context(), unmarked{c}, write.New(c), q)
		require.NoError(t, err, "case %d", seed)
		require.Len(t, made.Reviews(), 1)
		inline += inlineAsSent(t, kept, made.Reviews()[0], seed)
	}
	require.Greater(t, inline, posted/3, "comments at lines")
	for _, r := range s.Requests() {
		require.NotEqual(t, http.StatusUnprocessableEntity, r.Status, "%s %s", r.Method, r.Path)
	}
}

// inlineAsSent counts the comments of a review, which are the findings that were
// to be at their lines; the others are in its body.
func inlineAsSent(t *testing.T, kept []finding.Finding, r githubtest.Review, seed uint64) int {
	t.Helper()
	at := 0
	for _, f := range kept {
		if f.Placement == finding.Body {
			require.Contains(t, r.Body, f.Title, "case %d", seed)
			continue
		}
		require.Less(t, at, len(r.Comments), "case %d", seed)
		k := r.Comments[at]
		require.Equal(t, fmt.Sprint(f.Path, f.Side, f.Line), fmt.Sprint(k.Path, k.Side, k.Line), "case %d", seed)
		require.Contains(t, k.Body, f.Title, "case %d", seed)
		require.Equal(t, f.Suggestion != "" && f.SuggestionProblem == "", strings.Contains(k.Body, "```suggestion"),
			"case %d", seed)
		at++
	}
	require.Len(t, r.Comments, at, "case %d", seed)
	return at
}
