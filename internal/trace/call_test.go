package trace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

func TestEachBilledTryIsOneSpan(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{})
	ctx, run := Run(ctx, "draft", time.Now())
	drafted(ctx)
	run.End(nil)
	require.NoError(t, stop())
	r.all(t)
	chats := r.named("chat m")
	require.Len(t, chats, 3)
	require.Equal(t, map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.system": "openai",
		"gen_ai.request.model":      "m",
		"gen_ai.request.max_tokens": int64(4000), "server.address": "api.openai.com", "server.port": int64(443),
		"pr_review.try": int64(1), "pr_review.task": "review", "pr_review.cost_microusd": int64(1000),
		"error.type": "_OTHER",
	}, attributes(chats[0].Attributes), "a try that was lost costs its bound")
	second := attributes(chats[1].Attributes)
	require.Equal(t, int64(500), second["pr_review.cost_microusd"], "and the last one the rest")
	require.Equal(t, int64(900), second["gen_ai.usage.input_tokens"])
	require.Equal(t, int64(100), second["gen_ai.usage.cache_read.input_tokens"])
	require.Equal(t, int64(50), second["gen_ai.usage.cache_write.input_tokens"])
	require.Equal(t, int64(30), second["gen_ai.usage.output_tokens"])
	require.Equal(t, "tool_calls", second["gen_ai.response.finish_reasons"])
	require.Equal(t, "m-1", second["gen_ai.response.model"])
	require.Equal(t, tracepb.Span_SPAN_KIND_CLIENT, chats[1].Kind)
	require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, chats[0].Status.GetCode())
	require.Equal(t, int64(700), attributes(chats[2].Attributes)["pr_review.cost_microusd"])
	require.Equal(t, map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_file",
		"gen_ai.tool.type":    "function",
		"gen_ai.tool.call.id": "call-1", "pr_review.bytes": int64(120)},
		attributes(r.span(t, "execute_tool read_file").Attributes))
}

func TestTriesAreToldByWhatTheyCost(t *testing.T) {
	t.Parallel()
	status := func(code int) *http.Response { return &http.Response{StatusCode: code} }
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for name, tt := range map[string]struct {
		tries func(over func(*http.Response, error))
		end   CallEnd
		kinds []any // of the spans
		costs []int64
		event string
	}{
		"limited": {func(over func(*http.Response, error)) {
			over(status(429), nil)
			over(status(200), nil)
		}, CallEnd{Answer: llm.Answer{Usage: cost.Usage{Calls: 1, Cost: 7}}}, []any{nil}, []int64{7}, "429"},
		"lost behind a gateway": {func(over func(*http.Response, error)) {
			over(status(504), nil)
			over(status(200), nil)
		},
			CallEnd{Answer: llm.Answer{Usage: cost.Usage{Calls: 2, Cost: 107}}}, []any{"504", nil}, []int64{100, 7},
			""},
		"unreachable": {func(over func(*http.Response, error)) {
			over(nil, refused)
		}, CallEnd{Err: refused}, nil, nil, "unreachable"},
		"not begun": {func(over func(*http.Response, error)) {
			over(nil, transport.ErrNotBegun)
		}, CallEnd{Err: cost.ErrSpent}, nil, nil, ""},
		"no try": {func(func(*http.Response, error)) {}, CallEnd{Answer: llm.Answer{Usage: cost.Usage{Calls: 1}}}, []any{nil},
			[]int64{0}, ""},
		"nothing asked": {func(func(*http.Response, error)) {}, CallEnd{Err: cost.ErrSpent}, nil, nil, ""},
		"no use": {func(over func(*http.Response, error)) { over(status(200), nil); over(status(200), nil) },
			CallEnd{Answer: llm.Answer{Usage: cost.Usage{Calls: 2, Cost: 107}}}, []any{"unusable_answer", nil},
			[]int64{100, 7}, ""},
		"refused": {func(over func(*http.Response, error)) {
			over(status(200), nil)
		}, CallEnd{Err: errors.New("x"), Problem: "refusal"}, []any{"refusal"}, []int64{0}, ""},
		"slow": {func(over func(*http.Response, error)) { over(nil, fmt.Errorf("x: %w", transport.ErrTimeout)) },
			CallEnd{Answer: llm.Answer{Usage: cost.Usage{Calls: 1, Cost: 100}}, Err: transport.ErrTimeout},
			[]any{"timeout"}, []int64{100},
			""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t)
			ctx, stop := r.start(t, Options{})
			ctx, file := File(ctx, "a.go")
			try, end := Call(ctx, CallStart{Model: "m", Bound: 100})
			n := 0
			tt.tries(func(resp *http.Response, err error) {
				n++
				over, _ := try(ctx, n)
				over(resp, err)
			})
			end(tt.end)
			file.End(nil)
			require.NoError(t, stop())
			var kinds []any
			var costs []int64
			for _, s := range r.named("chat m") {
				kinds = append(kinds, attributes(s.Attributes)["error.type"])
				costs = append(costs, attributes(s.Attributes)["pr_review.cost_microusd"].(int64))
			}
			require.Equal(t, tt.kinds, kinds)
			require.Equal(t, tt.costs, costs)
			events := r.span(t, "file").Events
			if tt.event == "" {
				require.Empty(t, events)
				return
			}
			require.Equal(t, tt.event, attributes(events[0].Attributes)["error.type"])
		})
	}
}

func TestALostTryHasACostIfThePriceIsKnown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bound  cost.MicroUSD
		priced bool
		want   any
	}{"known": {100, true, int64(100)}, "of one's own server": {0, true, int64(0)}, "not known": {0, false, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t)
			ctx, stop := r.start(t, Options{})
			try, end := Call(ctx, CallStart{Model: "m", Bound: tc.bound, Priced: tc.priced})
			over, _ := try(ctx, 1)
			over(nil, fmt.Errorf("x: %w", transport.ErrTimeout))
			end(CallEnd{Err: transport.ErrTimeout})
			require.NoError(t, stop())
			require.Equal(t, tc.want, attributes(r.span(t, "chat m").Attributes)["pr_review.cost_microusd"])
		})
	}
}

func TestTheTriesOfARealClientAreSeen(t *testing.T) {
	t.Parallel()
	tries := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(model.Close)
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{})
	ctx, file := File(ctx, "a.go")
	try, end := Call(ctx, CallStart{Model: "m", BaseURL: model.URL})
	client := transport.New(transport.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	req, err := http.NewRequestWithContext(transport.EachTry(ctx, try), http.MethodGet, model.URL, nil)
	require.NoError(t, err)
	_, err = transport.Do(client, req)
	require.NoError(t, err)
	end(CallEnd{Answer: llm.Answer{Usage: cost.Usage{Calls: 1}}})
	file.End(nil)
	require.NoError(t, stop())
	client.CloseIdleConnections()
	chat := r.span(t, "chat m")
	require.Equal(t, int64(2), attributes(chat.Attributes)["pr_review.try"])
	require.Equal(t, "127.0.0.1", attributes(chat.Attributes)["server.address"])
	require.Equal(t, "503", attributes(r.span(t, "file").Events[0].Attributes)["error.type"])
}

func TestTheServerOfAModelIsTold(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com/v1": "openai api.openai.com:443", "": "openai :0", "::": "openai :0",
		"https://gateway.example/openai/deployments/d": "azure.ai.openai gateway.example:443",
		"http://LOCALHOST:8000/v1":                     "openai localhost:8000",
	} {
		provider, host, port := serverOf(base)
		require.Equal(t, want, fmt.Sprintf("%s %s:%d", provider, host, port))
	}
}
