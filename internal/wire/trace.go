package wire

import (
	"context"
	"errors"
	"os"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/transport"
)

// Traced starts the trace that OTEL_* variables or a file's name ask for; end is
// called when all of it is over. A trace never fails what it is about.
func (w Wire) Traced(ctx context.Context, s settings.Settings, file string,
	warn func(string)) (context.Context, func(), error) {
	o := trace.Options{Getenv: w.getenv, Version: Version(), AllowHTTP: s.AllowHTTP, Redact: w.Redactor(s).Redact}
	var local *os.File
	if file != "" {
		var err error
		if local, err = os.Create(file); err != nil {
			return ctx, nil, problem.Usage("the trace cannot be written: "+err.Error(),
				"--trace names a file in a folder that is there")
		}
		o.Local = local
	}
	ctx, stop, err := trace.Start(ctx, o)
	if err != nil {
		warn(err.Error())
	}
	return ctx, func() {
		err := stop()
		if local != nil {
			err = errors.Join(err, local.Close())
		}
		if err != nil {
			warn(err.Error())
		}
	}, nil
}

// spoken is a model whose calls are spans.
type spoken struct {
	review.Chatter
	task, baseURL, model string
	price                *cost.Price
}

// Chat makes a span of each try that was billed.
func (c spoken) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	q := trace.CallStart{Request: r, Task: c.task, BaseURL: c.baseURL, Model: c.model}
	if c.price != nil {
		q.Bound = budget.Bound(r, *c.price)
	}
	try, end := trace.Call(ctx, q)
	answer, err := c.Chatter.Chat(transport.EachTry(ctx, try), r)
	end(trace.CallEnd{Answer: answer, Err: err, Problem: review.Ending(err)})
	return answer, err
}
