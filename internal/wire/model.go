package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/transport"
)

// modelTimeout bounds one try at a model's answer; reasoning models take minutes.
const modelTimeout = 5 * time.Minute

// NoModel is the error text of a job without a model.
const NoModel = "no model is configured"

// GiveModel is what to do about NoModel, on the command line and in a workflow.
const GiveModel = "set api-key (OPENAI_API_KEY), in a workflow from a secret of the environment that the draft's job " +
	"names, or base-url for an endpoint without a key (in a workflow with provider: openai)"

// ModelClient returns a client for the model that settings.WithModel chose.
func (w Wire) ModelClient(s settings.Settings, onWait func(time.Duration, string)) (*llm.Client, error) {
	if s.Key == "" && s.BaseURL == "" {
		return nil, problem.Usage(NoModel, GiveModel+"; or provider: offline")
	}
	if _, err := transport.CheckURL(cmp.Or(s.BaseURL, llm.DefaultBaseURL), s.AllowHTTP); err != nil {
		return nil, problem.As(problem.Misuse, fmt.Errorf("base-url: %w", err), "")
	}
	client, err := llm.New(llm.Options{BaseURL: s.BaseURL, Key: s.Key, Model: s.Model, HTTP: w.modelHTTP(s, onWait)})
	if err != nil {
		return nil, problem.As(problem.Misuse, err, "")
	}
	return client, nil
}

// modelHTTP returns the HTTP client for a model's server. Its rate limits pass in seconds,
// unlike GitHub's.
func (w Wire) modelHTTP(s settings.Settings, onWait func(time.Duration, string)) *http.Client {
	o := w.transport(s, onWait)
	o.Timeout, o.Backoff, o.LimitWait, o.LimitTries = modelTimeout, time.Second, time.Second, limitTries
	o.Retry = func(*http.Request) bool { return true }
	return transport.New(o)
}

// limitTries is the number of tries of a rate-limited request: the limiter lets it back in when
// there is room.
const limitTries = 10

// tryTime bounds one model's answer in Try, the waits between tries included.
const tryTime = time.Minute

// tryTokens bounds the answer to a Try, reasoning included.
const tryTokens = 64

// Try asks each model that reviews need under a settings file for one tiny answer. It returns
// an error by model name, nil for a model that answered; a truncated answer counts.
func (w Wire) Try(ctx context.Context, c config.Config, s settings.Settings) (map[string]error, error) {
	r, err := w.NewReviewer(s, nil)
	if err != nil || r.Rules {
		return nil, err
	}
	r.NameModel(c)
	names := slices.Collect(maps.Values(tasks(c, r.Model)))
	answered := map[string]error{}
	for _, name := range append(names, cmp.Or(c.Models.Redraft, r.Model)) {
		if _, known := answered[name]; known {
			continue
		}
		client, err := r.client(name, c.ModelOptions, limit.New(limit.Options{Concurrency: 1}))
		if err != nil {
			return nil, err
		}
		_, err = client.Chat(transport.Brief(ctx, tryTime), llm.Request{System: "You answer with one word.",
			User: "Say ok.", MaxTokens: tryTokens})
		if errors.Is(err, llm.ErrTruncated) || errors.Is(err, llm.ErrEmpty) {
			err = nil
		}
		answered[name] = err
	}
	return answered, nil
}

// StartTrace starts the trace that the OTEL_* variables or a file name request. The caller calls
// the returned function at the end. A failing trace warns and never fails the run.
func (w Wire) StartTrace(ctx context.Context, s settings.Settings, file string,
	warn func(string)) (context.Context, func(), error) {
	o := trace.Options{Getenv: w.getenv, Version: Version(), AllowHTTP: s.AllowHTTP, Redact: w.Redactor(s).Redact}
	var local *os.File
	if file != "" {
		var err error
		if local, err = os.Create(file); err != nil {
			return ctx, nil, problem.Usage("the trace cannot be written: "+err.Error(),
				"--trace names a file in an existing folder")
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

// tracedChat is a model whose calls are recorded as spans.
type tracedChat struct {
	review.Chatter
	task, baseURL, model string
	price                *cost.Price
}

// Chat records a span for each try that was billed.
func (c tracedChat) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	q := trace.CallStart{Request: r, Task: c.task, BaseURL: c.baseURL, Model: c.model}
	if c.price != nil {
		q.Bound, q.Priced = budget.Bound(r, *c.price), true
	}
	try, end := trace.Call(ctx, q)
	answer, err := c.Chatter.Chat(transport.EachTry(ctx, try), r)
	end(trace.CallEnd{Answer: answer, Err: err, Problem: review.Ending(err)})
	return answer, err
}
