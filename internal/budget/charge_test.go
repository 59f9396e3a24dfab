package budget

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

func TestP9_WhatAFilePaidBeforeACrashCountsAgainstItsCapAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(100_000)
		c := l.Over(&model{uses: cost.Usage{InputTokens: 100}}, &even)
		file := WithFile(t.Context(), 2_000)
		Charge(file, 400)
		Charge(file, 200)
		Charge(file, -5_000)
		Charge(t.Context(), 1_000) // no file: it is nobody's
		_, err := c.Chat(file, asking(1_300))
		require.NoError(t, err, "1,400 are left")
		_, err = c.Chat(file, asking(1_301))
		require.ErrorIs(t, err, cost.ErrFileSpent)
		require.ErrorContains(t, err, "of $0.0020 $0.0013 are left")
		require.EqualValues(t, 100, l.Spent(), "the run's ledger was told by Paid")
		_, err = c.Chat(t.Context(), asking(1_301))
		require.NoError(t, err)
	})
}

func TestP9_AChargeReachesCallsThatAreUnderWayOrWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New(0).Over(&model{uses: cost.Usage{InputTokens: 100}}, &even)
		file := WithFile(t.Context(), 2_000)
		var group sync.WaitGroup
		for range 2 { // the second waits for the file's money
			group.Go(func() { _, _ = c.Chat(file, asking(1_300)) })
		}
		synctest.Wait()
		Charge(file, 1_900)
		group.Wait()
		_, err := c.Chat(file, asking(300))
		require.ErrorContains(t, err, "of $0.0020 $0.00 are left",
			"1,900 and the first call's 100: the second was not made")
	})
	address, asked := scripted(t, "lost", whole)
	file := WithFile(t.Context(), 3_000)
	l := New(0)
	charging := transport.EachTry(file, func(context.Context, int) (func(*http.Response, error), error) {
		return func(*http.Response, error) { Charge(file, 500) }, nil
	})
	_, err := l.Over(client(t, address, 4), &even).Chat(charging, asking(1_300))
	require.ErrorIs(t, err, cost.ErrFileSpent, "its second try")
	require.EqualValues(t, 1, asked.Load())
}

// trickle gives back what a call holds, as much at a time as the one that waits needs.
func trickle(l *Ledger, need cost.MicroUSD, done <-chan struct{}) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		if len(l.queue) > 0 && !l.run.fits(need) { // else the one that waits has only not woken yet
			l.run.held -= need
			l.changed.Broadcast()
		}
		l.mu.Unlock()
	}
}

func TestP9_WaitingForMoneyDoesNotMakeACallsTriesEndless(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		want func(*testing.T, error)
	}{
		"lost": {"lost", func(t *testing.T, err error) { require.ErrorContains(t, err, "EOF") }},
		"a size that is refused, and billed": {`{"error":{"message":"max_tokens is too large","code":400}}`,
			func(t *testing.T, err error) {
				require.ErrorIs(t, err, errNoUse)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, asked := scripted(t, c.line)
			r := llm.Request{User: "u", MaxTokens: 16_384}
			need := Bound(r, even)
			l := New(100 * need)
			l.run.held = 98*need + need/2 // one call fits, and none in addition to what a lost one cost
			done := make(chan struct{})
			go trickle(l, need, done)
			a, err := l.Over(client(t, address, 2), &even).Chat(t.Context(), r)
			close(done)
			require.False(t, errors.Is(err, cost.ErrSpent), err)
			c.want(t, err)
			require.EqualValues(t, maxLost, asked.Load())
			require.Equal(t, maxLost*need, a.Usage.Cost)
			require.Equal(t, maxLost*need, l.Spent())
		})
	}
}

func TestP9_APricedCallIsNeverMadeWithoutItsLimit(t *testing.T) {
	t.Parallel()
	unknown := `{"error":{"message":"Unknown parameter: 'max_completion_tokens', 'max_tokens'.","code":400}}`
	address, asked := scripted(t, unknown)
	l := New(0)
	_, err := l.Over(client(t, address, 1), &even).Chat(t.Context(), asking(1_300))
	require.ErrorIs(t, err, llm.ErrNoLimit)
	require.EqualValues(t, 2, asked.Load(), "both names")
}
