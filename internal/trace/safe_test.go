package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
)

const hostile = "a\xff\u202e\n::error::x \x1b[2Jgeheim"

// speak makes every kind of span with hostile text in every place.
func speak(ctx context.Context) {
	ctx, file := File(ctx, hostile)
	_, tool := Tool(ctx, hostile, hostile, hostile)
	tool.Content("gen_ai.tool.call.result", hostile)
	tool.Text("problem", hostile)
	tool.End(nil)
	try, end := Call(ctx, CallStart{Task: "review", Model: hostile, Request: llm.Request{System: "S " + hostile,
		User: "U", Turns: []llm.Turn{
			{Role: "assistant", ToolCalls: []llm.Call{{ID: "1", Name: hostile, Arguments: hostile}}},
			{Role: "tool", CallID: "1", Text: hostile}}}})
	over, _ := try(ctx, 1)
	over(nil, errors.New(hostile))
	end(CallEnd{})
	try, end = Call(ctx, CallStart{Model: "ok", Request: llm.Request{User: "U " + hostile}})
	_, _ = try(ctx, 1)
	end(CallEnd{Answer: llm.Answer{Model: hostile, Finish: hostile, Usage: cost.Usage{Calls: 1}, Text: hostile}})
	_, found := Retrieval(ctx)
	found.End(errors.New(hostile))
	file.End(errors.New(hostile))
}

func redact(s string) string { return strings.ReplaceAll(s, "geheim", "<redacted>") }

func TestT9_TextFromOutsideIsSafeAndContentIsKeptBack(t *testing.T) {
	t.Parallel()
	for name, capture := range map[string]string{"without content": "", "with content": "true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, file := newReceiver(t), &bytes.Buffer{}
			ctx, stop := r.start(t, Options{Redact: redact, Local: file},
				"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", capture)
			speak(ctx)
			require.NoError(t, stop(), "broken UTF-8 in one place does not lose the batch")
			require.Len(t, r.all(t), 5)
			all := strings.Join(r.bodies, "") + file.String()
			for _, bad := range []string{"geheim", "\u202e", "\\u202e", "\x1b", "\\u001b", "\xff"} {
				require.NotContains(t, all, bad)
			}
			for _, attribute := range []string{"gen_ai.input.messages", "gen_ai.output.messages",
				"gen_ai.system_instructions", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result",
				"pr_review.error"} {
				require.Equal(t, capture == "true", strings.Contains(all, attribute), attribute)
			}
		})
	}
}

func TestMessagesHaveTheConventionsForm(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{}, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
	try, end := Call(ctx, CallStart{Model: "m", Request: llm.Request{System: "S", User: "U\nV", Turns: []llm.Turn{
		{Role: "assistant", ToolCalls: []llm.Call{{ID: "1", Name: "read_file", Arguments: "{}"}}},
		{Role: "tool", CallID: "1", Text: "R"}}}})
	_, _ = try(ctx, 1)
	end(CallEnd{Answer: llm.Answer{Finish: "stop", Usage: cost.Usage{Calls: 1}, Text: "A"}})
	require.NoError(t, stop())
	a := attributes(r.span(t, "chat m").Attributes)
	require.JSONEq(t, `[{"type":"text","content":"S"}]`, a["gen_ai.system_instructions"].(string))
	require.JSONEq(t, `[{"role":"user","parts":[{"type":"text","content":"U\nV"}]},{"role":"assistant",
		"parts":[{"type":"tool_call","id":"1","name":"read_file","arguments":"{}"}]},
		{"role":"tool","parts":[{"type":"tool_call_response","id":"1",
		"response":"R"}]}]`, a["gen_ai.input.messages"].(string))
	require.JSONEq(t, `[{"role":"assistant","parts":[{"type":"text","content":"A"}],"finish_reason":"stop"}]`,
		a["gen_ai.output.messages"].(string))
}

func TestLongContentIsCutBetweenRunes(t *testing.T) {
	t.Parallel()
	keep := &tracer{redact: func(s string) string { return s }}
	long := keep.safeText("x" + strings.Repeat("ü", maxContent))
	require.Equal(t, "x"+strings.Repeat("ü", maxContent/2-1)+"…", long)
	require.Equal(t, "short\ntext", keep.safeText("short\ntext"))
}

func TestTheLocalTraceIsALineForEachSpanInTheOrderOfTheirEnd(t *testing.T) {
	t.Parallel()
	file := &bytes.Buffer{}
	ctx, stop, err := Start(t.Context(), Options{Local: file})
	require.NoError(t, err)
	began := time.Now().Add(-time.Minute)
	ctx, run := Run(ctx, "draft", began)
	run.Number("total_cost_microusd", 44)
	drafted(ctx)
	run.End(nil)
	require.NoError(t, stop())
	rows := strings.Split(strings.TrimSpace(file.String()), "\n")
	var names []string
	spans := map[string]line{}
	for _, row := range rows {
		var l line
		require.NoError(t, json.Unmarshal([]byte(row), &l, json.RejectUnknownMembers(true)))
		names, spans[l.Name] = append(names, l.Name), l
	}
	require.Equal(t, []string{"chat m", "chat m", "execute_tool read_file", "chat m", "file", "step review",
		"run draft"}, names)
	require.Equal(t, spans["run draft"].Span, spans["step review"].Parent)
	require.Equal(t, spans["file"].Span, spans["chat m"].Parent)
	require.Empty(t, spans["run draft"].Parent)
	require.GreaterOrEqual(t, spans["run draft"].Seconds, 60.0)
	require.True(t, began.Equal(spans["run draft"].Time))
	require.InDelta(t, 44, spans["run draft"].Attributes["pr_review.total_cost_microusd"], 0)
	require.Equal(t, "00-"+spans["file"].Trace+"-"+spans["run draft"].Span+"-01", Parent(ctx))
}

type fullDisk struct{ writes int }

func (d *fullDisk) Write([]byte) (int, error) { d.writes++; return 0, os.ErrPermission }

func TestALocalTraceThatCannotBeWrittenIsOneError(t *testing.T) {
	t.Parallel()
	disk := &fullDisk{}
	ctx, stop, err := Start(t.Context(), Options{Local: disk,
		Getenv: environment("OTEL_TRACES_EXPORTER", "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")})
	require.ErrorIs(t, err, ErrSettings, "and the local trace is written all the same")
	one(ctx)
	one(ctx)
	err = stop()
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorIs(t, err, ErrLost)
	require.Equal(t, 1, disk.writes, fmt.Sprint(err))
}
