package budget

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
)

// even is a price of one micro-dollar for each token.
var even = cost.Price{Input: 1_000_000, CachedInput: 1_000_000, Output: 1_000_000, CacheWrite: 1_000_000}

// model answers after a second of the test's clock.
type model struct {
	uses  cost.Usage
	err   error
	asked atomic.Int64
}

func (*model) Identity() string { return "a model" }

func (m *model) Chat(ctx context.Context, _ llm.Request) (llm.Answer, error) {
	m.asked.Add(1)
	select {
	case <-time.After(time.Second):
		return llm.Answer{Text: "yes", Usage: m.uses}, m.err
	case <-ctx.Done():
		return llm.Answer{}, ctx.Err()
	}
}

// asking is a request that costs so many micro-dollars at the even price at most.
func asking(bound int) llm.Request {
	return llm.Request{User: "question", MaxTokens: bound - frame - len("question")}
}

// ask puts questions at once and counts the answers.
func ask(ctx context.Context, c Chatter, requests ...llm.Request) (answered int, used cost.Usage, refused error) {
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, r := range requests {
		group.Go(func() {
			a, err := c.Chat(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			used = cost.Add(used, a.Usage)
			if err == nil {
				answered++
			} else {
				refused = err
			}
		})
	}
	group.Wait()
	return answered, used, refused
}

// held is what is set aside.
func held(l *Ledger) cost.MicroUSD {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.run.held
}

func times(n int, r llm.Request) []llm.Request {
	all := make([]llm.Request, n)
	for i := range all {
		all[i] = r
	}
	return all
}

func TestP9_CallsSideBySideStayUnderTheCap(t *testing.T) {
	t.Parallel()
	for cap, want := range map[cost.MicroUSD]int{1_299: 0, 1_300: 1, 1_399: 1, 1_400: 2, 2_600: 14, 100_000: 40,
		0: 40} {
		synctest.Test(t, func(t *testing.T) {
			l := New(cap)
			m := &model{uses: cost.Usage{Calls: 1, InputTokens: 60, OutputTokens: 40}}
			answered, used, refused := ask(t.Context(), l.Over(m, &even), times(40, asking(1_300))...)
			require.Equal(t, want, answered, "a call waits for those under way, and is made while its bound fits")
			require.EqualValues(t, 100*want, l.Spent())
			require.Equal(t, l.Spent(), used.Cost)
			require.Zero(t, held(l))
			if want < 40 {
				require.ErrorIs(t, refused, cost.ErrSpent)
			}
		})
	}
}

func TestP9_WhatEarlierPartsOfARunPaidCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(1_400)
		l.Paid(100)
		c := l.Over(&model{uses: cost.Usage{InputTokens: 50}}, &even)
		answered, _, err := ask(t.Context(), c, asking(1_300))
		require.NoError(t, err)
		require.Equal(t, 1, answered)
		_, _, err = ask(t.Context(), c, asking(1_300))
		require.EqualError(t, err, "the budget was spent: of $0.0014 $0.0013 are left, and the next call may take "+
			"$0.0013")
		_, _, err = ask(t.Context(), c, asking(1_401))
		require.ErrorContains(t, err, "the cap of $0.0014 is less than the $0.0014 that the next call may take; "+
			"raise it, or lower the limit of output tokens")
	})
}

func TestP9_AFilesCapEndsThatFileAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(100_000)
		c := l.Over(&model{uses: cost.Usage{InputTokens: 600}}, &even)
		one, two := WithFile(t.Context(), 2_000), WithFile(t.Context(), 0)
		answered, used, err := ask(one, c, times(5, asking(1_000))...)
		require.ErrorIs(t, err, cost.ErrFileSpent)
		require.NotErrorIs(t, err, cost.ErrSpent)
		require.Equal(t, 2, answered, "two side by side; then 800 are left, and a third may take 1,000")
		require.EqualValues(t, 1_200, used.Cost)
		answered, _, err = ask(two, c, times(5, asking(1_000))...)
		require.NoError(t, err)
		require.Equal(t, 5, answered)
	})
}

func TestACallThatWaitsForItsFileHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(100_000)
		c := l.Over(&model{uses: cost.Usage{InputTokens: 1}}, &even)
		file := WithFile(t.Context(), 1_500)
		began := time.Now()
		var group sync.WaitGroup
		group.Go(func() { _, _, _ = ask(file, c, times(3, asking(1_000))...) })
		synctest.Wait()
		_, _, err := ask(t.Context(), c, asking(1_000))
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(began))
		group.Wait()
		require.Equal(t, 3*time.Second, time.Since(began), "one after the other")
	})
}

func TestMoneyIsGivenInTheOrderInWhichCallsCame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(10_000)
		c := l.Over(&model{uses: cost.Usage{InputTokens: 300}}, &even)
		ended := map[string]time.Duration{}
		var mu sync.Mutex
		var group sync.WaitGroup
		began := time.Now()
		for _, next := range []struct {
			name  string
			bound int
		}{{"first", 6_000}, {"large", 9_000}, {"small", 1_000}} {
			group.Go(func() {
				_, _, err := ask(t.Context(), c, asking(next.bound))
				mu.Lock()
				defer mu.Unlock()
				require.NoError(t, err)
				ended[next.name] = time.Since(began)
			})
			synctest.Wait()
		}
		group.Wait()
		require.Equal(t, map[string]time.Duration{"first": time.Second, "large": 2 * time.Second,
			"small": 3 * time.Second}, ended,
			"a small call that fits does not keep out the large one before it")
	})
}

func TestWaitingForMoneyEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(1_500)
		m := &model{}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		go func() { _, _, _ = ask(t.Context(), l.Over(m, &even), asking(1_300)) }()
		synctest.Wait()
		_, _, err := ask(ctx, l.Over(m, &even), asking(1_300))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualValues(t, 1, m.asked.Load())
		time.Sleep(time.Second) // of the synctest bubble's clock: no real time passes: the answer is there
		require.Zero(t, held(l))
	})
}

func TestStopRefusesThoseThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("the disk is full")
		l := New(1_300)
		time.AfterFunc(500*time.Millisecond, func() { l.Stop(full); l.Stop(errors.New("another")) })
		answered, _, refused := ask(t.Context(), l.Over(&model{uses: cost.Usage{Cost: 1}}, &even),
			times(4, asking(1_300))...)
		require.Equal(t, 1, answered)
		require.ErrorIs(t, refused, full)
	})
}
