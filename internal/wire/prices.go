package wire

import (
	"cmp"
	"fmt"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wording"
)

// Account holds what the models of a run may cost.
type Account struct {
	Cap    cost.MicroUSD // 0: none can be enforced
	Notice string        // why no cap is enforced, if so
	Why    string        // why the cap is lower than a run's, if so
	price  *cost.Price   // of the reviewing model
}

// The tasks that models are asked to do.
const (
	taskReview   = "review"
	taskRedraft  = "redraft"
	taskVerify   = "verify"
	taskClassify = "classify"
)

// tasks maps the tasks of a review to their models.
func tasks(c config.Config, model string) map[string]string {
	t := map[string]string{taskReview: model}
	if c.Verifies() {
		t[taskVerify] = cmp.Or(c.Models.Verify, model)
	}
	if c.Classifies() {
		t[taskClassify] = c.Models.Classify
	}
	return t
}

// Unpriced returns the name of a model without a known price that a review by model asks
// under a settings file; "" if there is none.
func Unpriced(c config.Config, model string) string {
	_, unknown := pricesOf(tasks(c, model), c)
	return unknown
}

// PriceOf returns a model's price, from the settings file or else the built-in table.
func PriceOf(model string, c config.Config) (cost.Price, bool) {
	if p, ok := c.Prices[model]; ok {
		return p, true
	}
	return cost.PriceOf(model)
}

// pricesOf returns the models' prices by name; unknown names the first one without a price.
func pricesOf(tasks map[string]string, c config.Config) (prices map[string]*cost.Price, unknown string) {
	prices = map[string]*cost.Price{}
	for _, task := range []string{taskReview, taskRedraft, taskVerify, taskClassify} {
		name, asked := tasks[task]
		if !asked {
			continue
		}
		p, ok := PriceOf(name, c)
		if p.Output == 0 && (p.PerThousand > 0 || p.Input > 0 && c.WritesNothing(name)) {
			ok = false // the price of an embedder or reranker says nothing about output
		}
		if !ok {
			unknown = cmp.Or(unknown, name)
			continue
		}
		prices[name] = &p
	}
	return prices, unknown
}

func unpricedError(model, next string) error {
	return problem.Usage(fmt.Sprintf("a cost cap is set and the price of the model %q is not known, so the cap "+
		"could not be held", model), next)
}

// checkEndpoints notes an embedding or rerank model without a known price, and refuses it
// under a cap.
func (a *Account) checkEndpoints(c config.Config, file string, capped bool) error {
	for _, at := range []struct{ model, key string }{{c.Embeddings.Model, "input"}, {c.Rerank.Model, "per-1000"}} {
		if _, ok := PriceOf(at.model, c); at.model == "" || ok {
			continue
		}
		if capped {
			return unpricedError(at.model, fmt.Sprintf("say what it costs in %s, or 0 for your own server: "+
				"prices: { %q: { %s: 0.10 } }", file, at.model, at.key))
		}
		a.Notice = fmt.Sprintf("The price of the model %q is not known, so what it costs is not counted; with "+
			"prices in %s it is.", at.model, file)
		return nil
	}
	return nil
}

// setCap sets what the run may cost; before is what other runs on the pull request have cost.
// A configured cap needs the price of every model, or it could not be enforced.
func (a *Account) setCap(c config.Config, s settings.Settings, before cost.MicroUSD, unknown string) error {
	file := s.Config
	run, pull := c.Cap, c.CapPerPull
	capped := run > 0 || pull > 0 || c.MaxCostPerFile > 0
	if err := a.checkEndpoints(c, file, capped); err != nil {
		return err
	}
	switch {
	case unknown != "" && capped:
		return unpricedError(unknown, fmt.Sprintf("say what it costs, in USD per million tokens: prices: { %q: { "+
			"input: 0.25, output: 2 } } in %s of the base commit, or for a diff in a file that --config names", unknown,
			file))
	case unknown != "":
		a.Notice = fmt.Sprintf("The price of the model %q is not known, so the default cap of %s does not "+
			"hold; with prices in %s it does.", unknown, settings.DefaultMaxCost, file)
		return nil
	}
	if _, own := c.Prices[s.Model]; s.Unnamed && c.Models.Review == "" && !own {
		a.Notice = fmt.Sprintf("No model is named, so the server in base-url is asked for %q, and its answers are "+
			"counted at that model's list price; name another with model (--model).", s.Model)
	}
	a.Cap = cmp.Or(run, settings.DefaultMaxCost)
	if pull == 0 {
		return nil
	}
	if before >= pull {
		return problem.As(problem.Spent, problem.New(
			fmt.Sprintf("the reviews of this pull request have cost %s, and max-cost-per-pull is %s", before, pull),
			"", "raise max-cost-per-pull; nothing was asked"), "")
	}
	if left := pull - before; left < a.Cap {
		a.Cap = left
		a.Why = fmt.Sprintf("max-cost-per-pull is %s, and the reviews of this pull request before have cost %s",
			pull, before)
	}
	return nil
}

// Forecast returns the lines that announce what a run will ask and what that may cost.
func (r *Reviewer) Forecast(c ingest.Change, paid reviewpr.Paid) []string {
	if r.Rules {
		return nil
	}
	var calls []budget.Expected
	shown := 0
	for _, f := range reviewpr.ToReview(c) {
		shown += min(2*len(f.Patch), guessedHead)
		if !paid.Has(r.Key(f)) {
			calls = append(calls, r.estimateCalls(len(f.Patch)))
		}
	}
	files := len(calls)
	if files > 0 {
		calls = append(calls, budget.Expected{Bytes: min(shown, guessedHeads) + 3*guessedFrame,
			Output: guessedOverview})
	}
	by := "max-cost"
	if r.Account.Why != "" {
		by += "-per-pull"
	}
	lines := []string{forecastLine(files, budget.Estimate(calls, r.Account.price), r.Account.Cap, by)}
	if r.Account.Notice != "" && files > 0 {
		lines = append(lines, r.Account.Notice)
	}
	return lines
}

// estimateCalls estimates the calls of a file's review, its pack included. A model with tools is
// assumed to use them once, and every third file to have a finding to verify.
func (r *Reviewer) estimateCalls(patch int) budget.Expected {
	review := budget.Expected{Times: 1, Bytes: len(prompt.Reviewing(false).System) + 2*patch + guessedFrame}
	if r.model.Pack != nil {
		review.Bytes += guessedToken * r.model.PackTokens
	}
	if len(r.model.Tools.Offers()) > 0 {
		review.Times = 2
	}
	if r.model.Verify != nil {
		review.Bytes += review.Bytes / 3
	}
	return review
}

// Estimates of questions, in bytes, and of answers, in tokens.
const (
	guessedFrame    = 2_000    // of a question besides the system turn and the diff
	guessedToken    = 4        // per token of a pack
	guessedHead     = 8 << 10  // per file's diff, in the look at the whole change
	guessedHeads    = 96 << 10 // for all diffs in that
	guessedOverview = 400
)

// forecastLine announces how much a run is about to ask, the estimated cost, and the limit: "61
// files to ask a model about; about 0.4 million tokens, about $0.12; at most $1.00 is spent
// (max-cost)". A limit of 0 means none; by names the setting that sets it.
func forecastLine(files int, u cost.Usage, limit cost.MicroUSD, by string) string {
	if files == 0 {
		return "No file is left to ask a model about."
	}
	text := fmt.Sprintf("%s to ask a model about; about %s tokens", wording.Count(files, "file"),
		roundMagnitude(u.Tokens()))
	if u.Cost > 0 {
		text += fmt.Sprintf(", about %s", u.Cost)
	}
	if limit > 0 {
		text += fmt.Sprintf("; at most %s is spent (%s)", limit, by)
	}
	return text + "."
}

// roundMagnitude rounds a large number for a person to read.
func roundMagnitude(n int64) string {
	switch {
	case n < 10_000:
		return wording.Thousands(max(n/100, 1) * 100)
	case n < 1_000_000:
		return wording.Thousands(n / 1000 * 1000)
	}
	return fmt.Sprintf("%.1f million", float64(n)/1e6)
}
