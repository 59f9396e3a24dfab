package eval_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// defective is a case with one defect in each of its files; clean has none.
func defective(id string, files ...string) dataset.Case {
	c := dataset.Case{ID: id, Language: "go", Kind: dataset.Bug, Title: id}
	for _, f := range files {
		c.Diff += patch(f)
		c.Golden = append(c.Golden, dataset.Golden{
			Path: f, LineStart: 2, LineEnd: 3, Severity: finding.Major, Visibility: dataset.Local,
			Issue: "The sum is taken twice",
		})
	}
	return c
}

func clean(id string) dataset.Case {
	return dataset.Case{ID: id, Language: "go", Kind: dataset.Clean, Title: id, Diff: patch("clean.go")}
}

func patch(path string) string {
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,2 +1,4 @@\n package a\n+var sum "+
		"= twice()\n+var more = sum\n end\n", path)
}

func cases() []dataset.Case {
	return []dataset.Case{defective("one", "a.go", "b.go"), defective("two", "c.go"), clean("three")}
}

func options(t *testing.T, dir string, r eval.Reviewer) eval.Options {
	t.Helper()
	settings := config.Default()
	settings.NoVerify = true // one question a file
	return eval.Options{
		Cases: cases(), Dir: dir, Reviewer: r, Config: settings, GateFrom: finding.Minor, Concurrency: 4,
		Commit: "c0ffee", Random: rand.Reader, Now: time.Now,
	}
}

func scripted() eval.Reviewer { return eval.Scripted(oracle.Options{Recall: 1}) }

// counting is a reviewer whose questions are counted; it fails from the n-th on.
type counting struct {
	review.Chatter
	asked atomic.Int64
	until int64
	cost  cost.MicroUSD
}

var errDown = errors.New("the line is down")

func (c *counting) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	if n := c.asked.Add(1); c.until > 0 && n > c.until {
		return llm.Answer{}, errDown
	}
	a, err := c.Chatter.Chat(ctx, r)
	a.Usage.Cost = c.cost
	return a, err
}

func counted(until int64) (eval.Reviewer, *counting) {
	c := &counting{Chatter: scripted().Chat, until: until}
	return eval.Reviewer{Name: score.Scripted, Chat: c}, c
}

// timeless is a report without what names a time.
func timeless(r score.Report) score.Report {
	r.Seconds, r.Latency = 0, nil
	return r
}

func TestAScriptThatKnowsTheAnswersHitsEveryDefect(t *testing.T) {
	t.Parallel()
	report, err := eval.Run(t.Context(), options(t, t.TempDir(), scripted()))
	require.NoError(t, err)
	require.Equal(t, 3, report.Cases)
	require.Equal(t, 3, report.Passed)
	require.Equal(t, 3, report.Golden)
	require.Equal(t, 3, report.Hit)
	require.Equal(t, 3, report.Posted)
	require.Zero(t, report.CleanFalsePositives)
	require.Empty(t, report.Losses)
	require.Empty(t, report.Moved)
}

func TestAFileThatCannotBeWrittenLeavesNoPartOfANewOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "results.jsonl", "x"), 0o700)) // in the way
	_, err := eval.Run(t.Context(), options(t, dir, scripted()))
	require.ErrorContains(t, err, "the run's folder "+dir)
	require.NoFileExists(t, filepath.Join(dir, "results.jsonl.new"))
}

func TestP11_TwoRunsWithTheSameAnswersGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	noisy := eval.Scripted(oracle.Options{Recall: 0.5, Noise: 2, Seed: 3})
	for _, dir := range []string{first, second} {
		_, err := eval.Run(t.Context(), options(t, dir, noisy))
		require.NoError(t, err)
	}
	for _, name := range []string{"cases.jsonl", "results.jsonl", "report.md"} {
		require.Equal(t, read(t, first, name), read(t, second, name), name)
	}
	one, two := decode(t, read(t, first, "report.json")), decode(t, read(t, second, "report.json"))
	for _, r := range []map[string]any{one, two} {
		require.Contains(t, r, "seconds")
		delete(r, "seconds")
		delete(r, "latency_seconds")
	}
	require.Equal(t, one, two)
}

func TestP4_AFinishedRunPaysNothingAndEndsTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reviewer, asked := counted(0)
	first, err := eval.Run(t.Context(), options(t, dir, reviewer))
	require.NoError(t, err)
	require.EqualValues(t, 4, asked.asked.Load())
	again, err := eval.Run(t.Context(), options(t, dir, reviewer))
	require.NoError(t, err)
	require.EqualValues(t, 4, asked.asked.Load(), "nothing is asked twice")
	require.Equal(t, timeless(first), timeless(again))
	require.Equal(t, first.Latency, again.Latency, "times are those of the answers")
}

func TestP4_ARunThatWasCancelledGoesOn(t *testing.T) {
	t.Parallel()
	whole, err := eval.Run(t.Context(), options(t, t.TempDir(), scripted()))
	require.NoError(t, err)
	for after := range int64(4) {
		dir := t.TempDir()
		reviewer, asked := counted(0)
		ctx, cancel := context.WithCancel(t.Context())
		o := options(t, dir, reviewer)
		o.Concurrency = 1
		asked.Chatter = cancels{asked.Chatter, cancel, after, &asked.asked}
		_, err := eval.Run(ctx, o)
		require.ErrorIs(t, err, context.Canceled)
		_, err = eval.ReadRun(dir)
		require.ErrorIs(t, err, eval.ErrNoRun, "no table of half a run")
		paid := asked.asked.Load()
		asked.Chatter = scripted().Chat
		report, err := eval.Run(t.Context(), options(t, dir, reviewer))
		require.NoError(t, err)
		require.LessOrEqual(t, asked.asked.Load(), int64(4+1), "cancelled behind %d, %d asked then", after, paid)
		require.Equal(t, timeless(whole), timeless(report))
	}
}

// cancels ends the run when it has answered some questions.
type cancels struct {
	review.Chatter
	cancel func()
	after  int64
	asked  *atomic.Int64
}

func (c cancels) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	if c.asked.Load() > c.after {
		c.cancel()
		return llm.Answer{}, ctx.Err()
	}
	return c.Chatter.Chat(ctx, r)
}

func TestAFileThatFailedIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reviewer, asked := counted(1)
	report, err := eval.Run(t.Context(), options(t, dir, reviewer))
	require.NoError(t, err)
	require.Positive(t, report.UnreadCases)
	require.Less(t, report.Passed, 3, "nothing passes unread")
	asked.until = 0
	report, err = eval.Run(t.Context(), options(t, dir, reviewer))
	require.NoError(t, err)
	require.Zero(t, report.UnreadCases)
	require.Equal(t, 3, report.Passed)
}

func TestP9_ARunStopsBeforeItCostsMoreThanItsCap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reviewer, asked := counted(0)
	asked.cost = 100
	price := cost.Price{Input: 10_000, Output: 10_000} // sets about 300 aside for a question
	o := options(t, dir, reviewer)
	o.Budget = eval.Budget{Cap: 10_000, Price: &price}
	o.Cases = cases()[:2]
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.EqualValues(t, 3, asked.asked.Load())

	o.Cases, o.Budget.Cap = cases(), 400
	_, err = eval.Run(t.Context(), o)
	require.ErrorIs(t, err, cost.ErrSpent, "what was paid before counts")
	require.EqualValues(t, 3, asked.asked.Load())
	require.ErrorContains(t, err, "the run was stopped with 2 of 3 cases done")
	require.Equal(t, problem.Spent, problem.KindOf(err))

	o.Budget.Cap = 1_000
	report, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.EqualValues(t, 4, asked.asked.Load(), "and is not paid again")
	require.EqualValues(t, 400, *report.Cost)
}

func TestPricesAreThoseOfReviewerAndJudge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reviewer, _ := counted(0)
	o := options(t, dir, reviewer)
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	o.Judge, _ = judge(t, llmtest.HonestJudge)
	cheap, dear := cost.Price{Input: 1_000_000, Output: 1_000_000}, cost.Price{Output: 100_000_000}
	o.Budget = eval.Budget{Price: &cheap, Judge: &dear}
	report, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.EqualValues(t, report.Usage.InputTokens+report.Usage.OutputTokens, report.Usage.Cost,
		"also of answers that the journal had")
	require.EqualValues(t, 100*report.Judging.OutputTokens, report.Judging.Cost)
}

func TestAnAnswerThatCannotBeKeptEndsTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reviewer, asked := counted(0)
	asked.Chatter = during{asked.Chatter, func() {
		journal := filepath.Join(dir, "journal")
		if os.RemoveAll(journal) == nil {
			_ = os.WriteFile(journal, nil, 0o600) // the journal's folder is none any more
		}
	}}
	o := options(t, dir, reviewer)
	o.Concurrency = 1
	_, err := eval.Run(t.Context(), o)
	require.ErrorContains(t, err, "the run's folder "+dir)
	require.EqualValues(t, 1, asked.asked.Load(), "whatever else is asked would be lost as well")
	_, err = eval.ReadRun(dir)
	require.ErrorIs(t, err, eval.ErrNoRun)
}

func TestARunInWhichEveryReviewFailedHasNoFigures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := eval.Run(t.Context(), options(t, dir, scripted()))
	require.NoError(t, err)
	before := read(t, dir, "report.md")
	reviewer, asked := counted(1)
	asked.asked.Store(1)
	asked.Chatter = other{asked.Chatter}
	_, err = eval.Run(t.Context(), options(t, dir, reviewer))
	require.ErrorContains(t, err, "not one file could be reviewed, so there are no figures: ")
	require.ErrorContains(t, err, errDown.Error(), "and why")
	require.Equal(t, before, read(t, dir, "report.md"), "the earlier run's stay")
}

// other is another model, of which nothing is in the journal.
type other struct{ review.Chatter }

func (other) Identity() string { return "another" }

func TestTwoProcessesInOneFolderDoNotMix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reviewer, asked := counted(0)
	var inside error
	asked.Chatter = during{asked.Chatter, func() {
		_, inside = eval.Run(t.Context(), options(t, dir, scripted()))
	}}
	o := options(t, dir, reviewer)
	o.Concurrency, o.Cases = 1, o.Cases[1:2]
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.ErrorIs(t, inside, graph.ErrBusy)
}

// during does something with every question, before it is answered.
type during struct {
	review.Chatter
	do func()
}

func (d during) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	d.do()
	return d.Chatter.Chat(ctx, r)
}

func TestThePageHoldsAllOfACase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := eval.Run(t.Context(), options(t, dir, scripted()))
	require.NoError(t, err)
	page, err := eval.Page(t.Context(), dir, "one")
	require.NoError(t, err)
	for _, part := range []string{
		"# `one`", "passed", "hit by F1", "F2 means known defect", "yes, only by place", "System text",
		"var sum = twice()",
		"Review the change to this file", `"findings"`, "## Diff",
	} {
		require.Contains(t, page, part)
	}
	_, err = eval.Page(t.Context(), dir, "none")
	require.ErrorIs(t, err, eval.ErrNoCase)
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

func decode(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}
