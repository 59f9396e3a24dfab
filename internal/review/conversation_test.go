package review

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/prompt"
)

func TestAReviewLooksAroundBeforeItJudges(t *testing.T) {
	t.Parallel()
	for _, kind := range []llmtest.Kind{llmtest.Strict, llmtest.JSONMode, llmtest.Azure, llmtest.Responses} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			m, server := full(t, llmtest.Curious(llmtest.Honest), llmtest.As(kind))
			got, err := alone(m).Review(t.Context(), file)
			require.NoError(t, err)
			require.Equal(t, finding.Reviewed, got.State)
			require.Len(t, got.Findings, 1)
			require.Equal(t, "review review", tasks(got.Calls))
			require.Equal(t, []finding.ToolCall{{Name: "read_file", Arguments: `{"path":"ledger/transfer.go"}`,
				Bytes: 40}}, got.Calls[0].Tools)
			requests := server.Requests()
			first, last := requests[0], requests[len(requests)-1]
			require.Equal(t, first.User, last.User)
			require.Equal(t, first.System, last.System)
			result := last.Turns[len(last.Turns)-1].Text
			require.Equal(t, boundaryOf(first), strings.SplitN(result, "<<<data ", 2)[1][:32],
				"results stand between the marks of the conversation")
			require.Equal(t, "read_file:\nledger/transfer.go, read for the 1. time\n",
				llmtest.Data(result)["tool result"])
		})
	}
}

func TestAServerWithoutToolsGivesTheSameFindings(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Curious(llmtest.Honest), llmtest.As(llmtest.Plain))
	got, err := alone(m).Review(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, []string{"c leaks"}, titles(got.Findings))
	require.Equal(t, "review", tasks(got.Calls), "what was refused was not billed, and is no call")
	require.Empty(t, server.Requests()[0].Tools)
}

func TestT31_EndlessLookingFailsTheFileAndSaysSo(t *testing.T) {
	t.Parallel()
	m, server := full(t, func(r llmtest.Request) llmtest.Answer {
		call := llmtest.Call{Name: "read_file", Arguments: `{"path":"` + strings.Repeat("x", len(r.Turns)+1) + `"}`}
		return llmtest.Answer{Calls: []llmtest.Call{call}}
	})
	got, err := alone(m).Review(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, finding.Failed, got.State)
	require.Equal(t, finding.Reason("the model went on calling tools and gave no answer"), got.Reason)
	require.Equal(t, 4, server.Calls())
	require.EqualValues(t, 4, got.Usage.Calls)
	require.Equal(t, prompt.Last(), server.Requests()[3].Turns[6].Text)
	require.Empty(t, got.Calls[3].Tools, "what the last answer called was not run")
}

func TestT8_CallsThatAreNotRunAreToldAndRecorded(t *testing.T) {
	t.Parallel()
	calls := []llmtest.Call{
		{Name: "run_shell", Arguments: `{"command":"env"}`}, {Name: "read_file", Arguments: `{"path":"a","mode":"w"}`},
		{Name: "read_file", Arguments: `{"path":"a"}`}, {Name: "read_file", Arguments: `{"path":"a"}`},
	}
	m, server := full(t, llmtest.Curious(llmtest.Honest, calls...))
	got, err := alone(m).Review(t.Context(), file)
	require.NoError(t, err)
	made := got.Calls[0].Tools
	require.Len(t, made, 4)
	require.Contains(t, made[0].Problem, `there is no tool "run_shell"`)
	require.Contains(t, made[1].Problem, "not one JSON object of these keys")
	require.Empty(t, made[2].Problem)
	require.Contains(t, made[3].Problem, "was made before")
	for i, c := range server.Requests()[1].Turns[1:] {
		require.Contains(t, c.Text, made[i].Problem)
	}
}

func TestT31_ALongReviewIsBroughtToItsAnswer(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Curious(llmtest.Honest))
	var clock time.Time
	m.Limits.Time = time.Minute
	m.Now = func() time.Time { clock = clock.Add(31 * time.Second); return clock }
	got, err := alone(m).Review(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, got.Findings, 1)
	turns := server.Requests()[1].Turns
	require.Equal(t, prompt.Last(), turns[len(turns)-1].Text)
	require.InDelta(t, 31, got.Calls[0].Seconds, 0.001)
}

func TestTheSecondRequestIsAsDeepAsTheFirst(t *testing.T) {
	t.Parallel()
	for _, first := range []llmtest.Answer{{Text: unusable}, {Refusal: "no"}} {
		m, server := full(t, func(r llmtest.Request) llmtest.Answer {
			switch {
			case r.Question == llmtest.Classify:
				return llmtest.Label("security", "deep")
			case r.Try == 1 && !r.Repair:
				return first
			}
			return llmtest.Answer{Text: whole}
		})
		m.Verify = nil
		_, err := m.Review(t.Context(), file)
		require.NoError(t, err)
		require.Equal(t, 3, server.Calls())
		require.Equal(t, "high", server.Requests()[2].Effort)
		require.Equal(t, defaultTokens, server.Requests()[2].MaxTokens)
	}
}

// ofThisJob is a credential that the job itself holds.
const ofThisJob = "swordfish-of-this-job"

func TestT9_APieceOfThePackIsShownWithoutCredentials(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Honest)
	m.PackTokens = 100
	m.Pack = func(_ context.Context, path, _ string) []prompt.Piece {
		return []prompt.Piece{{Path: path, StartLine: 30, Why: "encloses", Text: "use(\"" + ofThisJob + "\")\n"}}
	}
	m.Redact = redactor(ofThisJob)
	_, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.NotContains(t, llmtest.Data(server.Requests()[0].User), "elsewhere", "a label needs none")
	for _, r := range server.Requests()[1:] {
		require.Contains(t, llmtest.Data(r.User)["elsewhere"], "    30   use(\"<redacted ")
		require.NotContains(t, r.User, ofThisJob)
	}
}

func TestT9_NoCredentialOfTheGuidesIsShown(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Honest)
	docs := []prompt.Document{{Path: "AGENTS.md", Text: "Use " + token()}}
	m.Guides = Guides{Instructions: docs, Guidelines: func(string) []string { return []string{"Or " + token()} }}
	got, err := NewModel(m.Options).Review(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, got.Findings, 1)
	for _, r := range server.Requests()[1:] {
		require.NotContains(t, r.User, token())
		require.Contains(t, llmtest.Data(r.User)["instructions"], "Use <redacted ")
		require.Contains(t, llmtest.Data(r.User)["guidelines"], "Or <redacted ")
	}
	require.Contains(t, docs[0].Text, token(), "the caller's own stay as they are")
}

// T5: what the repository wants is data, like all else that it holds.
func TestT5_GuidesStandBetweenMarksAndTheLanguageOutside(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Honest)
	m.Classify = nil
	m.Guides = Guides{
		Language: "German", Instructions: []prompt.Document{{Path: "AGENTS.md", Text: "Be kind."},
			{Path: "web/AGENTS.md", Text: "Of the web."}, {Path: "web/REVIEW.md", Text: "Of the web."},
			{Path: "ledger/AGENTS.md", Text: "Count in cents."}, {Path: "docs/style.md", Text: "Be brief."}},
		Guidelines: func(path string) []string { return []string{"Rules of " + path} },
	}
	_, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, 2, server.Calls())
	for _, r := range server.Requests() {
		data := llmtest.Data(r.User)
		require.Contains(t, data["guidelines"], "Rules of ledger/transfer.go")
		for _, text := range []string{"Be kind.", "Count in cents.", "Be brief."} {
			require.Contains(t, data["instructions"], text)
		}
		require.NotContains(t, r.User, "Of the web.", "an AGENTS.md or REVIEW.md is about what lies in its folder")
		require.NotContains(t, r.System+llmtest.Outside(r.User), "Be kind.")
	}
	require.Contains(t, llmtest.Outside(server.Requests()[0].User), "in German")
}

func TestWhatAnAnswerWantsBackGoesBack(t *testing.T) {
	t.Parallel()
	m, _ := full(t, nil)
	var seen []llm.Request
	m.Options.Review = chatter(func(r llm.Request) (llm.Answer, error) {
		if seen = append(seen, r); len(seen) == 1 {
			return llm.Answer{ToolCalls: []llm.Call{{ID: "1", Name: "read_file", Arguments: `{"path":"a"}`}},
				State: []byte(`["sealed"]`)}, nil
		}
		return llm.Answer{Text: whole}, nil
	})
	m.Once = (&journal{kept: map[string]Recorded{}}).once
	_, err := alone(m).Review(t.Context(), file)
	require.NoError(t, err)
	require.JSONEq(t, `["sealed"]`, string(seen[1].Turns[0].State))
	require.Equal(t, defaultTokens, seen[0].MaxTokens, "T31: every call has an output limit")
	require.Equal(t, defaultTokens, seen[1].MaxTokens)
}

// chatter is a model as a function.
type chatter func(llm.Request) (llm.Answer, error)

func (c chatter) Chat(_ context.Context, r llm.Request) (llm.Answer, error) { return c(r) }

func (c chatter) Identity() string { return "function" }
