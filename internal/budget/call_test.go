package budget

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

func TestP9_AnAnswerCostsWhatTheServerSaysElseItsPriceElseItsBound(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for _, c := range []struct {
		name  string
		uses  cost.Usage
		err   error
		price *cost.Price
		want  cost.Usage
	}{
		{"the server's word", cost.Usage{Calls: 1, InputTokens: 60, OutputTokens: 40, Cost: 7}, nil, &even,
			cost.Usage{Calls: 1, InputTokens: 60, OutputTokens: 40, Cost: 7}},
		{"more than its bound", cost.Usage{Calls: 1, Cost: 5_000}, nil, &even, cost.Usage{Calls: 1, Cost: 5_000}},
		{"its price", cost.Usage{Calls: 1, InputTokens: 60, OutputTokens: 40}, nil, &even,
			cost.Usage{Calls: 1, InputTokens: 60, OutputTokens: 40, Cost: 100}},
		{"its bound", cost.Usage{}, nil, &even, cost.Usage{Calls: 1, Cost: 1_300}},
		{"a refusal that was billed", cost.Usage{Calls: 1, InputTokens: 9}, failed, &even,
			cost.Usage{Calls: 1, InputTokens: 9, Cost: 9}},
		{"an empty answer without usage", cost.Usage{Calls: 1}, failed, &even, cost.Usage{Calls: 1, Cost: 1_300}},
		{"nothing was billed", cost.Usage{}, failed, &even, cost.Usage{}},
		{"no price", cost.Usage{Calls: 1, InputTokens: 60}, nil, nil,
			cost.Usage{Calls: 1, InputTokens: 60, Unpriced: 1}},
		{"no price, and the server's word", cost.Usage{Calls: 1, Cost: 3}, nil, nil, cost.Usage{Calls: 1, Cost: 3}},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := New(0)
			a, err := l.Over(&model{uses: c.uses, err: c.err}, c.price).Chat(t.Context(), asking(1_300))
			require.Equal(t, c.err, err, c.name)
			require.Equal(t, c.want, a.Usage, c.name)
			require.Equal(t, c.want.Cost, l.Spent(), c.name)
			require.Zero(t, held(l), c.name)
		})
	}
}

func TestP9_ARequestWithoutAnOutputLimitIsNotMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &model{}
		_, err := New(0).Over(m, &even).Chat(t.Context(), llm.Request{User: "u"})
		require.ErrorIs(t, err, ErrNoLimit)
		require.Zero(t, m.asked.Load())
		_, err = New(1).Over(m, nil).Chat(t.Context(), llm.Request{User: "u"})
		require.NoError(t, err, "without a price there is no cap to hold")
		require.Equal(t, m.Identity(), New(0).Over(m, nil).Identity())
	})
}

type panics struct{ Chatter }

func (panics) Chat(context.Context, llm.Request) (llm.Answer, error) { panic("a defect") }

func TestAPanicLeavesNoMoneySetAside(t *testing.T) {
	t.Parallel()
	l := New(2_000)
	require.Panics(t, func() { _, _ = l.Over(panics{}, &even).Chat(t.Context(), asking(1_300)) })
	require.Zero(t, held(l))
	require.EqualValues(t, 1_300, l.Spent(), "nobody can say what it cost")
}

// hasty is an HTTP client that waits for nothing between its tries.
func hasty(tries int) *http.Client {
	return transport.New(transport.Options{
		Tries: tries, Retry: func(*http.Request) bool { return true }, LimitWait: time.Nanosecond,
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
}

// client is the model behind an address.
func client(t testing.TB, address string, tries int) Chatter {
	t.Helper()
	c, err := llm.New(llm.Options{BaseURL: address, Model: "m", HTTP: hasty(tries)})
	require.NoError(t, err)
	return c
}

const whole = `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]` +
	`,"usage":{"prompt_tokens":60,"completion_tokens":40}}`

// scripted answers the n-th request by the n-th line: a status, "lost", or a body.
func scripted(t testing.TB, lines ...string) (address string, asked *atomic.Int64) {
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		line := lines[min(int(asked.Add(1)), len(lines))-1]
		var status int
		switch n, _ := fmt.Sscanf(line, "%d", &status); {
		case n == 1:
			w.WriteHeader(status)
		case line == "lost":
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(line))
		}
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestP9_EveryTryIsPaidFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []string
		spent cost.MicroUSD // a bound is 1,300, a whole answer 100
		calls int64
		fails bool
	}{
		{"an answer", []string{whole}, 100, 1, false},
		{"refused tries", []string{"429", "500", "503", whole}, 100, 1, false},
		{"refused to the end", []string{"500"}, 0, 0, true},
		{"a lost try", []string{"lost", whole}, 1_400, 2, false},
		{"lost and refused", []string{"lost", "429", "lost", whole}, 2_700, 3, false},
		{"lost behind a gateway", []string{"502", "504", "524", whole}, 3*1_300 + 100, 4, false},
		{"ended by the server", []string{"408", whole}, 1_300 + 100, 2, false},
		{"lost behind Cloudflare", []string{"520", "522", whole}, 2*1_300 + 100, 3, false},
		{"not reached behind it", []string{"521", "523", "525", whole}, 100, 1, false},
		{"lost behind a gateway to the end", []string{"502"}, 4 * 1_300, 4, true},
		{"lost to the end", []string{"lost"}, 4 * 1_300, 4, true},
		{"half an answer", []string{`{"choices":`, whole}, 1_400, 2, false},
		{"half an answer to the end", []string{`{"choices":`}, 2 * 1_300, 2, true},
		{"without usage", []string{`{"choices":[{"message":{"content":"yes"}}]}`}, 1_300, 1, false},
		{"with a usage that is not all numbers", []string{`{"choices":[{"message":{"content":"yes"}}],"usage":` +
			`{"prompt_tokens":30,"completion_tokens":"many"}}`}, 1_300, 1, false},
		{"with half a usage", []string{`{"choices":[{"message":{"content":"yes"}}],"usage":` +
			`{"prompt_tokens":30}}`}, 1_300, 1, false},
		{"an error in an answer", []string{`{"error":{"message":"no","code":400}}`}, 1_300, 1, true},
		{"a form that is refused", []string{`{"error":{"message":"Unrecognized request argument supplied:` +
			` max_completion_tokens","code":400}}`, whole}, 1_400, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, _ := scripted(t, c.lines...)
			l := New(0)
			a, err := l.Over(client(t, address, 4), &even).Chat(t.Context(), asking(1_300))
			require.Equal(t, c.fails, err != nil, err)
			require.Equal(t, c.spent, l.Spent())
			require.Equal(t, c.spent, a.Usage.Cost, "also where there is no answer")
			require.Equal(t, c.calls, a.Usage.Calls)
			require.Zero(t, held(l))
		})
	}
}

func TestALostTryHasAPriceOnlyWhereOneIsKnown(t *testing.T) {
	t.Parallel()
	address, _ := scripted(t, "lost", whole)
	a, err := New(0).Over(client(t, address, 4), nil).Chat(t.Context(), asking(1_300))
	require.NoError(t, err)
	require.Equal(t, cost.Usage{Calls: 2, InputTokens: 60, OutputTokens: 40, Unpriced: 2}, a.Usage)
	address, _ = scripted(t, "lost")
	a, _ = New(0).Over(client(t, address, 4), nil).Chat(t.Context(), asking(1_300))
	require.EqualValues(t, 4, a.Usage.Unpriced)
}

// The case: twelve calls before a gateway that gives up on a server which
// bills for them anyway.
func TestP9_WhatIsBilledBehindAGatewayIsToldAndTheCapHolds(t *testing.T) {
	t.Parallel()
	const cap, each = 20_000, 1_250
	for _, code := range []int{502, 504, 524} {
		var billed, n atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			billed.Add(each)
			if n.Add(1)%3 != 0 {
				w.WriteHeader(code)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"yes"}}],"usage":{"prompt_tokens":%d}}`, each)
		}))
		t.Cleanup(s.Close)
		l := New(cap)
		_, used, refused := ask(t.Context(), l.Over(client(t, s.URL, 4), &even), times(12, asking(1_300))...)
		require.ErrorIs(t, refused, cost.ErrSpent)
		require.GreaterOrEqual(t, int64(l.Spent()), billed.Load(), "what is told is never less than what was billed")
		require.Equal(t, l.Spent(), used.Cost)
		require.LessOrEqual(t, l.Spent(), cost.MicroUSD(cap))
		require.Zero(t, held(l))
	}
}

func TestP9_ALostTryIsTriedAgainOnlyWithMoneyOfItsOwn(t *testing.T) {
	t.Parallel()
	address, asked := scripted(t, "lost", whole)
	l := New(2_599)
	a, err := l.Over(client(t, address, 4), &even).Chat(t.Context(), asking(1_300))
	require.ErrorIs(t, err, cost.ErrSpent)
	require.EqualValues(t, 1_300, a.Usage.Cost)
	require.EqualValues(t, 1, asked.Load())
}

func TestALostTryWaitsForMoneyThatIsSetAsideForOthers(t *testing.T) {
	t.Parallel()
	address, asked := scripted(t, "lost", whole)
	l := New(3_000)
	other := &call{ledger: l, need: 1_300}
	require.NoError(t, l.reserve(t.Context(), other))
	done := make(chan error)
	go func() {
		_, err := l.Over(client(t, address, 4), &even).Chat(t.Context(), asking(1_300))
		done <- err
	}()
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.queue) == 1
	}, 10*time.Second, time.Millisecond)
	other.settle(cost.Usage{Cost: 1}, nil, nil)
	require.NoError(t, <-done)
	require.EqualValues(t, 2, asked.Load())
	require.EqualValues(t, 1+1_300+100, l.Spent())
}

func TestATryThatReachedNobodyCostsNothing(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	l := New(2_000)
	a, err := l.Over(client(t, "http://"+closed.Addr().String(), 3), &even).Chat(t.Context(), asking(1_300))
	require.Error(t, err)
	require.Zero(t, a.Usage)
	require.Zero(t, l.Spent()+held(l))
}

func TestACancelledTryIsChargedItsBound(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does a server see that the client has gone
		cancel()
		<-r.Context().Done()
	}))
	defer s.Close()
	l := New(2_000)
	a, err := l.Over(client(t, s.URL, 3), &even).Chat(ctx, asking(1_300))
	require.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 1_300, a.Usage.Cost)
	require.EqualValues(t, 1_300, l.Spent())
}

func TestP9_ABoundCountsEveryByteThatIsSent(t *testing.T) {
	t.Parallel()
	full := llm.Request{
		System: "a", User: "b", SchemaName: "c", Schema: []byte("d"), MaxTokens: 10,
		Turns: []llm.Turn{{Role: "e", Text: "f", CallID: "g", State: []byte("h"),
			ToolCalls: []llm.Call{{ID: "i", Name: "j", Arguments: "k"}}}},
		Tools: []llm.Tool{{Name: "l", Description: "m", Schema: []byte("n")}},
	}
	require.Equal(t, 14, full.Bytes())
	require.EqualValues(t, 14+3*turnFrame+frame+toolFrame+10, Bound(full, even))
	dear := cost.Price{Input: 1_000_000, CachedInput: 2_000_000, Output: 1_000_000, CacheWrite: 3_000_000}
	require.EqualValues(t, 3*(frame+1)+5, Bound(llm.Request{User: "u", MaxTokens: 5}, dear))
}

func TestAnEstimateIsWhatCallsMostlyTake(t *testing.T) {
	t.Parallel()
	calls := []Expected{{Bytes: 4_000}, {Times: 10, Bytes: 400, Output: 20}}
	require.Equal(t, cost.Usage{Calls: 11, InputTokens: 2_000, OutputTokens: 1_400}, Estimate(calls, nil))
	require.EqualValues(t, 3_400, Estimate(calls, &even).Cost)
	require.Less(t, Estimate(calls[:1], &even).Cost,
		Bound(llm.Request{User: strings.Repeat("u", 4_000), MaxTokens: 16_384}, even))
}
