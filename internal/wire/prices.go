package wire

import (
	"cmp"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
)

// The tasks that models are asked for.
const (
	reviews    = "review"
	redrafts   = "redraft"
	verifies   = "verify"
	classifies = "classify"
)

// tasks are those of a review.
func tasks(c config.Config, model string) map[string]string {
	t := map[string]string{reviews: model}
	if c.Verifies() {
		t[verifies] = cmp.Or(c.Models.Verify, model)
	}
	if c.Classifies() {
		t[classifies] = c.Models.Classify
	}
	return t
}

// Unpriced names a model, of those that a review by model asks under a settings
// file, whose price is not known; "" where there is none.
func Unpriced(c config.Config, model string) string {
	_, unknown := pricesOf(tasks(c, model), c)
	return unknown
}

// priceOf is what a model costs: by the settings file, else by the built-in table.
func priceOf(model string, c config.Config) (cost.Price, bool) {
	if p, ok := c.Prices[model]; ok {
		return p, true
	}
	return cost.PriceOf(model)
}

// unpricedEndpoint names a model of embeddings or rerank whose price is not known, and
// the key that tells it; "" where there is none.
func unpricedEndpoint(c config.Config) (model, key string) {
	for _, at := range []struct{ model, key string }{{c.Embeddings.Model, "input"}, {c.Rerank.Model, "per-1000"}} {
		if _, ok := priceOf(at.model, c); at.model != "" && !ok {
			return at.model, at.key
		}
	}
	return "", ""
}

// pricesOf are the prices of the models by name; unknown names one that has none.
func pricesOf(tasks map[string]string, c config.Config) (prices map[string]*cost.Price, unknown string) {
	prices = map[string]*cost.Price{}
	for _, task := range []string{reviews, redrafts, verifies, classifies} {
		name, asked := tasks[task]
		if !asked {
			continue
		}
		p, ok := priceOf(name, c)
		if !ok {
			unknown = cmp.Or(unknown, name)
			continue
		}
		prices[name] = &p
	}
	return prices, unknown
}
