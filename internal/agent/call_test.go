package agent

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
)

// told are the turns of tools in a request.
func told(r llm.Request) (turns []llm.Turn) {
	for _, turn := range r.Turns {
		if turn.Role == llm.RoleTool {
			turns = append(turns, turn)
		}
	}
	return turns
}

func TestEveryCallIsAnsweredInItsPlace(t *testing.T) {
	t.Parallel()
	k := newTalk(5, calls("a", "b", "a", "c"), done)
	k.run(t)
	require.Len(t, k.ran, 1)
	require.Len(t, k.ran[0], 3, "the same call runs once")
	turns := told(k.last())
	require.Len(t, turns, 4)
	for i, want := range []string{"<a>", "<b>", "<this very call was made before; its result stands above>", "<c>"} {
		require.Equal(t, want, turns[i].Text)
		require.Equal(t, k.last().Turns[0].ToolCalls[i].ID, turns[i].CallID)
	}
}

func TestT8_AModelThatRepeatsItselfIsBroughtToItsAnswer(t *testing.T) {
	t.Parallel()
	k := newTalk(9, calls("a"), calls("a", "a"), calls("a"), done)
	require.Equal(t, "done", k.run(t).Text)
	require.Len(t, k.ran, 1, "nothing is run, and nothing kept, where no call may run")
	require.Len(t, k.asked, 4)
	require.Len(t, told(k.asked[2]), 3)
	require.NotEqual(t, llm.RoleUser, k.asked[2].Turns[len(k.asked[2].Turns)-1].Role, "one slip is told, and no more")
	require.Equal(t, k.Last, k.asked[3].Turns[len(k.asked[3].Turns)-1].Text)

	k = newTalk(9, calls("a"), calls("a", "b"), calls("c"), done)
	k.run(t)
	require.Len(t, k.asked, 4, "one new call is enough to go on")
	require.NotEqual(t, llm.RoleUser, k.asked[3].Turns[len(k.asked[3].Turns)-1].Role)
}

func TestACallOfAnotherToolIsAnotherCall(t *testing.T) {
	t.Parallel()
	a := calls("a", "a")
	a.ToolCalls[1].Name = "search"
	k := newTalk(5, a, done)
	k.run(t)
	require.Len(t, k.ran[0], 2)
}

func TestT31_CallsOfOneTurnAreBounded(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range maxAnswered + 1000 {
		many = append(many, fmt.Sprint(i))
	}
	k := newTalk(5, calls(many...), calls(many[maxCalls]), done)
	k.run(t)
	require.Len(t, k.ran[0], maxCalls)
	require.Len(t, k.ran[1], 1, "one that was too many may be made again")
	require.Len(t, k.last().Turns[0].ToolCalls, maxAnswered, "the others are as if they had not been made")
	turns := told(k.asked[1])
	require.Len(t, turns, maxAnswered)
	require.Equal(t, "<7>", turns[maxCalls-1].Text)
	require.Equal(t, "<too many calls in one turn; make this one again if it is still needed>", turns[maxCalls].Text)
}

func TestT31_WhatToolsGiveBackIsBounded(t *testing.T) {
	t.Parallel()
	half := maxResults / 2
	a, b := strings.Repeat("a", half), strings.Repeat("b", half)
	k := newTalk(9, calls(a), calls(b), calls("c", ""), done)
	k.run(t)
	turns := told(k.last())
	require.Len(t, turns, 4)
	require.Equal(t, "<"+b+">", turns[1].Text, "the bound itself fits")
	require.Equal(t, "<"+noRoom+">", turns[2].Text)
	require.Equal(t, "<>", turns[3].Text)
	require.Len(t, k.ran, 3)
	require.Equal(t, k.Last, k.last().Turns[len(k.last().Turns)-1].Text, "and the answer is asked for")
}

func TestT13_TheNameOfACallThatIsNotRunIsOneShortLine(t *testing.T) {
	t.Parallel()
	a := calls("a", "a")
	a.ToolCalls[0].Name = "::error::\x1b[2J\nread" + strings.Repeat("x", 500)
	a.ToolCalls[1].Name = a.ToolCalls[0].Name
	k := newTalk(5, a, done)
	var shown []tool.Record
	k.Show = func(r tool.Record) string { shown = append(shown, r); return "" }
	k.run(t)
	require.Len(t, shown, 2)
	require.LessOrEqual(t, len(shown[1].Name), maxName*4)
	require.NotContains(t, shown[1].Name, "\n")
	require.NotContains(t, shown[1].Name, "\x1b")
	require.Empty(t, shown[1].Arguments, "they may hold a credential")
}

func TestDoKeepsTheOrderAndRunsAFewAtOneTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int64
		type args struct {
			N int `json:"n"`
		}
		tools := tool.NewSet(tool.New("wait", "Waits.", func(ctx context.Context, a args) (string, error) {
			most.Store(max(most.Load(), open.Add(1)))
			defer open.Add(-1)
			select {
			case <-time.After(time.Duration(10-a.N) * time.Second):
			case <-ctx.Done():
			}
			return fmt.Sprint(a.N), nil
		}))
		var all []llm.Call
		for n := range 8 {
			all = append(all, llm.Call{Name: "wait", Arguments: fmt.Sprintf(`{"n":%d}`, n)})
		}
		began := time.Now()
		records, err := Do(t.Context(), tools, all)
		require.NoError(t, err)
		for n, r := range records {
			require.Equal(t, fmt.Sprint(n), r.Text)
		}
		require.EqualValues(t, maxAtOnce, most.Load())
		require.Less(t, time.Since(began), 20*time.Second, "side by side")
	})
}

func TestDoSaysThatTheContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Do(ctx, tool.Set{}, []llm.Call{{Name: "x"}})
	require.ErrorIs(t, err, context.Canceled)
}
