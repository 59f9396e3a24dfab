package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/transport"
)

func model(t *testing.T, script llmtest.Script) eval.Reviewer {
	t.Helper()
	server := llmtest.Start(t, script)
	chat, err := llm.New(llm.Options{BaseURL: server.URL, Model: "m", HTTP: transport.New(transport.Options{Tries: 1})})
	require.NoError(t, err)
	return eval.Reviewer{Name: "m", Chat: chat}
}

// acting is text that does something on a page, in a terminal or in a runner's log.
const acting = "\n::error::pwned\n##[group]x\n````\n<img src=x onerror=alert(1)> @maya \x1b[31mred\n# heading"

func TestP8_NothingOnThePageActs(t *testing.T) {
	t.Parallel()
	o := options(t, t.TempDir(), model(t, llmtest.Always(llmtest.Findings(llmtest.Finding{
		Side: "RIGHT", StartLine: 2, Line: 2, Title: "Odd" + acting, Body: "Body" + acting, Category: "##[group]<b>",
		Severity: "major", Confidence: 0.9,
	}))))
	c := defective("one", "a.go")
	c.Title += acting
	c.Golden[0].Issue += acting
	c.Diff = strings.Replace(c.Diff, "twice()", "twice() // ::error::pwned ```` <img src=x>", 1)
	o.Cases = []dataset.Case{c}
	o.Judge, _ = judge(t, func(r llmtest.Request) llmtest.Answer {
		return llmtest.Answer{Text: fmt.Sprintf(`{"reason":"::error::pwned <img src=x>","%s":false}`, r.Judge)}
	})
	_, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	page, err := eval.Page(t.Context(), o.Dir, "one")
	require.NoError(t, err)
	fence := ""
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		require.False(t, strings.HasPrefix(text, "::"), line)
		require.NotContains(t, text, "##[")
		require.NotContains(t, text, "\x1b")
		switch marks := text[:len(text)-len(strings.TrimLeft(text, "`"))]; {
		case fence == "" && len(marks) >= 3:
			fence = marks
		case fence != "" && text == fence:
			fence = ""
		case fence == "":
			require.NotContains(t, strings.ReplaceAll(text, `\<`, ""), "<img", "outside of code")
			require.NotContains(t, text, " @maya ")
			require.NotContains(t, text, "Review the change to this file", "prompts stand in code")
		}
	}
	require.Empty(t, fence, "every block of code ends")
}

func TestFindingsThatThePostHasNoRoomForAreLostAtTheCap(t *testing.T) {
	t.Parallel()
	var found []llmtest.Finding
	for i := range 60 {
		found = append(found, llmtest.Finding{
			Side: "RIGHT", StartLine: 900 + i, Line: 900 + i, Title: fmt.Sprintf("Number %d", i),
			Body: strings.Repeat("word ", 400), Category: "other", Severity: "minor", Confidence: 0.9,
		})
	}
	o := options(t, t.TempDir(), model(t, llmtest.Always(llmtest.Findings(found...))))
	o.Cases = []dataset.Case{defective("one", "a.go")}
	report, err := eval.Run(t.Context(), o)
	require.NoError(t, err)
	require.NotEmpty(t, report.Losses["cap"])
	require.NotEmpty(t, report.Moved["anchor"])
	require.Equal(t, 60, report.Posted+len(report.Losses["cap"]), "what is cut is not scored")

	change, err := o.Cases[0].Change()
	require.NoError(t, err)
	got, unread, err := eval.Submit(t.Context(), change,
		review.NewModel(review.Options{Review: o.Reviewer.Chat, Random: o.Random}), 4, eval.Subject{}, "us")
	require.NoError(t, err)
	require.Empty(t, unread)
	require.Len(t, got.Findings, report.Posted, "a submission is what would be posted")
}

func TestASubmissionIsNeverCleanUnread(t *testing.T) {
	t.Parallel()
	down := llmtest.Always(llmtest.Answer{Status: 500, Text: "no"})
	for name, c := range map[string]struct {
		script llmtest.Script
		found  int
		fails  bool
	}{
		"all failed": {down, 0, true},
		"one failed, silence": {llmtest.PerFile(map[string]llmtest.Script{"b.go": down},
			llmtest.Always(llmtest.Findings())), 0, true},
		"one failed, findings": {llmtest.PerFile(map[string]llmtest.Script{"b.go": down}, wrong), 1, false},
		"silence":              {llmtest.Always(llmtest.Findings()), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change, err := ingest.Diff("d", strings.NewReader(patch("a.go")+patch("b.go")))
			require.NoError(t, err)
			got, _, err := eval.Submit(t.Context(), change, review.NewModel(review.Options{Review: model(t,
				c.script).Chat, Random: options(t, "", eval.Reviewer{}).Random}), 2, eval.Subject{Number: 7}, "us")
			require.Equal(t, c.fails, err != nil)
			if !c.fails {
				require.Len(t, got.Findings, c.found)
				require.Equal(t, 7, got.Pull.Number)
			}
		})
	}
}
