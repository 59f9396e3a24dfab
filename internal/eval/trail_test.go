package eval_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestP4_AnAnswerThatCameAfterTheCancelIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reviewer, asked := counted(0)
	ctx, cancel := context.WithCancel(t.Context())
	asked.Chatter = during{asked.Chatter, cancel}
	o := options(t, dir, reviewer)
	o.Concurrency, o.Linger = 1, time.Minute
	_, err := eval.Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 1, asked.asked.Load())
	asked.Chatter = scripted().Chat
	_, err = eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.EqualValues(t, 4, asked.asked.Load(), "it is not paid again")
}

func TestAPageShowsTheQuestionsOfItsOwnRunAlone(t *testing.T) {
	t.Parallel()
	o := options(t, t.TempDir(), model(t, wrong))
	o.Judge, _ = judge(t, llmtest.HonestJudge)
	o.Cases = []dataset.Case{defective("one", "a.go")}
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	page, err := eval.Page(t.Context(), o.Dir, "one")
	require.NoError(t, err)
	questions := strings.Count(page, "\nAnswer:\n")
	require.Equal(t, 1+2+2, questions, "a review, and two votes on each of two questions")

	o.Cases[0].Diff = strings.Replace(o.Cases[0].Diff, "package a", "package aa", 1) // one more hunk's worth of context
	_, err = eval.Run(t.Context(), o)
	require.NoError(t, err)
	page, err = eval.Page(t.Context(), o.Dir, "one")
	require.NoError(t, err)
	require.Equal(t, questions, strings.Count(page, "\nAnswer:\n"), "those about the earlier diff are another run's")

	o.Judge.Chat = other{o.Judge.Chat}
	_, err = eval.Run(t.Context(), o)
	require.NoError(t, err)
	page, err = eval.Page(t.Context(), o.Dir, "one")
	require.NoError(t, err)
	require.Equal(t, questions, strings.Count(page, "\nAnswer:\n"), "and so are another judge's")
}

func TestThePageNamesWhatWasNotRead(t *testing.T) {
	t.Parallel()
	down := map[string]llmtest.Script{"b.go": llmtest.Always(llmtest.Answer{Status: 500})}
	o := options(t, t.TempDir(), model(t, llmtest.PerFile(down, wrong)))
	o.Cases = cases()[:1]
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	page, err := eval.Page(t.Context(), o.Dir, "one")
	require.NoError(t, err)
	require.Contains(t, page, "Not read: b.go: ")
	require.Contains(t, page, " output tokens, price not known, ")
}

func TestAKnownDefectThatIsHitWasNotLost(t *testing.T) {
	t.Parallel()
	twice := llmtest.Finding{Side: "RIGHT", StartLine: 2, Line: 2, Title: "The sum is taken twice", Body: "So it is.",
		Category: "correctness", Severity: "major", Confidence: 0.9}
	weak := twice
	weak.Title, weak.Confidence = "Perhaps the sum is wrong", 0.2
	o := options(t, t.TempDir(), model(t, llmtest.Always(llmtest.Findings(twice, twice, weak))))
	o.Cases = []dataset.Case{defective("one", "a.go")}
	report, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, report.Losses["dedupe"], 1)
	require.True(t, report.Losses["threshold"][0].Known, "it stood near the known defect")
	kept, err := eval.ReadRun(o.Dir)
	require.NoError(t, err)
	require.Empty(t, kept.Results[0].Golden[0].LostAt)
}

func TestHalfAWrittenRunIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := options(t, dir, scripted())
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "results.jsonl")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "results.jsonl"), 0o700))
	_, err = eval.Run(t.Context(), o)
	require.ErrorContains(t, err, "the run's folder "+dir)
	_, err = eval.ReadRun(dir)
	require.ErrorIs(t, err, eval.ErrNoRun)
}

func TestTheForecastLeavesOutWhatIsPaid(t *testing.T) {
	t.Parallel()
	var told []string
	reviewer, _ := counted(0)
	o := options(t, t.TempDir(), reviewer)
	o.Announce = func(s string) { told = append(told, s) }
	o.Judge, _ = judge(t, llmtest.HonestJudge)
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, told[0], "3 cases, 4 files to review; about 16 questions with ",
		"4 files, 3 known defects and one more finding a case, two votes each")
	_, err = eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, told[1], "every answer is there already")
	o.Judge.Agreement = true
	_, err = eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, told[2], "about 60 questions")
}

func TestTheJudgeSeesTheHunkOfARemovedLine(t *testing.T) {
	t.Parallel()
	lines := "+" + strings.Repeat("new()\n+", 99) + "new()\n"
	c := dataset.Case{ID: "gone", Language: "go", Kind: dataset.Clean, Title: "gone",
		Diff: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n" +
			"@@ -1,1 +1,101 @@\n package a\n" + lines + "@@ -50,2 +150,1 @@\n-unlock()\n end()\n"}
	o := options(t, t.TempDir(), model(t, llmtest.Always(llmtest.Findings(llmtest.Finding{
		Side: "LEFT", StartLine: 50, Line: 50, Title: "The lock is never released", Body: "Unlock is gone.",
		Category: "concurrency", Severity: "major", Confidence: 0.9,
	}))))
	var server *llmtest.Server
	o.Judge, server = judge(t, llmtest.HonestJudge)
	o.Cases = []dataset.Case{c}
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, llmtest.Data(server.Requests()[0].User)["hunk"], "unlock()")
}
