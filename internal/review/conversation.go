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

// conversation is one with a model that may call tools. The key of its next
// question goes on with every answer and every result, so that each turn has one
// of its own; the boundary is that of the first answer.
type conversation struct {
	*task
	next  question
	ended string // how the last answer did; "" for a whole one
}

// run gives the last answer. The error says why there is none to read.
func (c *conversation) run(ctx context.Context) (string, error) {
	loop := agent.Loop{
		Limits: c.depth.limits, Ask: c.ask, Do: c.do, Now: c.Now, Last: prompt.Last(), Show: c.tell,
	}
	first := c.next.request
	if c.depth.limits.Turns > 1 {
		first.Tools = c.Tools.Offers()
	}
	if c.depth.limits.Time > 0 { // a call that hangs at the end of the time is cut
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
		answer.ToolCalls = nil // half of what it was to say
	}
	c.next.boundary, c.next.key = said.Boundary, Hash(q.key, said.Text, text(said.Calls))
	return answer, nil
}

// do runs what an answer called, once: a run that goes on after a crash is told
// what the first was told, whatever the tools would say by then.
func (c *conversation) do(ctx context.Context, calls []llm.Call) ([]tool.Record, error) {
	var failure error
	r, err := c.once(ctx, Hash(c.next.key, "results"), func(ctx context.Context) (Recorded, error) {
		var done []tool.Record
		done, failure = agent.Do(ctx, c.Tools, calls)
		return Recorded{Results: done}, failure
	})
	switch {
	case failure != nil:
		return nil, failure
	case err != nil:
		return nil, &notKeptError{fmt.Errorf("keeping the results of tools: %w", err)}
	}
	c.next.key = Hash(c.next.key, text(r.Results))
	return r.Results, nil
}

// tell adds a tool's call to the account, and words for the model what came of it.
func (c *conversation) tell(r tool.Record) string {
	made := &c.out.Calls[len(c.out.Calls)-1].Tools
	*made = append(*made, finding.ToolCall{Name: r.Name, Arguments: r.Arguments, Bytes: r.Bytes, Problem: r.Problem})
	return prompt.ToolResult(c.next.boundary, r.Name, cmp.Or(r.Problem, r.Text))
}

func text[T llm.Call | tool.Record](list []T) string {
	data, err := json.Marshal(list)
	if err != nil {
		return err.Error() // texts and numbers alone: it cannot be
	}
	return string(data)
}
