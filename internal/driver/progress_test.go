package driver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
)

func TestARunSaysEachHalfMinuteWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &progress{statuses: []reviewpr.Status{reviewpr.Initialize}, live: func(*progress) {},
			soFar: func() (int, cost.Usage, cost.MicroUSD) { return 2, cost.Usage{Calls: 5, Cost: 30_000}, 1_000_000 }}
		line := func(elapsed time.Duration) string { return f.line(elapsed, "", MaxLine) }
		var told []string
		stop := Beat(t.Context(), func(line string) { told = append(told, line) }, line)
		time.Sleep(31 * time.Second) // in the bubble
		f.setStatuses([]reviewpr.Status{"fetch_jira", "fetch_confluence"})
		time.Sleep(30 * time.Second)
		f.observe(graph.Event{Kind: graph.StepStarted, Node: "review", Total: 7})
		f.observe(graph.Event{Kind: graph.TaskDone, Node: "review", Done: 3, Total: 7})
		time.Sleep(30 * time.Second)
		f.observe(graph.Event{Kind: graph.StepStarted, Node: "aggregate", Total: 1})
		time.Sleep(30 * time.Second)
		stop()
		time.Sleep(time.Hour)
		require.Equal(t, []string{"initialize · 30 s", "fetch jira, fetch confluence · 60 s",
			"reviewing  3/7 files · 2 findings · 5 calls · $0.03 of $1.00 · 90 s", "generate review · 120 s"}, told)
		require.Equal(t, "generate review · 4 s  waiting for a rate limit, 9 s",
			f.line(4*time.Second, "a rate limit, 9 s", 52))
		Beat(t.Context(), nil, line)()
	})
}
