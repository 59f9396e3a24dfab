package trace

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/transport"
)

// CallStart is a question to a model. Its conversation is recorded if content was requested.
type CallStart struct {
	llm.Request
	Task    string        // the task: classify, review, verify, …
	BaseURL string        // of the server; host and port are recorded; empty for none
	Model   string        // the requested model
	Bound   cost.MicroUSD // charged for a try whose answer was lost
	Priced  bool          // whether Bound is known, be it zero
}

// CallEnd is the outcome of a call. The answer's usage covers all tries and is priced, even with an error; its
// texts are untrusted.
type CallEnd struct {
	llm.Answer
	Err     error
	Problem string // the kind of Err in a word; Kind's if empty
}

// Call records a question to a model, with one span, a child of the context's, for each try that was billed. The
// first function is for transport.EachTry, outside all other hooks; the second must be called once, with the answer
// or the error. A try that cost nothing becomes an event of the context's span. If no try was seen but Usage counts
// calls, the model is not on the network, and one span covers them all.
func Call(ctx context.Context, q CallStart) (try transport.BeginFunc, end func(CallEnd)) {
	t := tracerFrom(ctx)
	if t == nil {
		return func(context.Context, int) (func(*http.Response, error), error) {
			return func(*http.Response, error) {}, nil
		}, func(CallEnd) {}
	}
	c := &call{tracer: t, CallStart: q, ctx: ctx, began: time.Now()}
	return c.try, c.end
}

type withheldKey struct{}

// Withheld returns a context in which the spans of calls contain neither question nor answer, whatever the settings
// request: the content may not leave the job.
func Withheld(ctx context.Context) context.Context {
	return context.WithValue(ctx, withheldKey{}, true)
}

// call is one question and its tries.
type call struct {
	*tracer
	CallStart
	ctx   context.Context // whose span is the tries' parent
	began time.Time

	mu       sync.Mutex
	answered *attempt // the last try, if it succeeded
	tries    int
	lost     cost.MicroUSD // charged for tries without a usable answer
}

// attempt is one try. Its span is made once it is known to be billed.
type attempt struct {
	number       int
	began, ended time.Time
}

func (c *call) try(_ context.Context, number int) (func(*http.Response, error), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered != nil { // billed, and of no use
		c.lose(c.answered, "unusable_answer")
		c.answered = nil
	}
	a := &attempt{number: number, began: time.Now()}
	return func(resp *http.Response, err error) { c.endTry(a, resp, err) }, nil
}

// endTry tells the tries that are billed from the others, as a budget does.
func (c *call) endTry(a *attempt, resp *http.Response, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.ended = time.Now()
	switch {
	case errors.Is(err, transport.ErrNotBegun):
	case err == nil && resp.StatusCode/100 == 2:
		c.tries++
		c.answered = a
	case transport.Lost(resp, err):
		kind := Kind(err)
		if err == nil {
			kind = strconv.Itoa(resp.StatusCode)
		}
		c.tries++
		c.lose(a, kind)
	case err == nil:
		c.event(a, strconv.Itoa(resp.StatusCode))
	default:
		c.event(a, "unreachable")
	}
}

func (c *call) lose(a *attempt, kind string) {
	c.lost += c.Bound
	u := cost.Usage{Cost: c.Bound}
	if !c.Priced {
		u.Unpriced = 1
	}
	c.span(a, CallEnd{Answer: llm.Answer{Usage: u}, Problem: kind})
}

func (c *call) event(a *attempt, kind string) {
	oteltrace.SpanFromContext(c.ctx).AddEvent("try not billed", oteltrace.WithTimestamp(a.ended),
		oteltrace.WithAttributes(semconv.ErrorTypeKey.String(kind), attribute.Int(prefix+"try", a.number)))
}

// end charges the last try with what the others were not charged.
func (c *call) end(e CallEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered == nil && c.tries == 0 && e.Usage.Calls > 0 {
		c.answered = &attempt{number: 1, began: c.began, ended: time.Now()}
	}
	if c.answered == nil {
		return
	}
	e.Usage.Cost = max(0, e.Usage.Cost-c.lost)
	if e.Err != nil {
		e.Problem = cmp.Or(e.Problem, Kind(e.Err))
	}
	c.span(c.answered, e)
	c.answered = nil
}

// span makes the span of a billed try, which is over by now.
func (c *call) span(a *attempt, e CallEnd) {
	model := c.safe(c.Model)
	_, span := c.Start(c.ctx, "chat "+model, oteltrace.WithTimestamp(a.began),
		oteltrace.WithSpanKind(oteltrace.SpanKindClient), oteltrace.WithAttributes(c.requestAttributes(a, model)...))
	s := &Span{from: c.tracer, span: span}
	s.set(c.responseAttributes(e)...)
	if c.content && c.ctx.Value(withheldKey{}) == nil {
		c.messages(s, e)
	}
	s.Problem(e.Problem)
	span.End(oteltrace.WithTimestamp(a.ended))
}

// messages sets the attributes with the conversation.
func (c *call) messages(s *Span, e CallEnd) {
	turns := []chatMessage{{Role: string(llm.RoleUser), Parts: c.parts(llm.Turn{Text: c.User})}}
	for _, t := range c.Turns {
		turns = append(turns, chatMessage{Role: string(t.Role), Parts: c.parts(t)})
	}
	s.json("gen_ai.system_instructions", c.parts(llm.Turn{Text: c.System}))
	s.json("gen_ai.input.messages", turns)
	if said := c.parts(llm.Turn{Text: e.Text, ToolCalls: e.ToolCalls}); len(said) > 0 {
		s.json("gen_ai.output.messages", []chatMessage{{Role: string(llm.RoleAssistant), Parts: said,
			Finish: c.safe(e.Finish)}})
	}
}

// requestAttributes returns the attributes of the question.
// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
func (c *call) requestAttributes(a *attempt, model string) []attribute.KeyValue {
	provider, host, port := serverOf(c.BaseURL)
	all := []attribute.KeyValue{
		semconv.GenAIOperationNameChat, semconv.GenAIRequestModel(model), semconv.GenAIProviderNameKey.String(provider),
		attribute.String("gen_ai.system", provider), // the provider's name before 1.37, which receivers still read
		attribute.Int(prefix+"try", a.number),
	}
	if host != "" {
		all = append(all, semconv.ServerAddress(host), semconv.ServerPort(port))
	}
	if c.MaxTokens > 0 {
		all = append(all, semconv.GenAIRequestMaxTokens(c.MaxTokens))
	}
	if c.Task != "" {
		all = append(all, attribute.String(prefix+"task", c.Task))
	}
	return all
}

// responseAttributes returns the attributes of the answer. The names for parts of the tokens are newer than the rest.
func (c *call) responseAttributes(e CallEnd) []attribute.KeyValue {
	u := e.Usage
	var all []attribute.KeyValue
	if known := u.Known(); known != nil {
		all = append(all, attribute.Int64(prefix+"cost_microusd", int64(*known)))
	}
	if e.Model != "" {
		all = append(all, semconv.GenAIResponseModel(c.safe(e.Model)))
	}
	if e.Finish != "" {
		all = append(all, semconv.GenAIResponseFinishReasons(c.safe(e.Finish)))
	}
	if u.Tokens() > 0 {
		all = append(all,
			attribute.Int64(string(semconv.GenAIUsageInputTokensKey), u.InputTokens),
			attribute.Int64(string(semconv.GenAIUsageOutputTokensKey), u.OutputTokens),
			attribute.Int64("gen_ai.usage.cache_read.input_tokens", u.CachedTokens),
			attribute.Int64("gen_ai.usage.cache_write.input_tokens", u.CacheWriteTokens),
			attribute.Int64("gen_ai.usage.reasoning.output_tokens", u.ReasoningTokens))
	}
	return all
}

// serverOf returns the provider, host and port of a model's address. Every such server speaks OpenAI's interface,
// whose name the convention wants for an unknown provider.
func serverOf(base string) (provider, host string, port int) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "openai", "", 0
	}
	host, port = strings.ToLower(u.Hostname()), 443
	if u.Scheme == "http" {
		port = 80
	}
	if n, err := strconv.Atoi(u.Port()); err == nil {
		port = n
	}
	if strings.Contains(u.Path, "/openai/deployments/") {
		return "azure.ai.openai", host, port
	}
	return "openai", host, port
}

// chatMessage is a message in the convention's form.
// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-input-messages.json
type chatMessage struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitzero"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitzero"`
	ID        string `json:"id,omitzero"`
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments,omitzero"`
	Response  string `json:"response,omitzero"`
}

func (t *tracer) parts(m llm.Turn) []part {
	all := []part{}
	switch {
	case m.CallID != "":
		return append(all, part{Type: "tool_call_response", ID: t.safe(m.CallID), Response: t.safeText(m.Text)})
	case m.Text != "":
		all = append(all, part{Type: "text", Content: t.safeText(m.Text)})
	}
	for _, a := range m.ToolCalls {
		all = append(all, part{Type: "tool_call", ID: t.safe(a.ID), Name: t.safe(a.Name),
			Arguments: t.safeText(a.Arguments)})
	}
	return all
}

// json sets an attribute whose texts are safe already.
func (s *Span) json(key string, value any) {
	text, _ := json.Marshal(value) // plain structs of valid UTF-8: it cannot fail
	s.set(attribute.String(key, string(text)))
}
