package post_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
)

func TestCheck9_T24_OpenAndUnmoved(t *testing.T) {
	t.Parallel()
	const code, base = "3f9c2a71be04d855", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	head, diff := "1a2b3c4"+strings.Repeat("0", 33), strings.Repeat("d", 64)
	drafted := checkpoint.Subject{Number: 42, Head: head, Digest: diff}
	now := post.Now{Open: true, HeadSHA: head, DiffDigest: diff}
	require.NoError(t, post.CheckHead(drafted, code, "gh workflow run pr-review.yml", now))
	for want, change := range map[string]func(*post.Now){
		"#42 was closed, so none": func(n *post.Now) { n.Open = false },
		"#42 was merged, so none": func(n *post.Now) { n.Open, n.Merged = false, true },
		"same commit against":     func(n *post.Now) { n.DiffDigest = base },
		"with the same diff":      func(n *post.Now) { n.HeadSHA = base },
	} {
		n := now
		change(&n)
		err := post.CheckHead(drafted, code, "gh workflow run pr-review.yml", n)
		var r *problem.Error
		require.ErrorAs(t, err, &r)
		require.Equal(t, 9, r.Check)
		require.Equal(t, "next", r.Rows[len(r.Rows)-1][0], "P12: every refusal says what to do")
		require.ErrorContains(t, err, want)
	}
	now.HeadSHA, now.DiffDigest = "9f8e7d6"+strings.Repeat("0", 33), base
	err := post.CheckHead(drafted, code, "gh workflow run pr-review.yml", now)
	require.EqualError(t, err, `#42 has moved since this draft was made
  draft   3f9c2a71be04d855 for commit 1a2b3c4
  now     commit 9f8e7d6, with another diff
  next    decide the new draft, or start one: gh workflow run pr-review.yml`)
}
