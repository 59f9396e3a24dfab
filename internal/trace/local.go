package trace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// local writes each span as one line of JSON when it ends. After a failed write it writes no more.
type local struct {
	mu  sync.Mutex
	to  io.Writer
	err error
}

// line is a span for people and for line-based programs. Ids are in hex.
type line struct {
	Time       time.Time      `json:"time"`    // of the start
	Seconds    float64        `json:"seconds"` // duration
	Name       string         `json:"name"`
	Failed     bool           `json:"failed,omitzero"`
	Trace      string         `json:"trace"`
	Span       string         `json:"span"`
	Parent     string         `json:"parent,omitzero"`
	Attributes map[string]any `json:"attributes"`
	Events     []event        `json:"events,omitempty"`
}

type event struct {
	Time       time.Time      `json:"time"`
	Name       string         `json:"name"`
	Attributes map[string]any `json:"attributes"`
}

// OnStart does nothing: a span is written as a whole.
func (l *local) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd writes a span.
func (l *local) OnEnd(s sdktrace.ReadOnlySpan) {
	written := line{
		Time: s.StartTime().UTC(), Seconds: s.EndTime().Sub(s.StartTime()).Seconds(), Name: s.Name(),
		Failed: s.Status().Code == codes.Error,
		Trace:  s.SpanContext().TraceID().String(), Span: s.SpanContext().SpanID().String(),
		Attributes: values(s.Attributes()),
	}
	if above := s.Parent().SpanID(); above.IsValid() {
		written.Parent = above.String()
	}
	for _, e := range s.Events() {
		written.Events = append(written.Events, event{Time: e.Time.UTC(), Name: e.Name,
			Attributes: values(e.Attributes)})
	}
	text, err := json.Marshal(written, json.Deterministic(true), jsontext.EscapeForHTML(false))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && err == nil {
		_, err = l.to.Write(append(text, '\n'))
	}
	l.err = cmp.Or(l.err, err)
}

// Shutdown does nothing: every line is already written.
func (l *local) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing, like Shutdown.
func (l *local) ForceFlush(context.Context) error { return nil }

func (l *local) failure() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("%w: writing the local trace: %w", ErrLost, l.err)
}

func values(all []attribute.KeyValue) map[string]any {
	m := make(map[string]any, len(all))
	for _, kv := range all {
		m[string(kv.Key)] = kv.Value.AsInterface()
	}
	return m
}
