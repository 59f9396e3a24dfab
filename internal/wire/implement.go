package wire

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/settings"
)

// Implementer is who writes a change for a ticket: a model, its name, and what it may cost.
type Implementer struct {
	implement.Model
	Name    string
	Account Account
}

// Implementer returns the model of the settings; before is what the thread has cost so
// far. Rules write no code, so that without a model it is a usage error.
func (w Wire) Implementer(s settings.Settings, c config.Config, before cost.MicroUSD,
	onWait func(time.Duration, string)) (*Implementer, error) {
	r, err := w.NewReviewer(s, onWait)
	if err == nil && r.Rules {
		err = problem.Usage(NoModel+", and rules write no code",
			"for a model: OPENAI_API_KEY=… or --base-url; a workflow's secret goes to api-key")
	}
	if err != nil {
		return nil, err
	}
	r.Named(c)
	prices, unknown := pricesOf(map[string]string{reviews: r.Model}, c)
	if err := r.settleCap(c, 0, unknown); err != nil {
		return nil, err
	}
	client, err := r.client(r.Model, c.ModelOptions, limit.New(limit.Options{Concurrency: 1, OnWait: onWait}))
	if err != nil {
		return nil, err
	}
	ledger := budget.New(r.Account.Cap)
	ledger.Paid(before)
	return &Implementer{Name: r.Model, Account: r.Account, Model: implement.Model{
		Chat: spoken{ledger.Over(client, prices[r.Model]), "implement", r.settings.BaseURL, r.Model, prices[r.Model]},
		Once: graph.Once[implement.Recorded], Random: rand.Reader, Redact: w.Redactor(s, c.Variables()...),
	}}, nil
}

// Pieces returns what finds pieces of a place for a question, within a module. The index
// is made, or taken from where it is kept, when the first question comes.
func (w Wire) Pieces(p Place, c config.Config) func(context.Context, string, config.Module) ([]implement.Chunk, error) {
	var engine *retrieve.Engine
	return func(ctx context.Context, query string, m config.Module) (all []implement.Chunk, err error) {
		if engine == nil {
			x, err := w.Indexed(ctx, p, index.Options{Limit: indexTime}, c, Endpoints{}, nil)
			if err != nil {
				return nil, err
			}
			engine = &retrieve.Engine{Index: x.Source}
		}
		var within index.Filter
		for _, glob := range m.Paths {
			within.Paths = append(within.Paths, config.Spelled(glob))
		}
		found, err := engine.Search(ctx, retrieve.Request{Query: query, Filter: within})
		for _, h := range found.Hits {
			all = append(all, implement.Chunk{Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Score: h.Score,
				Text: h.Text})
		}
		return all, err
	}
}

// Broken reports whether a text does not parse as the language of its path, as far as that
// is known.
func Broken() func(ctx context.Context, path, text string) bool { return chunker.New().Broken }
