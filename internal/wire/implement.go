package wire

import (
	"context"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/settings"
)

// Implementer is the model that writes a change for a ticket, with its name and budget.
type Implementer struct {
	implement.Model
	Name    string
	Account Account

	ledger *budget.Ledger
}

// Implementer returns the model that the settings name; before is what the thread has cost so
// far. Rules write no code, so a missing model is a usage error.
func (w Wire) Implementer(s settings.Settings, c config.Config, before cost.MicroUSD) (*Implementer, error) {
	r, err := w.NewReviewer(s, nil)
	if err == nil && r.Rules {
		err = problem.Usage(NoModel+", and rules write no code", GiveModel)
	}
	if err != nil {
		return nil, err
	}
	r.NameModel(c)
	prices, unknown := pricesOf(map[string]string{taskReview: r.Model}, c)
	if err := r.Account.setCap(c, r.settings, 0, unknown); err != nil {
		return nil, err
	}
	client, err := r.client(r.Model, c.ModelOptions, limit.New(limit.Options{Concurrency: 1}))
	if err != nil {
		return nil, err
	}
	ledger := budget.New(r.Account.Cap)
	ledger.Paid(before)
	price := prices[r.Model]
	return &Implementer{Name: r.Model, Account: r.Account, ledger: ledger, Model: implement.Model{
		Chat: tracedChat{ledger.Over(client, price), "implement", r.settings.BaseURL, r.Model, price},
		Once: graph.Once[implement.Recorded], Redact: w.Redactor(s, c.Variables()...),
	}}, nil
}

// Pieces returns a function that searches a place for pieces that match a query, within a
// module: by words, and by the endpoints of the settings, paid from the implementer's budget.
// told reports whether a trace may contain the query. The first query builds the index or
// loads a kept one, and leaves it in p.From.
func (w Wire) Pieces(p *Place, c config.Config, s settings.Settings, by *Implementer,
	told bool) (implement.Search, error) {
	var notes []string
	lost := func(note string) { notes = append(notes, note) }
	e, err := w.Searching(c, s, Asking{Ledger: by.ledger, Once: graph.Once[review.Recorded], OnLost: lost})
	if err != nil {
		return nil, err
	}
	var engine *retrieve.Engine
	return func(ctx context.Context, query string, m config.Module) (found implement.Found, err error) {
		notes = nil
		ctx, meter := budget.WithMeter(ctx)
		defer func() { found.Notes, found.Usage = notes, meter.Used() }()
		if engine == nil {
			const limit = 3 * indexTime // nobody waits for a ticket's draft as for a review
			x, err := w.Indexed(ctx, *p, index.Options{Limit: limit, Toward: query}, c, e, lost)
			if err != nil {
				return found, err
			}
			notes = append(notes, append(x.Notes, indexTimeNote(x.Report, limit)...)...)
			p.From = x.Index
			engine = &retrieve.Engine{Index: x.Source, Instead: x.Instead, Embedder: e.Embedder, Reranker: e.Reranker}
		}
		result, err := engine.Search(ctx, retrieve.Request{Query: query, Paths: m.Paths, Untold: !told})
		if len(notes) == 0 { // else they follow from those
			notes = result.Notes
		}
		for _, h := range result.Hits {
			c := change.Chunk{Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Score: h.Score, Text: h.Text}
			if h.Rerank != nil {
				c.Score = *h.Rerank
			}
			found.Chunks = append(found.Chunks, c)
		}
		return found, err
	}, nil
}
