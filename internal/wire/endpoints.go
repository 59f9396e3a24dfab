package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/embed"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
)

// Endpoints holds the remote models that a search uses in addition to the index; nil for
// those that the settings do not name.
type Endpoints struct {
	Embedder retrieve.Embedder
	Reranker retrieve.Reranker
}

// Asking configures how a run pays its endpoints and hears about them. The zero value counts
// and keeps nothing, for commands that review nothing.
type Asking struct {
	Ledger *budget.Ledger    // pays for the calls; nil for none
	Once   review.Once       // keeps answers to queries and on a head's code; may be nil
	OnLost func(note string) // called when an endpoint is not asked again in this run
	OnWait func(time.Duration, string)
}

const (
	endpointTimeout = 30 * time.Second // per try: a search waits for it
	endpointTries   = 3
)

// Endpoints makes the clients that the settings file names. Errors are about the settings.
func (w Wire) Endpoints(c config.Config, s settings.Settings, o Asking) (e Endpoints, err error) {
	if err := cmp.Or(w.checkKey("embeddings", c.Embeddings.Endpoint), w.checkKey("rerank", c.Rerank),
		w.checkKeyDestination("embeddings", embed.OpenAI, c.Embeddings.Endpoint, s),
		w.checkKeyDestination("rerank", embed.Cohere, c.Rerank, s)); err != nil {
		return Endpoints{}, err
	}
	if c.Embeddings.Model != "" {
		options := w.endpointOptions(c.Embeddings.Endpoint, c, s, o)
		options.Dimensions = c.Embeddings.Dimensions
		if e.Embedder, err = embed.NewEmbedder(options); err != nil {
			return Endpoints{}, err
		}
	}
	if c.Rerank.Model != "" {
		if e.Reranker, err = embed.NewReranker(w.endpointOptions(c.Rerank, c, s, o)); err != nil {
			return Endpoints{}, err
		}
	}
	return e, nil
}

// Searching is Endpoints for a search on the command line. It refuses an index.store that the search may not open.
func (w Wire) Searching(c config.Config, s settings.Settings, o Asking) (Endpoints, error) {
	if store := c.Index.Postgres(); store != "" && w.hasUntrustedSettings(s) && !isLocal(store) {
		return Endpoints{}, refuse("index.store", "open a database elsewhere")
	}
	return w.Endpoints(c, s, o)
}

// checkKey refuses a key variable that is empty: the server would only reject the request.
func (w Wire) checkKey(under string, at config.Endpoint) error {
	if at.KeyEnv == "" || w.getenv(at.KeyEnv) != "" {
		return nil
	}
	return problem.Usage(fmt.Sprintf("%s.key-env names %s, and that variable is empty", under, at.KeyEnv),
		"set it for this step (env: in the workflow), or leave key-env out where the endpoint wants no key")
}

func (w Wire) endpointOptions(at config.Endpoint, c config.Config, s settings.Settings, o Asking) embed.Options {
	t := w.transport(s, o.OnWait)
	t.Timeout, t.Tries, t.Backoff, t.LimitWait = endpointTimeout, endpointTries, time.Second, time.Second
	t.Retry = func(*http.Request) bool { return true }
	var price *cost.Price
	if p, ok := PriceOf(at.Model, c); ok {
		price = &p
	}
	return embed.Options{BaseURL: at.BaseURL, Key: w.getenv(at.KeyEnv), Model: at.Model, Style: at.Style,
		HTTP: transport.New(t), AllowHTTP: s.AllowHTTP, Redact: w.Redactor(s, c.Variables()...).Redact,
		Ask: o.ask(price, limit.New(limit.Options{Concurrency: s.Concurrency, OnWait: o.OnWait})),
		OnLost: func(e *embed.LostError) {
			if w.debug != nil {
				w.debug(e.Error())
			}
			if o.OnLost != nil {
				o.OnLost(e.Note())
			}
		}}
}

// ask returns a function that pays for a call from the run's budget, keeps its answer, and
// charges it to the file under review.
func (o Asking) ask(price *cost.Price, limiter *limit.Limiter) embed.Ask {
	return func(ctx context.Context, key string, most cost.Usage,
		do func(context.Context) (embed.Answer, error)) (embed.Answer, error) {
		asked := false
		var failure error
		var paid cost.Usage
		pay := func(ctx context.Context) (review.Recorded, error) {
			asked = true
			var a embed.Answer
			answer := func(ctx context.Context) (used cost.Usage, err error) {
				ctx = transport.EachTry(ctx, func(ctx context.Context, _ int) (func(*http.Response, error), error) {
					return limiter.Begin(ctx, most.EmbeddingTokens/4) // the bound counts bytes
				})
				a, err = do(ctx)
				return a.Usage, err
			}
			paid, failure = o.spend(ctx, price, most, answer)
			return review.Recorded{Vectors: a.Vectors, Scores: a.Scores, Usage: paid}, failure
		}
		once := o.Once
		if once == nil || key == "" {
			once = func(ctx context.Context, _ string, pay payment) (review.Recorded, error) { return pay(ctx) }
		}
		r, err := once(ctx, key, pay)
		used := r.Usage
		switch {
		case failure != nil:
			used, err = paid, failure
		case !asked && err == nil:
			budget.Charge(ctx, used.Cost)
		}
		budget.Count(ctx, used)
		return embed.Answer{Vectors: r.Vectors, Scores: r.Scores, Usage: used}, err
	}
}

type payment = func(context.Context) (review.Recorded, error)

func (o Asking) spend(ctx context.Context, price *cost.Price, most cost.Usage,
	do func(context.Context) (cost.Usage, error)) (cost.Usage, error) {
	var need cost.MicroUSD
	switch {
	case o.Ledger == nil:
		return do(ctx)
	case price != nil:
		need = price.Of(most)
	}
	return o.Ledger.Spend(ctx, need, price, do)
}
