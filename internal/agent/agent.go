// Package agent runs the loop of one conversation: the model may call tools, is shown their
// results, and finally answers.
//
// It knows no prompt, parses no answer and decides nothing about findings. It limits turns, time,
// calls and the size of results. Start reading at Loop.Run.
package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/trace"
)

// ErrTurns reports that the model kept calling tools after its turns or its time were used up.
var ErrTurns = errors.New("the model went on calling tools and gave no answer")

// Limits bounds a conversation. Turns counts the model's answers, including the last one; the zero
// value is one turn, without tools, and no time limit.
type Limits struct {
	Turns int
	Time  time.Duration // after which the next turn is the last one
}

// The limits within one conversation.
const (
	maxCalls    = 8        // calls of one turn that are run
	maxAnswered = 32       // calls of one turn that are answered; the others are ignored
	maxResults  = 96 << 10 // bytes of all results
	maxStuck    = 2        // consecutive turns without a call that can run
	maxAtOnce   = 4        // calls that run concurrently
	maxName     = 60       // characters of the name in the record of a call that was not run
)

// Loop is what a conversation needs. Ask asks a question and Do runs calls. Both keep their
// results, so that a conversation that restarts after a crash takes the same course and pays for
// nothing twice.
type Loop struct {
	Limits
	Ask  func(ctx context.Context, r llm.Request) (llm.Answer, error)
	Do   func(ctx context.Context, calls []llm.Call) ([]tool.Record, error)
	Now  func() time.Time
	Last string                   // the user turn that asks for the answer when turns or time are used up
	Show func(tool.Record) string // formats a record for the model: fenced; called once for every call, in order
}

// Run asks until the model answers without calling a tool, and returns that answer. Without tools,
// the first answer is the last. Errors are ErrTurns and those of Ask and Do, except llm.ErrNoTools
// on the first turn, after which the conversation continues without tools.
func (l Loop) Run(ctx context.Context, r llm.Request) (llm.Answer, error) {
	seen := history{called: map[string]bool{}}
	for turn, began := 0, l.Now(); ; turn++ {
		last := turn+1 >= l.Turns || len(r.Tools) == 0 || l.Time > 0 && l.Now().Sub(began) >= l.Time ||
			seen.stuck >= maxStuck || seen.full
		if last && turn > 0 {
			r.Turns = append(r.Turns, llm.Turn{Role: llm.RoleUser, Text: l.Last})
		}
		answer, err := l.Ask(ctx, r)
		if errors.Is(err, llm.ErrNoTools) && len(r.Tools) > 0 && turn == 0 {
			r.Tools = nil
			answer, err = l.Ask(ctx, r)
		}
		switch {
		case err != nil || len(answer.ToolCalls) == 0:
			return answer, err
		case last || len(r.Tools) == 0:
			return answer, ErrTurns
		}
		turns, err := l.runCalls(ctx, answer, &seen)
		if err != nil {
			return answer, err
		}
		r.Turns = append(r.Turns, turns...)
	}
}

// runCalls runs the calls that may run, and returns the turns that follow: the model's answer, then
// the result of every call, in order.
func (l Loop) runCalls(ctx context.Context, a llm.Answer, seen *history) ([]llm.Turn, error) {
	calls := a.ToolCalls[:min(len(a.ToolCalls), maxAnswered)]
	turns := []llm.Turn{{Role: llm.RoleAssistant, Text: a.Text, ToolCalls: calls, State: a.State}}
	records := make([]tool.Record, len(calls))
	var run []llm.Call
	var at []int // their indexes in calls
	for i, c := range calls {
		records[i] = tool.Record{Name: guard.Line(c.Name, maxName), Problem: seen.refusal(c, len(run))}
		if records[i].Problem == "" {
			run, at = append(run, c), append(at, i)
		}
	}
	seen.stuck++
	var done []tool.Record
	var err error
	if len(run) > 0 {
		seen.stuck = 0
		done, err = l.Do(ctx, run)
	}
	switch {
	case err != nil:
		return nil, err
	case len(done) != len(run): // kept results of another conversation
		return nil, fmt.Errorf("%d calls of tools have %d results", len(run), len(done))
	}
	for i, r := range done {
		records[at[i]] = seen.count(r)
	}
	for i, c := range calls {
		turns = append(turns, llm.Turn{Role: llm.RoleTool, CallID: c.ID, Text: l.Show(records[i])})
	}
	return turns, nil
}

// history is what a conversation has called so far.
type history struct {
	called map[string]bool
	bytes  int  // of all results
	full   bool // a result did not fit
	stuck  int  // the latest consecutive turns without a call that could run
}

const noRoom = "no more results fit into this conversation; answer with what is known"

// refusal returns why a call is not run, worded for the model, or "". n is the number of calls of
// the same turn that are. A repeated call would return the same result.
func (h *history) refusal(c llm.Call, n int) string {
	key := c.Name + "\x00" + c.Arguments
	switch {
	case h.called[key]:
		return "this very call was made before; its result stands above"
	case h.full:
		return noRoom
	case n >= maxCalls:
		return "too many calls in one turn; make this one again if it is still needed"
	}
	h.called[key] = true
	return ""
}

// count counts a result's bytes, and removes the text if it does not fit.
func (h *history) count(r tool.Record) tool.Record {
	if h.bytes+len(r.Text) > maxResults {
		h.full = true
		r.Text, r.Problem = "", noRoom
		return r
	}
	h.bytes += len(r.Text)
	return r
}

// Do runs calls concurrently, up to maxAtOnce at a time, and returns their records in the order of
// the calls. The error is the context's: a call never fails.
func Do(ctx context.Context, tools tool.Set, calls []llm.Call) ([]tool.Record, error) {
	records := make([]tool.Record, len(calls))
	var group errgroup.Group
	group.SetLimit(maxAtOnce)
	for i, c := range calls {
		group.Go(func() error {
			ctx, span := trace.Tool(ctx, c.Name, c.ID, c.Arguments)
			records[i] = tools.Call(ctx, c)
			span.Number("bytes", int64(records[i].Bytes))
			span.Content("gen_ai.tool.call.result", records[i].Text)
			if records[i].Problem != "" {
				span.Problem("tool_problem")
			}
			span.End(nil)
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
	return records, ctx.Err()
}
