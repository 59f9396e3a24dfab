package review

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/tool"
)

// conversation is a dialog with a model that may call tools. The key of the next question includes
// every answer and every result so far, so that each turn has its own; the boundary is that of the
// first answer.
type conversation struct {
	*task
	next  question
	ended string // how the last answer ended; "" for a complete one
}

// run returns the last answer. The error says why there is none to read.
func (c *conversation) run(ctx context.Context) (string, error) {
	loop := agent.Loop{
		Limits: c.depth.limits, Ask: c.ask, Do: c.runCalls, Now: c.Now, Last: prompt.Last(), Show: c.recordCall,
	}
	first := c.next.request
	if c.depth.limits.Turns > 1 {
		first.Tools = c.Tools.Offers()
	}
	if c.depth.limits.Time > 0 { // cuts off a call that hangs at the end
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.depth.limits.Time*3/2)
		defer cancel()
	}
	answer, err := loop.Run(retrieve.InConversation(ctx), first)
	if err != nil {
		return "", err
	}
	return answer.Text, endings[c.ended]
}

func (c *conversation) ask(ctx context.Context, r llm.Request) (llm.Answer, error) {
	q := c.next
	q.request = r
	said, err := c.task.ask(ctx, q)
	answer := llm.Answer{Text: said.Text, ToolCalls: said.Calls, State: said.State, Usage: said.Usage}
	if err != nil {
		return answer, err
	}
	if c.ended = said.Ended; c.ended != "" {
		answer.ToolCalls = nil // they may be incomplete
	}
	c.next.boundary, c.next.key = said.Boundary, Hash(q.key, said.Text, marshalText(said.Calls))
	return answer, nil
}

// runCalls runs an answer's tool calls, once: a run that resumes after a crash sees the results of the
// first run, whatever the tools would return by then.
func (c *conversation) runCalls(ctx context.Context, calls []llm.Call) ([]tool.Record, error) {
	var failure error
	r, err := c.once(ctx, Hash(c.next.key, "results"), func(ctx context.Context) (Recorded, error) {
		var done []tool.Record
		retrieve.BeginTurn(ctx)
		done, failure = agent.Do(ctx, c.Tools, calls)
		return Recorded{Results: done}, failure
	})
	switch {
	case failure != nil:
		return nil, failure
	case err != nil:
		return nil, &notKeptError{fmt.Errorf("keeping the results of tools: %w", err)}
	}
	c.next.key = Hash(c.next.key, marshalText(r.Results))
	return r.Results, nil
}

// recordCall records a tool's call in the account, and returns its result as text for the model.
func (c *conversation) recordCall(r tool.Record) string {
	made := &c.out.Calls[len(c.out.Calls)-1].Tools
	*made = append(*made, finding.ToolCall{Name: r.Name, Arguments: r.Arguments, Bytes: r.Bytes, Problem: r.Problem})
	return prompt.ToolResult(c.next.boundary, r.Name, cmp.Or(r.Problem, r.Text))
}

func marshalText[T llm.Call | tool.Record | finding.Finding](list []T) string {
	data, _ := json.Marshal(list) // only texts and numbers: it cannot fail
	return string(data)
}
