package llm

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/transport"
)

type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func TestT5_EveryTryIsALineWithoutKeyHeaderOrContent(t *testing.T) {
	t.Parallel()
	failed := llmtest.Answer{Status: 503, Text: "down, sk-secret-value",
		Header: http.Header{"X-Request-Id": {"req_1 \xe2\x80\xae::error::"}}}
	server := llmtest.Start(t, llmtest.Each(failed, llmtest.Answer{Text: `{"x":"content"}`,
		Header: http.Header{"X-Request-Id": {"req_2"}}}, llmtest.Answer{Drop: true}))
	log := &lines{}
	none := func() float64 { return 0 }
	c, err := New(Options{
		BaseURL: server.URL, Key: "sk-secret-value", Model: "m", Log: log.add,
		ModelOptions: config.ModelOptions{Headers: map[string]string{"X-Team": "team-value"}},
		HTTP: transport.New(transport.Options{Tries: 2, Jitter: none, Retry: func(*http.Request) bool {
			return true
		}}),
	})
	require.NoError(t, err)
	_, err = c.Chat(t.Context(), Request{System: "system-text", User: "user-text", MaxTokens: 100})
	require.NoError(t, err)
	require.Len(t, log.all, 2)
	require.Regexp(t, `^POST 127\.0\.0\.1:\d+/v1/chat/completions, try 1: 503, request req_1 .*, \d+ ms$`, log.all[0])
	require.Regexp(t, `^POST 127\.0\.0\.1:\d+/v1/chat/completions, try 2: 200, request req_2, \d+ tokens in \(0`+
		` cached\), \d+ out, \d+ ms$`, log.all[1])
	_, err = c.Chat(t.Context(), question)
	require.Error(t, err)
	require.Contains(t, log.all[2], "try 1: no answer: ")
	for _, line := range log.all {
		for _, hidden := range []string{"secret", "team-value", "-text", "content", "\u202e", "\n", "down"} {
			require.NotContains(t, line, hidden)
		}
	}
}

func TestATryThatWasNotMadeIsNoLine(t *testing.T) {
	t.Parallel()
	log := &lines{}
	c := to(t, serve(t, reply{body: said}), func(o *Options) { o.Log = log.add })
	spent := errors.New("no money")
	ctx := transport.EachTry(t.Context(), func(context.Context, int) (func(*http.Response, error), error) {
		return nil, spent
	})
	_, err := c.Chat(ctx, question)
	require.ErrorIs(t, err, spent)
	require.Empty(t, log.all)
}

func TestWithoutALogNothingIsDoneForOne(t *testing.T) {
	t.Parallel()
	c := to(t, serve(t, reply{body: said}))
	require.Equal(t, t.Context(), c.watch(t.Context(), nil))
}

func TestEveryTryWaitsForTheLimiter(t *testing.T) {
	t.Parallel()
	var active, most atomic.Int32
	server := llmtest.Start(t, func(llmtest.Request) llmtest.Answer {
		if active.Add(1) > 2 {
			most.Store(active.Load())
		}
		time.Sleep(10 * time.Millisecond)
		active.Add(-1)
		return llmtest.Answer{Text: "{}"}
	})
	c, err := New(Options{
		BaseURL: server.URL, Model: "m", HTTP: transport.New(transport.Options{}),
		Limiter: limit.New(limit.Options{Concurrency: 2}),
	})
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := c.Chat(t.Context(), question)
			require.NoError(t, err)
		})
	}
	all.Wait()
	require.Equal(t, 20, server.Calls())
	require.Zero(t, most.Load(), "more than two at one time")
}

func TestTokensOfARequestAreItsInputAndItsLimit(t *testing.T) {
	t.Parallel()
	r := Request{System: "12345678", User: "1234", MaxTokens: 5}
	require.EqualValues(t, 103, r.tokens(100))
	r.Turns = []Turn{{Text: "1234", State: []byte("1234"), ToolCalls: []Call{{Name: "12", Arguments: "12"}}}}
	r.Tools = []Tool{{Name: "12", Description: "12", Schema: []byte("1234")}}
	require.EqualValues(t, 108, r.tokens(100))
}
