package trace

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/transport"
)

// prefix is the prefix of the attributes for which no convention has a name.
const prefix = "pr_review."

const (
	maxText    = 1000      // runes of a plain attribute
	maxContent = 256 << 10 // bytes of one message, if content was requested
)

// Span is a piece of work in progress. Methods of a nil Span, which stands for disabled tracing, do nothing.
type Span struct {
	from *tracer
	span oteltrace.Span
}

// Run begins the span of one process's part of a run, at a start that may have passed; mode is review, resume and the
// like. The span is the root, or a child of the span from Continue.
func Run(ctx context.Context, mode string, began time.Time) (context.Context, *Span) {
	if tracerFrom(ctx) == nil {
		return ctx, nil
	}
	ctx, s := begin(ctx, "run ", mode, oteltrace.WithTimestamp(began))
	s.Text("mode", mode)
	return ctx, s
}

// Step begins the span of a node of the graph.
func Step(ctx context.Context, node string) (context.Context, *Span) {
	ctx, s := begin(ctx, "step ", node)
	s.Text("step", node)
	return ctx, s
}

// Gate begins the span of taking a person's decision; Decided ends it.
func Gate(ctx context.Context) (context.Context, *Span) {
	ctx, s := begin(ctx, "gate", "")
	s.Text("step", "gate")
	return ctx, s
}

// Decided ends the span of a gate with its decision, or with the reason why there was none.
func (s *Span) Decided(decision string, err error) {
	if err == nil {
		s.Text("decision", decision)
	}
	s.End(err)
}

// File begins the span of one changed file's review. The path is untrusted text.
func File(ctx context.Context, path string) (context.Context, *Span) {
	ctx, s := begin(ctx, "file", "")
	s.Text("file.path", path)
	return ctx, s
}

// Retrieval begins the span of a search in the repository's index.
func Retrieval(ctx context.Context) (context.Context, *Span) {
	ctx, s := begin(ctx, "retrieval", "")
	s.set(semconv.GenAIOperationNameKey.String("retrieval"))
	return ctx, s
}

// Retrieved sets the outcome of a search: the query, empty if it may not be recorded, and the lists of hits, each as
// place and score, best first. All of it is untrusted text.
func (s *Span) Retrieved(query string, lexical, vector, rerank []string, cached bool) {
	if s == nil {
		return
	}
	s.set(attribute.Bool("retrieval.cached", cached))
	if query != "" {
		s.set(attribute.String("retrieval.query", s.from.safe(query)))
	}
	for key, hits := range map[string][]string{"retrieval.lexical": lexical, "retrieval.vector": vector,
		"retrieval.rerank": rerank} {
		for i := range hits {
			hits[i] = s.from.safe(hits[i])
		}
		s.set(attribute.StringSlice(key, hits))
	}
}

// Tool begins the span of a tool that a model called. Name, id and arguments are untrusted text; the arguments are
// kept if content was requested.
func Tool(ctx context.Context, name, id, arguments string) (context.Context, *Span) {
	t := tracerFrom(ctx)
	if t == nil {
		return ctx, nil
	}
	name = t.safe(name)
	ctx, s := begin(ctx, "execute_tool ", name)
	s.set(semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(name), semconv.GenAIToolType("function"))
	if id != "" {
		s.set(semconv.GenAIToolCallID(t.safe(id)))
	}
	s.Content("gen_ai.tool.call.arguments", arguments)
	return ctx, s
}

// begin joins the name's parts late: with tracing off, nothing is allocated.
func begin(ctx context.Context, kind, name string, o ...oteltrace.SpanStartOption) (context.Context, *Span) {
	t := tracerFrom(ctx)
	if t == nil {
		return ctx, nil
	}
	ctx, span := t.Start(ctx, kind+name, o...)
	return ctx, &Span{from: t, span: span}
}

// Text sets an attribute of ours, pr_review.key. The value may be untrusted.
func (s *Span) Text(key, value string) {
	if s != nil {
		s.set(attribute.String(prefix+key, s.from.safe(value)))
	}
}

// Number sets an attribute of ours, pr_review.key.
func (s *Span) Number(key string, value int64) { s.set(attribute.Int64(prefix+key, value)) }

// Float sets an attribute of ours, pr_review.key.
func (s *Span) Float(key string, value float64) { s.set(attribute.Float64(prefix+key, value)) }

// Stages holds spans of the parts of a step, which may overlap.
type Stages struct {
	ctx  context.Context
	open map[string]*Span
}

// NewStages returns the stages of the step whose span is in ctx.
func NewStages(ctx context.Context) *Stages { return &Stages{ctx: ctx, open: map[string]*Span{}} }

// Now ends the spans of all parts that names lacks, and begins those that are new in it.
func (s *Stages) Now(names ...string) {
	for name, span := range s.open {
		if !slices.Contains(names, name) {
			span.End(nil)
			delete(s.open, name)
		}
	}
	for _, name := range names {
		if _, open := s.open[name]; !open {
			_, s.open[name] = begin(s.ctx, "", name)
		}
	}
}

// Content sets an attribute of the convention that holds text of a prompt, an answer or a tool, if content was
// requested.
func (s *Span) Content(key, value string) {
	if s != nil && s.from.content {
		s.set(attribute.String(key, s.from.safeText(value)))
	}
}

// Problem marks the work as failed, in our own words.
func (s *Span) Problem(kind string) {
	if s != nil && kind != "" {
		s.set(semconv.ErrorTypeKey.String(s.from.safe(kind)))
		s.span.SetStatus(codes.Error, "")
	}
}

// Kind reduces an error to a word for error.type, equal for errors that differ only in names and numbers.
func Kind(err error) string {
	var status *transport.StatusError
	var slow interface{ Timeout() bool }
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, transport.ErrTimeout), errors.As(err, &slow) && slow.Timeout():
		return "timeout"
	case errors.Is(err, cost.ErrSpent), errors.Is(err, cost.ErrFileSpent):
		return "budget"
	case errors.As(err, &status):
		return strconv.Itoa(status.Code)
	}
	return "_OTHER"
}

// End ends the span, as failed if err is not nil. The error's text counts as content.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.Problem(Kind(err))
		s.Content(prefix+"error", err.Error())
	}
	s.span.End()
}

func (s *Span) set(all ...attribute.KeyValue) {
	if s != nil {
		s.span.SetAttributes(all...)
	}
}

// safe returns outside text as one safe line. Broken UTF-8 would lose the whole batch.
func (t *tracer) safe(s string) string { return guard.Line(t.redact(s), maxText) }

// safeText returns outside text made safe, with its line breaks.
func (t *tracer) safeText(s string) string {
	s = guard.Text(t.redact(s))
	if len(s) <= maxContent {
		return s
	}
	return guard.CutBytes(s, maxContent) + "…"
}
