package agent

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/trace"
)

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
