package eval

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
	"github.com/org/pr-review-action/internal/review"
)

// priceOf is a price of one micro-dollar for each token.
var priceOf = cost.Price{Input: 1_000_000, CachedInput: 1_000_000, Output: 1_000_000, CacheWrite: 1_000_000}

// tolled answers after a while and uses a set number of tokens.
type tolled struct {
	uses cost.Usage
	asked, open,
	most atomic.Int64
}

func (*tolled) Identity() string { return "tolled" }

func (c *tolled) Chat(ctx context.Context, _ llm.Request) (llm.Answer, error) {
	c.asked.Add(1)
	now := c.open.Add(1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	defer c.open.Add(-1)
	select {
	case <-time.After(time.Second): // of the test's clock
		return llm.Answer{Text: "yes", Usage: c.uses}, nil
	case <-ctx.Done():
		return llm.Answer{}, ctx.Err()
	}
}

// ask puts so many questions at once, each bounded by 1,300 tokens.
func ask(ctx context.Context, chat review.Chatter, n int) (answered int, refused error) {
	var group sync.WaitGroup
	var mu sync.Mutex
	for range n {
		group.Go(func() {
			_, err := chat.Chat(ctx, llm.Request{User: string(make([]byte, 100)), MaxTokens: 1_000})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answered++
			} else {
				refused = err
			}
		})
	}
	group.Wait()
	return answered, refused
}

func TestP9_QuestionsSideBySideStayUnderTheCap(t *testing.T) {
	t.Parallel()
	for cap, want := range map[cost.MicroUSD]int{1_299: 0, 1_300: 1, 1_400: 2, 2_600: 14, 100_000: 40} {
		synctest.Test(t, func(t *testing.T) {
			model := &tolled{uses: cost.Usage{Calls: 1, InputTokens: 60, OutputTokens: 40}}
			m := newMeter(Options{Budget: Budget{Cap: cap}, Concurrency: 8, Now: time.Now})
			answered, refused := ask(t.Context(), m.wrap(model, &priceOf), 40)
			require.Equal(t, want, answered, "a question waits for those that are open, and is put while its "+
				"bound fits")
			spent, _ := m.totals()
			require.LessOrEqual(t, spent, cap)
			require.EqualValues(t, 100*want, spent)
			if want < 40 {
				require.ErrorIs(t, refused, cost.ErrSpent)
			}
		})
	}
}

func TestNoMoreQuestionsAreOpenThanAreAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := &tolled{}
		answered, err := ask(t.Context(), newMeter(Options{Concurrency: 3, Now: time.Now}).wrap(model, nil), 20)
		require.NoError(t, err)
		require.Equal(t, 20, answered)
		require.EqualValues(t, 3, model.most.Load())
	})
}

func TestAnAnswerOnItsWayIsWaitedForWhenTheRunIsCancelled(t *testing.T) {
	t.Parallel()
	for linger, want := range map[time.Duration]int{0: 0, 2 * time.Second: 4} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(500*time.Millisecond, cancel)
			chat := newMeter(Options{Concurrency: 4, Linger: linger, Now: time.Now}).wrap(&tolled{}, nil)
			answered, err := ask(ctx, chat, 10)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, want, answered, "those that wait for a slot are given up")
		})
	}
}

func TestWhoWaitsForMoneyIsToldWhenTheRunIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("the disk is full")
		m := newMeter(Options{Budget: Budget{Cap: 1_300}, Concurrency: 4, Now: time.Now})
		time.AfterFunc(500*time.Millisecond, func() { m.refuse(full) })
		answered, refused := ask(t.Context(), m.wrap(&tolled{}, &priceOf), 4)
		require.Equal(t, 1, answered)
		require.ErrorIs(t, refused, full)
	})
}
