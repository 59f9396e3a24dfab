package history_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/history"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/transport"
)

const (
	old = "package a\n\nfunc Sum(list []int) int {\n\treturn 0\n}\n"
	bad = "package a\n\nfunc Sum(list []int) int {\n\ttotal := 0\n\tfor i := 0; i <= len(list); i++ {\n\t\ttotal += " +
		"list[i]\n\t}\n\treturn total\n}\n"
)

var good = strings.Replace(bad, "<=", "<", 1)

// world is a repository on a fake GitHub whose clock a test moves on.
type world struct {
	*githubtest.Server
	repo  *githubtest.Repo
	token string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := githubtest.New(t, githubtest.Options{Now: func() time.Time { return now }})
	repo := s.AddRepo("Octo/demo", githubtest.RepoOptions{Files: githubtest.Tree{"a.go": old, "b.py": "x = 1\n"}})
	return &world{Server: s, repo: repo, token: s.UserToken("reader")}
}

func (w *world) api(t *testing.T) *github.Client {
	t.Helper()
	hc := transport.New(transport.Options{Tries: 1, Sleep: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(hc.CloseIdleConnections)
	c, err := github.New(github.Options{APIURL: w.URL, Token: w.token, HTTP: hc})
	require.NoError(t, err)
	return c
}

func (w *world) build(t *testing.T, o history.Options) ([]dataset.Case, []string) {
	t.Helper()
	cases, notes, err := history.Build(t.Context(), w.api(t), "octo", "demo", o)
	require.NoError(t, err)
	return cases, notes
}

// open opens the pull request that brings the defect in.
func (w *world) open(o githubtest.PullOptions) *githubtest.Pull {
	w.Advance(time.Hour)
	if o.HeadFiles == nil {
		o.HeadFiles = w.repo.Tree("main").With(githubtest.Tree{"a.go": bad})
	}
	return w.repo.AddPull(o)
}

// fix changes the line that remarks are on, and merges.
func fix(p *githubtest.Pull) {
	p.Push(p.Tree().With(githubtest.Tree{"a.go": good}))
	p.Merge()
}

func on(line int, body string) githubtest.Comment {
	return githubtest.Comment{Path: "a.go", Side: "RIGHT", Line: line, Body: body}
}

const said = "The last index is behind the end of the list."

func TestARemarkThatWasActedOnBecomesAGoldenFinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.open(githubtest.PullOptions{Title: "Sum up", Body: "Adds the numbers.\r\n\r\nFixes #3", Author: "lee"})
	commented := p.HeadSHA()
	multi := on(5, said+"\nEvery call panics.\n\nPlease add a test as well.")
	multi.StartLine = 4
	r := p.AddReview("maya", "Some remarks.", multi, on(8, "This name could be better chosen."))
	fix(p)

	cases, notes := w.build(t, history.Options{Last: 10})
	require.Empty(t, notes)
	require.Len(t, cases, 1)
	c := cases[0]
	require.Contains(t, c.Diff, "+\tfor i := 0; i <= len(list); i++ {", "the change as it was when the remark was made")
	c.Diff = ""
	require.Equal(t, dataset.Case{
		ID: "demo-1", Language: "go", Kind: dataset.Bug, Repo: "Octo/demo", Base: p.BaseSHA(), Head: commented, PR: 1,
		Date:  "2026-03-01",
		Title: "Sum up", Description: "Adds the numbers.\n\nFixes #3",
		SourceDataset: "eval import: reviewers' remarks that were acted on",
		Golden: []dataset.Golden{{
			Path: "a.go", LineStart: 4, LineEnd: 5, Severity: finding.Minor, Visibility: dataset.Context,
			Issue:  said + " Every call panics.",
			Source: "https://github.com/Octo/demo/pull/1#discussion_r" + strconv.FormatInt(r.Comments[0].ID, 10),
		}},
	}, c, "line 8 did not change, so nobody acted on the remark there")
}

// TestOnlyWhatAReviewerSaidOnTheNewSideCounts has a pull request for each thing
// that is not a remark, and one remark among them.
func TestOnlyWhatAReviewerSaidOnTheNewSideCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left, whole, reply := on(4, said), on(5, said), on(5, said)
	left.Side, whole.WholeFile, reply.ReplyTo = "LEFT", true, 77
	for name, say := range map[string]func(p *githubtest.Pull){
		"the author":        func(p *githubtest.Pull) { p.AddReview("author", "", on(5, said)) },
		"the author's case": func(p *githubtest.Pull) { p.AddReview("Author", "", on(5, said)) },
		"an app":            func(p *githubtest.Pull) { p.AddReview("linter[bot]", "", on(5, said)) },
		"a bot account":     func(p *githubtest.Pull) { p.AddReview("robot", "", on(5, said)) },
		"a deleted account": func(p *githubtest.Pull) { p.AddReview("gone", "", on(5, said)) },
		"a ghost":           func(p *githubtest.Pull) { p.AddReview("ghost", "", on(5, said)) },
		"a reply":           func(p *githubtest.Pull) { p.AddReview("maya", "", reply) },
		"the old side":      func(p *githubtest.Pull) { p.AddReview("maya", "", left) },
		"a whole file":      func(p *githubtest.Pull) { p.AddReview("maya", "", whole) },
		"a short question":  func(p *githubtest.Pull) { p.AddReview("maya", "", on(5, "Why this?")) },
		"only a suggestion": func(p *githubtest.Pull) {
			p.AddReview("maya", "", on(5, "```suggestion\nfor range list {\n```"))
		},
	} {
		p := w.open(githubtest.PullOptions{Title: name})
		say(p)
		fix(p)
	}
	w.AddUser("robot", "Bot")
	w.DeleteUser("gone")
	cases, notes := w.build(t, history.Options{Last: 50})
	require.Empty(t, cases)
	require.Equal(t, []string{"pull requests left out because no reviewer's remark is on a line that was " +
		"changed afterwards: 11"}, notes)

	p := w.open(githubtest.PullOptions{})
	p.AddReview("maya", "", on(5, said))
	fix(p)
	cases, _ = w.build(t, history.Options{Last: 50})
	require.Len(t, cases, 1)
}

func TestTheCommitWithMostRemarksIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.open(githubtest.PullOptions{})
	p.AddReview("maya", "", on(5, "An early remark on this line."))
	second := p.Push(p.Tree().With(githubtest.Tree{"a.go": strings.Replace(bad, "i <= len", "i < 1+len", 1)}))
	p.AddReview("maya", "", on(5, said))
	p.AddReview("kim", "", on(5, "This is wrong in another way."))
	fix(p)
	cases, notes := w.build(t, history.Options{Last: 1})
	require.Empty(t, notes)
	require.Equal(t, second, cases[0].Head)
	require.Contains(t, cases[0].Diff, "i < 1+len")
	require.Len(t, cases[0].Golden, 2)

	tie := w.open(githubtest.PullOptions{})
	first := tie.HeadSHA()
	tie.AddReview("maya", "", on(5, said))
	tie.Push(tie.Tree().With(githubtest.Tree{"a.go": strings.Replace(bad, "i <= len", "i < 1+len", 1)}))
	tie.AddReview("maya", "", on(5, "It is still behind the end."))
	fix(tie)
	cases, _ = w.build(t, history.Options{Last: 1})
	require.Equal(t, first, cases[0].Head, "of two commits the earlier one")
}

func TestTheEstimateIsNotExceeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 8 {
		p := w.open(githubtest.PullOptions{})
		if i%2 == 0 {
			p.AddReview("maya", "", on(5, said))
		} else {
			p.Put(githubtest.Review{User: "maya", State: "APPROVED"})
		}
		fix(p)
	}
	var seen []int
	w.build(t, history.Options{Last: 8, OnProgress: func(done, total int) { seen = append(seen, done, total) }})
	require.Equal(t, []int{1, 8, 2, 8, 3, 8, 4, 8, 5, 8, 6, 8, 7, 8, 8, 8}, seen)
	sent := len(w.Requests())
	require.Equal(t, 1+4*3+4, sent, "the list; comments, and for those with a remark diff and its start")
	require.LessOrEqual(t, sent, history.Estimate(8))
}

func TestTheBaseIsWhereTheRemarksCommitLeftIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.open(githubtest.PullOptions{})
	base := p.BaseSHA()
	p.AddReview("maya", "", on(5, said))
	w.repo.Commit("main", "moved on", w.repo.Tree("main").With(githubtest.Tree{"b.py": "x = 3\n"}))
	p.MergeBase()
	fix(p)
	cases, _ := w.build(t, history.Options{Last: 5})
	require.NotEqual(t, base, p.BaseSHA())
	require.Equal(t, base, cases[0].Base)
	require.NotContains(t, cases[0].Diff, "b.py")
}

func TestWhatWasImportedReadsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.open(githubtest.PullOptions{Title: " \u202e ", Body: "a\u200bb" + strings.Repeat("ä", 700),
		HeadFiles: w.repo.Tree("main").With(githubtest.Tree{"a.go": bad, "turned.txt": "\u202e\n",
			"new name é.go": "package b\n"})})
	p.AddReview("maya", "", on(5, "Text that\u202e hides.\r\nAnd "+strings.Repeat("more ", 100)))
	fix(p)
	c := w.open(githubtest.PullOptions{Title: " "})
	c.AddReview("maya", "", on(5, said))
	fix(c)

	cases, notes := w.build(t, history.Options{Last: 9})
	require.Empty(t, notes)
	require.Len(t, cases, 2)
	require.Equal(t, "<U+202E>", cases[0].Title)
	require.Len(t, []rune(cases[0].Description), 600)
	require.Contains(t, cases[0].Description, "a<U+200B>b")
	require.Len(t, []rune(cases[0].Golden[0].Issue), 300)
	require.Contains(t, cases[0].Golden[0].Issue, "Text that<U+202E> hides. And more")
	require.Equal(t, "Octo/demo#2", cases[1].Title)
	require.Contains(t, cases[0].Diff, "+\u202e", "the diff is what is under review")

	var text bytes.Buffer
	require.NoError(t, dataset.Encode(&text, cases))
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
	read, err := dataset.Read(file)
	require.NoError(t, err)
	require.Equal(t, cases, read)

	again, _ := w.build(t, history.Options{Last: 9})
	require.Equal(t, cases, again)
}
