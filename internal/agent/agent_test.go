package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
)

// talk is a conversation whose model says one thing after the other, the last
// one for ever. A call's result is its arguments.
type talk struct {
	Loop
	says  []llm.Answer
	fails map[int]error // by question, from 0
	asked []llm.Request
	ran   [][]llm.Call
	clock time.Time
}

func newTalk(turns int, says ...llm.Answer) *talk {
	k := &talk{says: says}
	k.Loop = Loop{
		Limits: Limits{Turns: turns}, Ask: k.ask, Last: "answer now", Now: func() time.Time { return k.clock },
		Do: func(_ context.Context, calls []llm.Call) ([]tool.Record, error) {
			k.ran = append(k.ran, calls)
			return results(calls), nil
		},
		Show: func(r tool.Record) string { return "<" + r.Text + r.Problem + ">" },
	}
	return k
}

func results(calls []llm.Call) []tool.Record {
	records := make([]tool.Record, len(calls))
	for i, c := range calls {
		records[i] = tool.Record{Name: c.Name, Text: c.Arguments}
	}
	return records
}

func (k *talk) ask(_ context.Context, r llm.Request) (llm.Answer, error) {
	n := len(k.asked)
	r.Turns = slices.Clone(r.Turns)
	k.asked = append(k.asked, r)
	return k.says[min(n, len(k.says)-1)], k.fails[n]
}

func (k *talk) run(t *testing.T) llm.Answer {
	t.Helper()
	answer, err := k.Run(t.Context(), first())
	require.NoError(t, err)
	return answer
}

// last is the question that was answered last.
func (k *talk) last() llm.Request { return k.asked[len(k.asked)-1] }

func first() llm.Request {
	return llm.Request{System: "s", User: "u", Tools: []llm.Tool{{Name: "read"}}}
}

// calls is an answer that makes calls with these arguments.
func calls(arguments ...string) llm.Answer {
	var a llm.Answer
	for i, text := range arguments {
		a.ToolCalls = append(a.ToolCalls, llm.Call{ID: fmt.Sprintf("%s-%d", text, i), Name: "read", Arguments: text})
	}
	return a
}

var done = llm.Answer{Text: "done"}

func TestAnAnswerWithoutCallsEndsTheConversation(t *testing.T) {
	t.Parallel()
	looked := calls("a")
	looked.Text, looked.State = "let me see", json.RawMessage(`["kept"]`)
	k := newTalk(5, looked, done)
	require.Equal(t, "done", k.run(t).Text)
	require.Len(t, k.asked, 2)
	require.Equal(t, []llm.Turn{
		{Role: llm.RoleAssistant, Text: "let me see", ToolCalls: looked.ToolCalls, State: looked.State},
		{Role: llm.RoleTool, CallID: "a-0", Text: "<a>"},
	}, k.last().Turns)
	require.Empty(t, k.asked[0].Turns)
	require.Equal(t, k.asked[0].Tools, k.asked[1].Tools, "tools are constant within a conversation")
}

func TestT31_TheLastTurnAsksForTheAnswer(t *testing.T) {
	t.Parallel()
	k := newTalk(3, calls("a"), calls("b"), done)
	require.Equal(t, "done", k.run(t).Text)
	last := llm.Turn{Role: llm.RoleUser, Text: "answer now"}
	require.NotContains(t, k.asked[1].Turns, last)
	require.Equal(t, last, k.asked[2].Turns[len(k.asked[2].Turns)-1])
	require.NotEmpty(t, k.asked[2].Tools)
}

func TestT31_EndlessCallsEndWithTheTurns(t *testing.T) {
	t.Parallel()
	k := newTalk(3, calls("a"), calls("b"), calls("c"), calls("d"))
	_, err := k.Run(t.Context(), first())
	require.ErrorIs(t, err, ErrTurns)
	require.Len(t, k.asked, 3)
	require.Len(t, k.ran, 2, "what the last turn calls is not run")
}

func TestOneTurnIsAskedForNothingElse(t *testing.T) {
	t.Parallel()
	for _, turns := range []int{0, 1} {
		k := newTalk(turns, calls("a"))
		_, err := k.Run(t.Context(), first())
		require.ErrorIs(t, err, ErrTurns)
		require.Len(t, k.asked, 1)
		require.Empty(t, k.asked[0].Turns, "the first turn says what is wanted")
		require.Empty(t, k.ran)
	}
}

func TestT31_WhenTheTimeIsUpTheNextTurnIsTheLast(t *testing.T) {
	t.Parallel()
	for spent, ran := range map[time.Duration]int{59 * time.Second: 4, time.Minute: 1} {
		k := newTalk(5, calls("a"), calls("b"), calls("c"), calls("d"), done)
		k.Time = time.Minute
		do := k.Do
		k.Do = func(ctx context.Context, c []llm.Call) ([]tool.Record, error) {
			k.clock = time.Time{}.Add(spent)
			return do(ctx, c)
		}
		_, err := k.Run(t.Context(), first())
		require.Equal(t, ran == 1, errors.Is(err, ErrTurns))
		require.Len(t, k.ran, ran)
		require.Equal(t, k.Last, k.last().Turns[len(k.last().Turns)-1].Text)
	}
}

func TestT8_WithoutToolsNoCallIsRun(t *testing.T) {
	t.Parallel()
	k := newTalk(5, calls("a"), done)
	_, err := k.Run(t.Context(), llm.Request{User: "u"})
	require.ErrorIs(t, err, ErrTurns)
	require.Empty(t, k.ran)
}

func TestAServerWithoutToolsIsAskedWithoutThem(t *testing.T) {
	t.Parallel()
	k := newTalk(5, done)
	k.fails = map[int]error{0: fmt.Errorf("asking: %w", llm.ErrNoTools)}
	require.Equal(t, "done", k.run(t).Text)
	require.Empty(t, k.asked[1].Tools)
	require.Empty(t, k.asked[1].Turns, "the same question again")

	k = newTalk(5, done)
	k.fails = map[int]error{0: llm.ErrNoTools, 1: llm.ErrNoTools}
	_, err := k.Run(t.Context(), first())
	require.ErrorIs(t, err, llm.ErrNoTools, "and no third time")
	require.Len(t, k.asked, 2)

	k = newTalk(5, calls("a"), done)
	k.fails = map[int]error{1: llm.ErrNoTools}
	_, err = k.Run(t.Context(), first())
	require.ErrorIs(t, err, llm.ErrNoTools, "what tools gave cannot be said without them")
	require.Len(t, k.asked, 2)
}

func TestP9_ACapEndsTheConversation(t *testing.T) {
	t.Parallel()
	for _, spent := range []error{cost.ErrFileSpent, cost.ErrSpent} {
		k := newTalk(5, calls("a"), done)
		k.fails = map[int]error{1: fmt.Errorf("reserving: %w", spent)}
		_, err := k.Run(t.Context(), first())
		require.ErrorIs(t, err, spent)
		require.Len(t, k.asked, 2)
	}
}

func TestAFailureToRunToolsEndsTheConversation(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	k := newTalk(5, calls("a"), done)
	k.Do = func(context.Context, []llm.Call) ([]tool.Record, error) { return nil, broken }
	_, err := k.Run(t.Context(), first())
	require.ErrorIs(t, err, broken)
	require.Len(t, k.asked, 1)
}

func TestResultsOfAnotherConversationAreRefused(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 3} {
		k := newTalk(5, calls("a", "b"), done)
		k.Do = func(context.Context, []llm.Call) ([]tool.Record, error) { return make([]tool.Record, n), nil }
		_, err := k.Run(t.Context(), first())
		require.EqualError(t, err, fmt.Sprintf("2 calls of tools have %d results", n))
	}
}
