package wire

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// modelTimeout bounds one try at a model's answer; reasoning models take minutes.
const modelTimeout = 5 * time.Minute

// NoModel is the error of a job that has no model to ask.
const NoModel = "no model is configured"

// ModelClient is a client for the model of settings.WithModel.
func (w Wire) ModelClient(s settings.Settings, onWait func(time.Duration, string)) (*llm.Client, error) {
	if s.Key == "" && s.BaseURL == "" {
		return nil, problem.Usage(NoModel, "set api-key (OPENAI_API_KEY), in a workflow from a secret of the "+
			"environment that "+
			"the draft's job names; or base-url for an endpoint without a key, or provider: offline")
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

// modelHTTP is the client for a model's server. Its rate limits pass in seconds,
// unlike GitHub's.
func (w Wire) modelHTTP(s settings.Settings, onWait func(time.Duration, string)) *http.Client {
	o := w.transport(s, onWait)
	o.Timeout, o.Backoff, o.LimitWait, o.LimitTries = modelTimeout, time.Second, time.Second, limitTries
	o.Retry = func(*http.Request) bool { return true }
	return transport.New(o)
}

// limitTries is how often a request is put that a rate limit turned away: the
// limiter lets it come back when there is room.
const limitTries = 10
