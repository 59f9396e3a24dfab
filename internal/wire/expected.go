package wire

import (
	"fmt"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/wording"
)

// expected says, before anything is asked, what a run is about to ask and about what
// that costs, which is a guess, and what bounds it: "61 files to ask a model about; about
// 0.4 million tokens, about $0.12; at most $1.00 is spent (max-cost)". A limit of 0 is
// none, and by names the setting that it comes from.
func expected(files int, u cost.Usage, limit cost.MicroUSD, by string) string {
	if files == 0 {
		return "No file is left to ask a model about."
	}
	text := fmt.Sprintf("%s to ask a model about; about %s tokens", wording.Count(files, "file"), magnitude(u.Tokens()))
	if u.Cost > 0 {
		text += fmt.Sprintf(", about %s", u.Cost)
	}
	if limit > 0 {
		text += fmt.Sprintf("; at most %s is spent (%s)", limit, by)
	}
	return text + "."
}

// magnitude is a large number as a person would say it.
func magnitude(n int64) string {
	switch {
	case n < 10_000:
		return wording.Thousands(max(n/100, 1) * 100)
	case n < 1_000_000:
		return wording.Thousands(n / 1000 * 1000)
	}
	return fmt.Sprintf("%.1f million", float64(n)/1e6)
}
