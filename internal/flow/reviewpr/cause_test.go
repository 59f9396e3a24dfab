package reviewpr_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/trace"
)

// A reviewer that fails on a file, or panics, tells why: to the caller with the
// panic's stack, and to the file's span.
func TestG13_TheCauseOfAFailedFileIsTold(t *testing.T) {
	t.Parallel()
	var spans strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(&spans, r.Body)
	}))
	t.Cleanup(collector.Close)
	ctx, stop, err := trace.Start(t.Context(), trace.Options{Getenv: func(name string) string {
		return map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT":                        collector.URL,
			"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
		}[name]
	}})
	require.NoError(t, err)
	w := newWorld(func(_ context.Context, f diff.File) (finding.FileReview, error) {
		if f.Path == "panic.go" {
			panic("the index is out of reach")
		}
		return finding.FileReview{}, errors.New("the disk is full")
	}, "error.go", "panic.go")
	w.concurrency, w.causes = 1, map[string]error{}
	ctx, run := trace.Run(ctx, "review", time.Now())
	_, err = w.flow(t).Run(ctx, w.change.Thread, w.draft())
	require.NoError(t, err)
	run.End(nil)
	require.NoError(t, stop())

	require.EqualError(t, w.causes["error.go"], "the disk is full")
	crash, ok := errors.AsType[*graph.PanicError](w.causes["panic.go"])
	require.True(t, ok)
	require.Contains(t, string(crash.Stack), "cause_test.go", "the stack leads to where it panicked")
	require.Contains(t, spans.String(), "the disk is full")
	require.Contains(t, spans.String(), "panic: the index is out of reach")
}
