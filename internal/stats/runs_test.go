package stats

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
)

func TestRunsAreSummedByPullRequest(t *testing.T) {
	t.Parallel()
	var all []Run
	for i := range 20 {
		all = append(all, Run{Pull: "o/r#1", Usage: cost.Usage{Calls: 1, Cost: 100}, Seconds: float64(i + 1)})
	}
	all = append(all, Run{Pull: "o/r#2", Usage: cost.Usage{Calls: 1, Cost: 5_000_000}},
		Run{Pull: "o/r#3", Usage: cost.Usage{Calls: 2, Unpriced: 2}})
	r := sumRuns(all)
	require.Equal(t, Quantile{P50: 10, P95: 19}, *r.Seconds, "drafts without a time count in no quantile")
	require.Equal(t, []any{22, cost.MicroUSD(5_002_000), int64(2)}, []any{r.Drafts, *r.Cost, r.Unpriced})
	require.InDelta(t, 5_002_000.0/3, *r.PerPull, 1e-6)
	require.Equal(t, []string{"o/r#2", "o/r#1", "o/r#3"}, []string{r.Pulls[0].Name, r.Pulls[1].Name, r.Pulls[2].Name})
	require.Equal(t, []int{1, 20, 1}, []int{r.Pulls[0].Drafts, r.Pulls[1].Drafts, r.Pulls[2].Drafts})
	require.Nil(t, r.Pulls[2].Cost, "an unknown price is not 0")
	require.Nil(t, sumRuns(all[21:]).Cost, "nor is it in the sum")
	require.Contains(t, r.Text(), "Drafts made: 22 (changes: 3)\nCost: $5.00, $1.67 a change, and 2 calls whose "+
		"price is not known\nTime of a draft: p50 10.0 s, p95 19.0 s\n")
}

func TestRunsOfNothingAndOfManyAreBounded(t *testing.T) {
	t.Parallel()
	none := sumRuns(nil)
	require.Empty(t, none.Text())
	require.NotNil(t, none.Pulls)
	var all []Run
	for i := range 30 {
		all = append(all, Run{Pull: strings.Repeat("o", 90) + string(rune('a'+i)) + "\x1b[31m\nx",
			Usage: cost.Usage{Calls: 1, Unpriced: 1}})
	}
	text := sumRuns(all).Text()
	require.Contains(t, text, "Cost: price not known\n")
	require.Contains(t, text, "and 20 more")
	require.NotContains(t, text, "\x1b")
	for _, row := range strings.Split(text, "\n") {
		require.LessOrEqual(t, column.Width(row), 80, row)
	}
}

// verdicts returns Verdicts for runs that have only these records.
func verdicts(all []decision.Record) []decision.Record {
	var runs []Run
	for i := range all {
		runs = append(runs, Run{Record: &all[i]})
	}
	return Verdicts(runs)
}
