package history_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/history"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
)

func TestAPullRequestThatCannotBeACaseCostsItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	main := w.repo.Tree("main")
	huge := w.open(githubtest.PullOptions{HeadFiles: main.With(githubtest.Tree{"a.go": bad,
		"z.txt": strings.Repeat("words and words\n", 20_000)})})
	binary := w.open(githubtest.PullOptions{HeadFiles: main.With(githubtest.Tree{"logo.png": "\x00\x01"})})
	away := w.open(githubtest.PullOptions{})
	broken := w.open(githubtest.PullOptions{})
	fine := w.open(githubtest.PullOptions{})
	unmerged := w.open(githubtest.PullOptions{})
	for _, p := range []*githubtest.Pull{huge, away, broken, fine, unmerged} {
		p.AddReview("maya", "", on(5, said))
	}
	binary.AddReview("maya", "", githubtest.Comment{Path: "logo.png", Line: 1, Body: said})
	away.AddReview("maya", "", githubtest.Comment{Path: "b.py", Line: 1, Body: said},
		githubtest.Comment{Path: "b.py", Line: 1, Body: said})
	for _, p := range []*githubtest.Pull{huge, binary, away, broken, fine} {
		fix(p)
	}
	unmerged.Push(unmerged.Tree().With(githubtest.Tree{"a.go": good}))
	unmerged.Close()
	w.Fail("GET", "/repos/*/*/pulls/4/comments", githubtest.Fault{Status: http.StatusInternalServerError})

	cases, notes := w.build(t, history.Options{Last: 50})
	require.Len(t, cases, 2)
	require.Equal(t, []int{3, 5}, []int{cases[0].PR, cases[1].PR})
	require.Len(t, notes, 4)
	for i, want := range []string{
		"Octo/demo#4 is left out: listing the comments on Octo/demo#4: GET",
		"Octo/demo#3: 2 of 3 remarks are left out: they are on no line of the change",
		"Octo/demo#2 is left out: no file of the change has text to review",
		"Octo/demo#1 is left out: reading the diff",
	} {
		require.True(t, strings.HasPrefix(notes[i], want), "%q", notes[i])
	}
	require.Contains(t, notes[3], github.ErrTooLarge.Error())
}

func TestAuthAndLimitsEndTheImport(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubtest.Fault{
		"403":   {Status: http.StatusForbidden},
		"401":   {Status: http.StatusUnauthorized},
		"limit": githubtest.RateLimited(time.Now().Add(time.Hour)),
		"429":   githubtest.SecondaryLimit(http.StatusTooManyRequests, time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"pulls", "pulls/1/comments", "compare/**"} {
				w := newWorld(t)
				p := w.open(githubtest.PullOptions{})
				p.AddReview("maya", "", on(5, said))
				fix(p)
				w.Fail("GET", "/repos/*/*/"+path, fault)
				cases, _, err := history.Build(t.Context(), w.api(t), "octo", "demo", history.Options{Last: 5})
				require.Error(t, err, path)
				require.Empty(t, cases, path)
			}
		})
	}
	w := newWorld(t)
	_, _, err := history.Build(t.Context(), w.api(t), "octo", "none", history.Options{Last: 5})
	require.ErrorIs(t, err, github.ErrNotFound)
}

// diffs is the API with other diffs than the fake makes.
type diffs struct {
	*github.Client
	text string
}

func (d diffs) CompareDiff(context.Context, string, string, string, string, int64) (string, error) {
	return d.text, nil
}

func TestADiffIsMadeUTF8AndRefusedWhereItIsDamaged(t *testing.T) {
	t.Parallel()
	const header = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n"
	for text, want := range map[string]string{
		header + "+caf\xe9\u202e\n": header + "+caf\ufffd\u202e\n",
		header:                      "",
		"no diff":                   "",
		"":                          "",
	} {
		w := newWorld(t)
		p := w.open(githubtest.PullOptions{})
		p.AddReview("maya", "", on(1, said))
		p.Push(p.Tree().With(githubtest.Tree{"a.go": "package c\n"}))
		p.Merge()
		cases, notes, err := history.Build(t.Context(), diffs{w.api(t), text}, "octo", "demo", history.Options{Last: 5})
		require.NoError(t, err)
		require.Len(t, append(notes, make([]string, len(cases))...), 1, "%q: a case or a note", text)
		if want != "" {
			require.Equal(t, want, cases[0].Diff)
		}
	}
}
