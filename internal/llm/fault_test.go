package llm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/transport"
)

// TestMain lets more tests run at a time than there are processors: most of what they take is waits.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	m.Run()
}

// tries is how often a request is sent at most.
const tries = 3

// fault is a row of the fault table.
type fault struct {
	name   string
	kind   llmtest.Kind
	faults []llmtest.Fault // one per request; after the last all is well
	always llmtest.Fault   // in place of them

	requests int           // that the server sees
	waits    time.Duration // at least, between them
	billed   int64         // answers that the server billed
	counted  int64         // of these that the caller is told of
	blind    bool          // but not how many tokens they took
	err      error         // that the caller gets, or
	status   int           // the code of its *llm.StatusError
	call     string        // the tool that the caller is to run
}

func faultTable() []fault {
	f := llmtest.Faults()
	one := func(f llmtest.Fault) []llmtest.Fault { return []llmtest.Fault{f} }
	slowDown := llmtest.Failing(http.StatusTooManyRequests, "Retry-After: 20")
	bare := llmtest.Failing(http.StatusTooManyRequests)
	down := llmtest.Failing(http.StatusInternalServerError)
	return []fault{
		{name: "429 with Retry-After: 20, once", faults: one(slowDown), requests: 2, waits: 20 * time.Second, billed: 1,
			counted: 1},
		{name: "429 with retry-after-ms: 2700, once", faults: one(llmtest.Failing(429, "retry-after-ms: 2700")),
			requests: 2, waits: 2700 * time.Millisecond, billed: 1, counted: 1},
		{name: "429 without a time, once", faults: one(bare), requests: 2, waits: time.Second, billed: 1, counted: 1},
		{name: "429 without a time, for ever", always: bare, requests: tries, waits: 3 * time.Second, status: 429},
		{name: "429 with Retry-After: 86400", always: llmtest.Failing(429, "Retry-After: 86400"), requests: 1,
			status: 429},
		{name: "500 once", faults: one(down), requests: 2, billed: 1, counted: 1},
		{name: "500 for ever", always: down, requests: tries, status: 500},
		{name: "502 with a web page, once", faults: one(llmtest.Page(502)), requests: 2, billed: 1, counted: 1},
		{name: "502 with a web page, for ever", always: llmtest.Page(502), requests: tries, status: 502},
		{name: "401", always: llmtest.Failing(401), requests: 1, status: 401},
		{name: "400 in no known words", always: llmtest.Failing(400), requests: 1, status: 400},
		{name: "connection reset, once", faults: one(f["reset"]), requests: 2, billed: 2, counted: 1},
		{name: "connection reset, for ever", always: f["reset"], requests: tries, billed: tries, err: errLost},
		{name: "connection closed, once", faults: one(f["drop"]), requests: 2, billed: 2, counted: 1},
		{name: "stall within the answer, once", faults: one(f["stall"]), requests: 2, billed: 2, counted: 1},
		{name: "stall within the answer, for ever", always: f["stall"], requests: tries, billed: tries,
			err: transport.ErrTimeout},
		{name: "no answer in time, for ever", always: f["late"], requests: tries, billed: tries,
			err: transport.ErrTimeout},
		{name: "truncated JSON, once", faults: one(f["truncated-json"]), requests: 2, billed: 2, counted: 1},
		{name: "truncated JSON, for ever", always: f["truncated-json"], requests: 2, billed: 2, err: llm.ErrNotChat},
		{name: "200 with a web page, once", faults: one(llmtest.Page(200)), requests: 2, billed: 2, counted: 1},
		{name: "200 with a web page, for ever", always: llmtest.Page(200), requests: 2, billed: 2, counted: 1,
			blind: true,
			err:   llm.ErrPage},
		{name: "wrong types", always: f["wrong-types"], requests: 1, billed: 1, counted: 1, blind: true,
			err: llm.ErrNotChat},
		{name: "wrong types, Responses", kind: llmtest.Responses, always: f["wrong-types"], requests: 1, billed: 1,
			counted: 1, blind: true, err: llm.ErrNotChat},
		{name: "no choices", always: f["no-choices"], requests: 1, billed: 1, counted: 1, err: llm.ErrEmpty},
		{name: "no output, Responses", kind: llmtest.Responses, always: f["no-choices"], requests: 1, billed: 1,
			counted: 1, err: llm.ErrEmpty},
		{name: "empty text", always: f["empty"], requests: 1, billed: 1, counted: 1, err: llm.ErrEmpty},
		{name: "refusal", always: f["refusal"], requests: 1, billed: 1, counted: 1, err: llm.ErrRefused},
		{name: "refusal, Responses", kind: llmtest.Responses, always: f["refusal"], requests: 1, billed: 1, counted: 1,
			err: llm.ErrRefused},
		{name: "content filter on the answer", kind: llmtest.Azure, always: f["content-filter"], requests: 1, billed: 1,
			counted: 1, err: llm.ErrRefused},
		{name: "content filter on the answer, Responses", kind: llmtest.Responses, always: f["content-filter"],
			requests: 1, billed: 1, counted: 1, err: llm.ErrRefused},
		{name: "content filter on the prompt", kind: llmtest.Azure, always: f["input-filter"], requests: 1,
			err: llm.ErrRefused},
		{name: "length stop", always: f["length"], requests: 1, billed: 1, counted: 1, err: llm.ErrTruncated},
		{name: "length stop, Responses", kind: llmtest.Responses, always: f["length"], requests: 1, billed: 1,
			counted: 1, err: llm.ErrTruncated},
		{name: "tool call with bad arguments", always: f["bad-arguments"], requests: 1, billed: 1, counted: 1,
			call: "read_file"},
		{name: "call of an unknown tool", always: f["unknown-tool"], requests: 1, billed: 1, counted: 1,
			call: "run_shell"},
		{name: "tool calls without end", always: f["endless-calls"], requests: 1, billed: 1, counted: 1,
			call: "read_file"},
		{name: "answer of 10 MB", always: f["huge"], requests: 1, billed: 1, err: transport.ErrTooLarge},
		{name: "answer without usage", always: f["no-usage"], requests: 1, billed: 1, counted: 1, blind: true},
	}
}

// errLost is in the table for a connection's own error.
var errLost = errors.New("the connection's own error")

func TestFaultTable(t *testing.T) {
	t.Parallel()
	table := faultTable()
	rows := make([]string, len(table))
	t.Run("rows", func(t *testing.T) {
		for i, row := range table {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				rows[i] = row.run(t)
			})
		}
	})
	t.Log("\n| fault | requests | waited at least | billed | told to the caller | the caller gets " +
		"|\n|---|---|---|---|---|---|\n" + strings.Join(rows, "\n"))
}

// run holds one row and returns it as Markdown.
func (f fault) run(t *testing.T) string {
	t.Helper()
	script := llmtest.Faulty(llmtest.Honest, f.faults...)
	if f.always != nil {
		script = llmtest.Constantly(f.always, llmtest.Honest)
	}
	server := llmtest.Start(t, script, llmtest.As(f.kind))
	waits := &clock{}
	c, err := llm.New(llm.Options{BaseURL: server.URL, Model: "m", HTTP: waits.client(f.patience())})
	require.NoError(t, err)
	answer, err := c.Chat(t.Context(), reviewOf(readFile))
	got := f.check(t, answer, err)
	require.Equal(t, f.requests, server.Calls())
	require.GreaterOrEqual(t, waits.sum(), f.waits)
	require.Equal(t, f.billed, server.Bill().Calls)
	require.Equal(t, f.counted, answer.Usage.Calls)
	require.Equal(t, f.counted == 0 || f.blind, answer.Usage.InputTokens == 0)
	told := fmt.Sprint(f.counted)
	if f.blind {
		told += ", without tokens"
	}
	return fmt.Sprintf("| %s | %d | %v | %d | %s | %s |", f.name, f.requests, f.waits, f.billed, told, got)
}

// check holds what the caller gets, and names it.
func (f fault) check(t *testing.T, answer llm.Answer, err error) string {
	t.Helper()
	switch {
	case f.status != 0:
		failed, ok := errors.AsType[*llm.StatusError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, f.status, failed.Code)
		require.NotContains(t, failed.Error(), "<html>")
		require.NotEmpty(t, failed.Next())
		return fmt.Sprintf("StatusError %d: %s", f.status, failed.Next())
	case f.err == errLost:
		require.Error(t, err)
		require.True(t, transport.Sent(err), "it may have been billed: %v", err)
		return "the connection's error"
	case f.err != nil:
		require.ErrorIs(t, err, f.err)
		return f.err.Error()
	}
	require.NoError(t, err)
	if f.call != "" {
		require.Len(t, answer.ToolCalls, 1)
		require.Equal(t, f.call, answer.ToolCalls[0].Name)
		require.NotEmpty(t, answer.ToolCalls[0].ID)
		return "a call of " + f.call + ", which the tools' package checks"
	}
	require.Equal(t, wanted, answer.Text)
	return "the answer"
}

// patience is the time that a try has: little for a server that never answers.
func (f fault) patience() time.Duration {
	if strings.Contains(f.name, "stall") || strings.Contains(f.name, "in time") {
		return 2 * time.Second // the next try is answered in it
	}
	return 30 * time.Second
}

// clock keeps how long a client wanted to wait, and does not wait.
type clock struct {
	mu    sync.Mutex
	total time.Duration
}

func (c *clock) client(patience time.Duration) *http.Client {
	return transport.New(transport.Options{
		Timeout: patience, Tries: tries, Backoff: time.Second, LimitWait: time.Second, Jitter: func() float64 {
			return 0.5
		},
		Retry: func(*http.Request) bool { return true },
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.total += d
			return ctx.Err()
		},
	})
}

func (c *clock) sum() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

func TestFault_ARateThatTheServerDoesNotTellOfIsLearned(t *testing.T) {
	t.Parallel()
	// the more calls start before the first refusal, the higher is the rate that they teach
	const perMinute, files = 120, 124
	bucket, calls, limited := rate.NewLimiter(rate.Every(time.Minute/perMinute), 1), atomic.Int64{}, atomic.Int64{}
	server := llmtest.Start(t, func(r llmtest.Request) llmtest.Answer {
		if calls.Add(1) < perMinute || bucket.Allow() { // the first minute's calls, however long they take here
			return llmtest.Honest(r)
		}
		limited.Add(1)
		return llmtest.Answer{Status: http.StatusTooManyRequests, Text: "Rate limit reached", Code: "rate_limit_exceeded"}
	})
	c, err := llm.New(llm.Options{
		BaseURL: server.URL, Model: "m", Limiter: limit.New(limit.Options{Concurrency: 8}),
		HTTP: transport.New(transport.Options{
			Tries: 12, Backoff: 20 * time.Millisecond, LimitWait: 50 * time.Millisecond,
			Retry: func(*http.Request) bool {
				return true
			},
		}),
	})
	require.NoError(t, err)
	var all sync.WaitGroup
	failed := make([]error, files)
	for i := range files {
		all.Go(func() { _, failed[i] = c.Chat(t.Context(), reviewOf()) })
	}
	all.Wait()
	require.NoError(t, errors.Join(failed...))
	require.EqualValues(t, files, int64(server.Calls())-limited.Load())
	require.Positive(t, limited.Load(), "the rate was never met")
	t.Logf("%d of %d requests were turned away", limited.Load(), server.Calls())
}
