package reviewpr_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
)

// waiting is a model that takes its time for each answer, finds nothing and can tell of
// no criterion. It notes when it is first asked about the whole change.
type waiting struct {
	takes time.Duration
	mu    sync.Mutex
	whole []time.Time
	asked int
}

func (*waiting) Identity() string { return "waiting" }

func (w *waiting) Chat(_ context.Context, q llm.Request) (llm.Answer, error) {
	w.mu.Lock()
	w.asked++
	text := `{"findings":[]}`
	if q.SchemaName == (prompt.Whole{}).Overviewing().SchemaName || q.SchemaName == prompt.Judging().SchemaName {
		w.whole = append(w.whole, time.Now())
		text = `{"overview":"It does things.","findings":[],"criteria":[],"unasked":[]}`
	}
	w.mu.Unlock()
	time.Sleep(w.takes) // in a bubble, or what a benchmark measures
	return llm.Answer{Text: text, Usage: cost.Usage{Calls: 1}}, nil
}

// firstDraft reviews so many files with a ticket whose fetching takes as long, and gives
// how long it took to the look at the whole change, and to the draft.
func firstDraft(t testing.TB, w *waiting, files int, show ticket.Show, fetch time.Duration) (whole, all time.Duration) {
	t.Helper()
	c := changed(many(files)...)
	c.Config = config.Default()
	c.Pull = &pull.Pull{Ref: ref, HeadSHA: head, BaseSHA: strings.Repeat("cd", 20), Title: "PAY-1"}
	c.Config.Context = config.Context{Show: show, Sources: []config.Source{{}}}
	model := review.NewModel(review.Options{Review: w, Verify: w, Random: rand.Reader})
	asked := ticket.Context{Tickets: []ticket.Ticket{{Key: "PAY-1", Criteria: []ticket.Criterion{{N: 1, Text: "x"}}}}}
	flow, err := reviewpr.New(reviewpr.Steps{
		Ingest:   func(context.Context) (ingest.Change, error) { return c, nil },
		Reviewer: model, Overview: model.Overview, Concurrency: 8,
		Context: func(context.Context, reviewpr.State) ticket.Context { time.Sleep(fetch); return asked },
	}, graph.NewMemory())
	require.NoError(t, err)
	began := time.Now()
	_, err = flow.Run(t.Context(), c.Thread, reviewpr.State{})
	require.NoError(t, err)
	require.NotEmpty(t, w.whole)
	return w.whole[0].Sub(began), time.Since(began)
}

// TestTheLookAtTheWholeChangeAddsOneCall holds the way to the first draft to what eight
// answers at a time take at least, the tickets' fetching before them, and one answer more:
// two under key.
func TestTheLookAtTheWholeChangeAddsOneCall(t *testing.T) {
	t.Parallel()
	const takes, fetch = 20 * time.Second, 3 * time.Second
	for show, more := range map[ticket.Show]int{ticket.ShowKey: 2, ticket.ShowCriteria: 1, ticket.ShowFull: 1} {
		t.Run(string(show), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &waiting{takes: takes}
				whole, all := firstDraft(t, w, 100, show, fetch)
				ideal := 13*takes + fetch // of 100 files eight at a time
				require.LessOrEqual(t, whole.Seconds(), 1.05*ideal.Seconds())
				require.GreaterOrEqual(t, whole, ideal)
				require.Equal(t, whole+time.Duration(more)*takes, all)
				require.Equal(t, 100+more, w.asked)
			})
		})
	}
}

// BenchmarkFirstDraft reports the time to the look at the whole change as a multiple of
// what a model that takes 200 ms leaves: 100 files, eight at a time.
func BenchmarkFirstDraft(b *testing.B) {
	const takes = 200 * time.Millisecond
	for b.Loop() {
		whole, _ := firstDraft(b, &waiting{takes: takes}, 100, ticket.ShowFull, 0)
		b.ReportMetric(whole.Seconds()/(13*takes.Seconds()), "×ideal")
	}
}
