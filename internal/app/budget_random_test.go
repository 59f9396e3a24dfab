package app_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/budget"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/testvolume"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/transport"
)

// dice are random numbers for many goroutines.
type dice struct {
	mu sync.Mutex
	r  *mathrand.Rand
}

func newDice(seed uint64) *dice { return &dice{r: mathrand.New(mathrand.NewPCG(seed, 9))} }

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

// wayward is a model in this process: it takes its time, answers what it likes,
// and bills what it may have used. Its bill is the truth.
type wayward struct {
	dice  *dice
	price cost.Price

	mu    sync.Mutex
	bill  cost.MicroUSD
	about map[string]int // calls by the file's path
}

func (*wayward) Identity() string { return "wayward" }

// Chat answers at random: whole, broken, refused, cut off, with calls of tools, or
// with an error that was billed or was not.
func (w *wayward) Chat(ctx context.Context, r llm.Request) (llm.Answer, error) {
	select {
	case <-time.After(time.Duration(w.dice.n(2_000)) * time.Millisecond): // of the test's clock
	case <-ctx.Done():
		return llm.Answer{}, ctx.Err()
	}
	w.count(r)
	u := w.usage(r)
	found := llmtest.Findings(llmtest.Finding{
		Side: "RIGHT", StartLine: 2, Line: 2, Quote: "2", Title: "A claim", Body: "Because.", Category: "bug",
		Severity: "major", Confidence: 0.9,
	}).Text
	switch w.dice.n(12) {
	case 0:
		return llm.Answer{}, errors.New("refused before anything was billed")
	case 1: // it does not say what it used
		u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens = 0, 0, 0, 0
		return llm.Answer{Text: found, Usage: w.billed(u, budget.Bound(r, w.price))}, nil
	case 2:
		return llm.Answer{Usage: w.billed(u, w.price.Of(u))}, llm.ErrEmpty
	case 3:
		return llm.Answer{Text: found[:40], Usage: w.billed(u, w.price.Of(u))}, llm.ErrTruncated
	case 4:
		return llm.Answer{Usage: w.billed(u, w.price.Of(u))}, llm.ErrRefused
	case 5:
		return llm.Answer{Text: "LGTM", Usage: w.billed(u, w.price.Of(u))}, nil
	case 6, 7:
		if len(r.Tools) > 0 {
			call := llm.Call{ID: "c", Name: "look", Arguments: fmt.Sprintf(`{"at":%d}`, w.dice.n(1_000))}
			return llm.Answer{ToolCalls: []llm.Call{call}, Usage: w.billed(u, w.price.Of(u))}, nil
		}
	case 8:
		return llm.Answer{Text: `{"findings":[]}`, Usage: w.billed(u, w.price.Of(u))}, nil
	}
	return llm.Answer{Text: found, Usage: w.billed(u, w.price.Of(u))}, nil
}

// usage is at most a token for each byte, and the request's limit of output.
func (w *wayward) usage(r llm.Request) cost.Usage {
	in := 1 + w.dice.n(r.Bytes())
	u := cost.Usage{Calls: 1, InputTokens: int64(in), CachedTokens: int64(w.dice.n(in + 1)),
		OutputTokens: int64(w.dice.n(r.MaxTokens + 1))}
	u.CacheWriteTokens = int64(w.dice.n(in - int(u.CachedTokens) + 1))
	return u
}

func (w *wayward) billed(u cost.Usage, amount cost.MicroUSD) cost.Usage {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bill += amount
	return u
}

func (w *wayward) count(r llm.Request) {
	path := regexp.MustCompile(`f\d\d\.go`).FindString(r.User)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.about[path]++
}

func randomPrice(d *dice) cost.Price {
	return cost.Price{
		Input: cost.MicroUSD(d.n(5_000_000)), CachedInput: cost.MicroUSD(d.n(5_000_000)),
		Output: cost.MicroUSD(d.n(30_000_000)), CacheWrite: cost.MicroUSD(d.n(7_000_000)),
	}
}

// drawn is one random run through the whole reviewer.
type drawn struct {
	dice    *dice
	price   cost.Price
	cap     cost.MicroUSD
	change  ingest.Change
	limits  agent.Limits
	fileCap cost.MicroUSD
	store   graph.Store
}

func draw(seed uint64) drawn {
	d := newDice(seed)
	r := drawn{dice: d, price: randomPrice(d), cap: cost.MicroUSD(1 + d.n(2_000_000)), store: graph.NewMemory()}
	r.limits = agent.Limits{Turns: 1 + d.n(4)}
	r.fileCap = cost.MicroUSD(d.n(3) * 400_000)
	r.change = ingest.Change{Name: "a range", Thread: fmt.Sprintf("local/range:%040x", seed),
		Head: fmt.Sprintf("%040x", seed), Config: config.Default()}
	for i := range 1 + d.n(8) {
		r.change.Files = append(r.change.Files, diff.File{Path: fmt.Sprintf("f%02d.go", i), Status: diff.Modified,
			Additions: 1, Patch: "@@ -1 +1,2 @@\n 1\n+2"})
	}
	return r
}

// run reviews with the money of a ledger, and continues with what was paid before.
func (r drawn) run(t *testing.T, l *budget.Ledger, chat budget.Chatter,
	paid reviewpr.Paid) graph.Result[reviewpr.State] {
	look := tool.New("look", "Looks around.", func(context.Context, struct {
		At int `json:"at"`
	}) (string, error) {
		return "nothing to see", nil
	})
	over := l.Over(chat, &r.price)
	m := review.NewModel(review.Options{
		Review: over, Verify: over, Limits: r.limits, Tools: tool.NewSet(look), FileCap: r.fileCap, Random: rand.Reader,
	})
	m.Once = paid.Once
	flow, err := reviewpr.New(reviewpr.Steps{
		Ingest:   func(context.Context) (ingest.Change, error) { return r.change, nil },
		Reviewer: m, Concurrency: 1 + r.dice.n(8), Paid: paid,
	}, r.store)
	require.NoError(t, err)
	result, err := flow.Run(t.Context(), r.change.Thread,
		reviewpr.State{Draft: reviewpr.Draft{Model: "m", MaxCost: r.cap}})
	require.NoError(t, err)
	return result
}

// holds checks what is true of every run that had a cap.
func (r drawn) holds(t *testing.T, l *budget.Ledger, bill cost.MicroUSD, got graph.Result[reviewpr.State]) {
	require.LessOrEqual(t, l.Spent(), r.cap, "the cap")
	require.LessOrEqual(t, bill, l.Spent(), "no bill is larger than what was counted")
	require.Equal(t, l.Spent(), got.State.Usage.Cost, "every micro-dollar is in the draft")
	list := got.State.Coverage()
	require.Len(t, list, len(r.change.Files))
	for _, f := range list {
		require.Contains(t, []finding.State{finding.Reviewed, finding.Partly, finding.Failed, finding.NotReached},
			f.State)
		require.Equal(t, f.State == finding.Reviewed, f.Reason == "", "%v", f)
		if f.State == finding.NotReached {
			require.EqualValues(t, finding.OverBudget, f.Reason)
		}
		if r.fileCap > 0 {
			require.LessOrEqual(t, f.Usage.Cost, r.fileCap)
		}
	}
}

func TestP9_AThousandReviewsNeverExceedTheirCap(t *testing.T) {
	t.Parallel()
	var partial int
	reviews := testvolume.Of(1_000, 300)
	for seed := range uint64(reviews) {
		synctest.Test(t, func(t *testing.T) {
			r := draw(seed)
			l, w := budget.New(r.cap), &wayward{dice: r.dice, price: r.price, about: map[string]int{}}
			got := r.run(t, l, w, reviewpr.Paid{})
			r.holds(t, l, w.bill, got)
			if got.State.OutOfBudget() || got.State.Partial() {
				partial++
				r.goesOn(t, w, l.Spent(), got)
			}
		})
	}
	require.Greater(t, partial, reviews/5, "many of them ran out of money")
	t.Logf("%d of %d runs ran out of money", partial, reviews)
}

// goesOn does a run again with more money: what was paid is not paid twice, and
// counts in the new cap.
func (r drawn) goesOn(t *testing.T, w *wayward, before cost.MicroUSD, first graph.Result[reviewpr.State]) {
	saved, err := r.store.Load(t.Context(), r.change.Thread)
	require.NoError(t, err)
	var paid reviewpr.Paid
	paid.Add(saved, r.change.Thread)
	require.Equal(t, before, paid.Own(), "what the first part cost is known to the second")
	r.cap, r.store = before+cost.MicroUSD(1+r.dice.n(1_000_000)), graph.NewMemory()
	l := budget.New(r.cap)
	l.Paid(paid.Own())
	calls := maps.Clone(w.about)
	got := r.run(t, l, w, paid)
	require.LessOrEqual(t, l.Spent(), r.cap, "the cap of both parts")
	require.LessOrEqual(t, w.bill, l.Spent())
	require.Len(t, got.State.Coverage(), len(r.change.Files))
	for _, f := range first.State.Coverage() {
		if f.State == finding.Reviewed && !f.Incomplete {
			require.Equal(t, calls[f.Path], w.about[f.Path], "a file that was read is not asked about again")
		}
	}
}

// TestP9_ReviewsOverAFaultyServerNeverExceedTheirCap goes over HTTP, where tries
// are lost and made again.
func TestP9_ReviewsOverAFaultyServerNeverExceedTheirCap(t *testing.T) {
	t.Parallel()
	var faults []llmtest.Fault // none that tells of fewer tokens than it bills, as no-choices does
	for _, name := range []string{"reset", "drop", "truncated-json", "wrong-types", "empty", "refusal",
		"content-filter", "input-filter", "length", "bad-arguments", "unknown-tool", "no-usage"} {
		faults = append(faults, llmtest.Faults()[name])
	}
	faults = append(faults, llmtest.Failing(429), llmtest.Failing(500), llmtest.Page(502), llmtest.Failing(400))
	for seed := range uint64(testvolume.Of(150, 30)) {
		r := draw(10_000 + seed)
		script := func(q llmtest.Request) llmtest.Answer {
			a := llmtest.Findings(llmtest.Finding{Side: "RIGHT", StartLine: 2, Line: 2, Quote: "2", Title: "A claim",
				Body: "Because.", Category: "bug", Severity: "major", Confidence: 0.9})
			a.Reasoning = r.dice.n(q.MaxTokens + 1)
			if q.Question == llmtest.Verify {
				a = llmtest.Honest(q)
			}
			if n := r.dice.n(2 * len(faults)); n < len(faults) {
				return faults[n](q, a)
			}
			return a
		}
		server := llmtest.Start(t, script, func(s *llmtest.Server) { s.Price, s.Cuts, s.Caches = &r.price, true, true })
		client, err := llm.New(llm.Options{BaseURL: server.URL, Model: "m", HTTP: transport.New(transport.Options{
			Tries: 1 + r.dice.n(4), Retry: func(*http.Request) bool { return true }, LimitWait: time.Nanosecond,
			Sleep: func(context.Context, time.Duration) error { return nil },
		})})
		require.NoError(t, err)
		l := budget.New(r.cap)
		got := r.run(t, l, client, reviewpr.Paid{})
		r.holds(t, l, server.Bill().Cost, got)
	}
}
