package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
)

func TestAnEstimateSaysWhatBoundsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files int
		used  cost.Usage
		limit cost.MicroUSD
		by    string
		want  string
	}{
		"priced": {61, cost.Usage{InputTokens: 380_000, OutputTokens: 20_000, Cost: 120_000}, 1_000_000, "max-cost",
			"61 files to ask a model about; about 400,000 tokens, about $0.12; at most $1.00 is spent (max-cost)."},
		"what is left of the pull request's": {1, cost.Usage{InputTokens: 3_000, Cost: 90_000}, 40_000,
			"max-cost-per-pull", "1 file to ask a model about; about 3,000 tokens, about $0.09; at most $0.04 is " +
				"spent (max-cost-per-pull)."},
		"nothing bounds a price that is not known": {2, cost.Usage{InputTokens: 5_000, Unpriced: 2}, 0, "max-cost",
			"2 files to ask a model about; about 5,000 tokens."},
		"nothing left": {0, cost.Usage{}, 1_000_000, "max-cost", "No file is left to ask a model about."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, forecastLine(c.files, c.used, c.limit, c.by))
		})
	}
}
