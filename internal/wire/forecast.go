package wire

import (
	"fmt"

	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/wording"
)

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
	review := budget.Expected{Times: 1, Bytes: len(prompt.Reviewing().System) + 2*patch + guessedFrame}
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
