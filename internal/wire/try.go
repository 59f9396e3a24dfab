package wire

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// tryTime bounds a model's tiny answer, the waits between tries included.
const tryTime = time.Minute

// tryTokens is the most that such an answer has, reasoning included.
const tryTokens = 64

// Try asks each model that reviews under a settings file need for one tiny answer, and
// gives the error of each by its name, nil where it answered. An answer that was cut off
// is one.
func (w Wire) Try(ctx context.Context, c config.Config, s settings.Settings) (map[string]error, error) {
	r, err := w.NewReviewer(s, nil)
	if err != nil || r.Rules {
		return nil, err
	}
	r.Named(c)
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
