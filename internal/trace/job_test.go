package trace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/llm"
)

// job is one of two processes of a run, where the environment asks for one. It
// prints what the checkpoint would carry.
func job() bool {
	kind := os.Getenv("PR_REVIEW_TRACE_JOB")
	if kind == "" {
		return false
	}
	ctx, stop, err := Start(context.Background(), Options{Getenv: os.Getenv, Version: "test"})
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	ctx, run := Run(Continue(ctx, os.Getenv("PR_REVIEW_TRACE_PARENT")), kind, time.Now())
	if kind == "draft" {
		drafted(ctx)
	} else {
		_, post := Step(ctx, "post")
		post.End(nil)
	}
	fmt.Println(Parent(ctx))
	run.End(nil)
	if err := stop(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return true
}

// drafted is a review of one file: a lost try, an answer that calls a tool, and the last one.
func drafted(ctx context.Context) {
	ctx, step := Step(ctx, "review")
	ctx, file := File(ctx, "internal/app/app.go")
	ask(ctx, llm.Answer{Model: "m-1", Finish: "tool_calls",
		Usage: cost.Usage{InputTokens: 900, CachedTokens: 100, CacheWriteTokens: 50, OutputTokens: 30, Calls: 2, Cost: 1500}},
		errors.New("connection reset"))
	_, tool := Tool(ctx, "read_file", "call-1", `{"path":"a.go"}`)
	tool.Number("bytes", 120)
	tool.End(nil)
	ask(ctx, llm.Answer{Model: "m-1", Finish: "stop",
		Usage: cost.Usage{InputTokens: 1000, OutputTokens: 50, Calls: 1, Cost: 700}})
	file.End(nil)
	step.End(nil)
}

// ask goes through tries that failed, and a last one that was answered.
func ask(ctx context.Context, answer llm.Answer, failures ...error) {
	try, done := Call(ctx, CallStart{Task: "review", Model: "m", BaseURL: "https://api.openai.com/v1",
		Request: llm.Request{MaxTokens: 4000}, Bound: 1000})
	for i, err := range append(failures, nil) {
		over, _ := try(ctx, i+1)
		if err == nil {
			over(&http.Response{StatusCode: http.StatusOK}, nil)
			continue
		}
		over(nil, err)
	}
	done(CallEnd{Answer: answer})
}

func runJob(t *testing.T, kind, parent string, environment ...string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), append(environment, "PR_REVIEW_TRACE_JOB="+kind,
		"PR_REVIEW_TRACE_PARENT="+parent)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	line, err := bufio.NewReader(strings.NewReader(string(out))).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func TestTheTraceContinuesInAnotherProcess(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	carried := runJob(t, "draft", "", "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL)
	require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, carried)
	runJob(t, "resume", carried, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL)
	for _, s := range r.all(t) {
		require.Equal(t, r.span(t, "run draft").TraceId, s.TraceId, s.Name)
	}
	above := map[string]string{"run resume": "run draft", "step review": "run draft", "file": "step review",
		"execute_tool read_file": "file", "step post": "run resume"}
	for child, parent := range above {
		require.Equal(t, r.span(t, parent).SpanId, r.span(t, child).ParentSpanId, child)
	}
	require.Empty(t, r.span(t, "run draft").ParentSpanId)
	require.Len(t, r.named("chat m"), 3)
	for _, chat := range r.named("chat m") {
		require.Equal(t, r.span(t, "file").SpanId, chat.ParentSpanId)
	}
}

func TestOnlyWhatParentWritesIsContinued(t *testing.T) {
	t.Parallel()
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	good := "00-" + trace + "-" + span + "-01"
	require.Equal(t, good, Parent(Continue(t.Context(), good)), "also where tracing is off")
	for _, bad := range []string{
		"", "x", good + "0", good + "-extra", good[:54], strings.ToUpper(good), "01" + good[2:], "ff" + good[2:],
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01", "00-" + trace + "-" + strings.Repeat("0", 16) + "-01",
		strings.Replace(good, "-", " ", 1), "00-" + trace + "\n" + span + "-01", strings.Repeat(good, 1000),
		"00-" + trace + "-" + span + "-zz",
	} {
		require.Empty(t, Parent(Continue(t.Context(), bad)), "%q", bad)
	}
}
