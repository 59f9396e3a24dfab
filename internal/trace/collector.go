package trace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wording"
)

// ErrLost reports that a trace did not arrive whole.
var ErrLost = errors.New("the trace is not complete")

const maxReason = 300 // runes of a failure's text

// collector sends spans to an OTLP receiver over HTTP. It collects its failures until the
// end: the SDK would write each to standard error.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type collector struct {
	settings
	http *http.Client
	run  context.Context // ends when the run stops waiting

	mu    sync.Mutex
	spans int // that did not arrive
	first error
}

// Shutdown closes idle connections.
func (c *collector) Shutdown(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// ExportSpans sends one batch. lost returns its failures.
func (c *collector) ExportSpans(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	if err := c.send(ctx, batch); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.spans += len(batch)
		c.first = cmp.Or(c.first, err)
	}
	return nil
}

func (c *collector) send(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	defer context.AfterFunc(c.run, cancel)()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(traces(batch)))
	if err != nil {
		return errors.New("the request could not be made") // the error would contain the address's query
	}
	req.Header = c.headers.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	_, err = transport.Do(c.http, req)
	switch {
	case err == nil:
		return nil
	case c.run.Err() != nil:
		return fmt.Errorf("%s did not take them within %v of the run's end", c.host, grace)
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not answer within %s", c.host, wording.Span(c.timeout))
	}
	return errors.New(guard.Line(err.Error(), maxReason))
}

// lostError returns one error for all that did not arrive, or nil.
func (c *collector) lostError() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		return nil
	}
	return fmt.Errorf("%w: the collector has not got %d spans: %w", ErrLost, c.spans, c.first)
}

// grace bounds how long the end of a run waits for the collector.
const grace = 3 * time.Second
