package review

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/tool"
)

// before is what a draft has of file.
func before() finding.FileReview {
	return finding.FileReview{Path: file.Path, State: finding.Reviewed, Label: "feature", Findings: []finding.Finding{
		{ID: "F1", Path: file.Path, Side: finding.Right, Line: 41, Title: "c leaks", Source: finding.Model},
		{ID: "F2", Path: file.Path, Side: finding.Right, Line: 42, Title: "d holds a key", Source: finding.Rule},
		{Path: file.Path, Side: finding.Right, Line: 41, Title: "not in the draft", Source: finding.Model,
			Filtered: finding.Misquoted},
	}}
}

func TestRedraftGivesTheWholeNewList(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Certain(answers(whole)))
	got, err := m.Redraft(t.Context(), file, before(), "c is closed by its caller", 1)
	require.NoError(t, err)
	require.Equal(t, finding.Reviewed, got.State)
	require.Equal(t, "feature", got.Label)
	require.Equal(t, "redraft verify", tasks(got.Calls), "no label is asked for, and the second look is as ever")
	require.Equal(t, []string{"c leaks"}, titles(finding.Kept(got.Findings)))
	require.EqualValues(t, 2, got.Usage.Calls)
	first := server.Requests()[0]
	require.Equal(t, prompt.Reviewing(false).System, first.System, "the bytes that a server has cached")
	require.JSONEq(t, string(prompt.Reviewing(false).Schema), string(first.Schema))
	data := llmtest.Data(first.User)
	require.Equal(t, "c is closed by its caller", strings.TrimSpace(data["feedback"]))
	require.Contains(t, data["draft"], `"id":"F1"`)
	require.NotContains(t, data["draft"], "d holds a key", "a rule's finding is none that feedback reaches")
	require.NotContains(t, data["draft"], "not in the draft")
}

func TestP6_ARevisionThatIsNotWholeIsAFailedOne(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"prose": "All fine.", "cut off": `{"findings":[` + one + `,{"line":42`,
		"off its schema": `{"findings":[` + one + `,{"line":42,"severity":"grave"}]}`,
	} {
		m, _ := model(t, answers(text))
		got, err := m.Redraft(t.Context(), file, before(), "be kind", 1)
		require.NoError(t, err, name)
		require.Equal(t, finding.Failed, got.State, name)
		require.NotEmpty(t, got.Reason, name)
		require.Empty(t, got.Findings, name)
		require.NotZero(t, got.Usage.Calls, "it was paid: %s", name)
	}
}

func TestRedraftAsksEachPartAboutItsOwnFindings(t *testing.T) {
	t.Parallel()
	m, server := model(t, llmtest.Honest)
	was := finding.FileReview{Findings: []finding.Finding{
		{Side: finding.Right, Line: 1000, Title: "of one"}, {Side: finding.Right, Line: 2001, Title: "of two"},
		{Side: finding.Right, Line: 9, Title: "of none"},
	}}
	got, err := m.Redraft(t.Context(), long(2), was, "look again", 1)
	require.NoError(t, err)
	require.Equal(t, "redraft1 redraft2", tasks(got.Calls))
	require.Len(t, got.Findings, 2)
	var drafts []string
	for _, r := range server.Requests() {
		drafts = append(drafts, llmtest.Data(r.User)["draft"])
		require.Equal(t, "look again", strings.TrimSpace(llmtest.Data(r.User)["feedback"]))
	}
	for i, want := range [][]bool{{true, false, true}, {false, true, false}} {
		for j, title := range []string{"of one", "of two", "of none"} {
			require.Equal(t, want[j], strings.Contains(drafts[i], title), title)
		}
	}
}

func TestRedraftAsksAnewWithTheFeedback(t *testing.T) {
	t.Parallel()
	m, server := model(t, answers("No.", whole))
	got, err := m.Redraft(t.Context(), file, before(), "be kind", 1)
	require.NoError(t, err)
	require.Equal(t, finding.Reviewed, got.State)
	require.Equal(t, "redraft again", tasks(got.Calls))
	require.Equal(t, "be kind", strings.TrimSpace(llmtest.Data(server.Requests()[1].User)["feedback"]))
}

func TestP4_TheKeyOfARevisionCoversAllThatItIsAskedWith(t *testing.T) {
	t.Parallel()
	kept := map[string]bool{}
	ask := func(was finding.FileReview, feedback string, round int) (asked int) {
		m, server := model(t, llmtest.Honest)
		m.Once = func(ctx context.Context, key string, do func(context.Context) (Recorded, error)) (Recorded, error) {
			if kept[key] {
				return Recorded{Text: whole}, nil
			}
			kept[key] = true
			return do(ctx)
		}
		_, err := m.Redraft(t.Context(), file, was, feedback, round)
		require.NoError(t, err)
		return server.Calls()
	}
	other := before()
	other.Findings[0].Severity = finding.Nit
	require.Equal(t, 1, ask(before(), "be kind", 1))
	require.Equal(t, 0, ask(before(), "be kind", 1))
	require.Equal(t, 1, ask(before(), "be kind", 2))
	require.Equal(t, 1, ask(before(), "be strict", 1))
	require.Equal(t, 1, ask(other, "be kind", 1))
}

func TestP4_ARevisionThatIsKilledAnywherePaysForNothingTwice(t *testing.T) {
	t.Parallel()
	redraft := func(r *run, once Once) (finding.FileReview, error) {
		chat := client(t, r.server)
		m := NewModel(Options{Review: chat, Verify: chat, Classify: chat, Limits: agent.Limits{Turns: 3},
			Tools: tool.NewSet(reader(&r.read))})
		m.Once = once
		return m.Redraft(t.Context(), long(2), before(), "look again", 1)
	}
	undisturbed := &dying{journal: &journal{kept: map[string]Recorded{}}}
	r := newRun(t)
	want, err := redraft(r, undisturbed.once)
	require.NoError(t, err)
	require.Equal(t, "redraft1 redraft1 verify1 verify1 redraft2 redraft2 repair2 verify2 verify2", tasks(want.Calls))
	for at := 1; at <= undisturbed.visits; at++ {
		again, j := newRun(t), &journal{kept: map[string]Recorded{}}
		_, err := redraft(again, (&dying{journal: j, at: at, kept: true}).once)
		require.ErrorIs(t, err, errKilled)
		got, err := redraft(again, j.once)
		require.NoError(t, err)
		require.Equal(t, bytesOf(t, want), bytesOf(t, got))
		require.Equal(t, r.server.Calls(), again.server.Calls(), "each answer is paid once")
	}
}

func TestT28_NoCredentialIsAskedWithInFeedback(t *testing.T) {
	t.Parallel()
	m, server := model(t, llmtest.Honest)
	m.Redact = redactor("hunter2hunter2")
	_, err := m.Redraft(t.Context(), file, before(), "the key is hunter2hunter2 and "+token(), 1)
	require.NoError(t, err)
	require.NotContains(t, server.Requests()[0].User, "hunter2hunter2")
	require.NotContains(t, server.Requests()[0].User, token())
}

func TestRedraftThatWasNotReachedIsAnError(t *testing.T) {
	t.Parallel()
	m := NewModel(Options{Review: chatter(func(llm.Request) (llm.Answer, error) {
		return llm.Answer{}, cost.ErrSpent
	})})
	got, err := m.Redraft(t.Context(), file, before(), "be kind", 1)
	require.ErrorIs(t, err, cost.ErrSpent)
	require.Empty(t, got.State)
	large := file
	large.Patch = "@@ -0,0 +1 @@\n+" + strings.Repeat("x", maxPatch)
	m = NewModel(Options{Review: chatter(func(llm.Request) (llm.Answer, error) {
		return llm.Answer{}, errors.New("asked")
	})})
	got, err = m.Redraft(t.Context(), large, before(), "be kind", 1)
	require.NoError(t, err)
	require.Equal(t, finding.Failed, got.State)
	require.Zero(t, got.Usage)
}
