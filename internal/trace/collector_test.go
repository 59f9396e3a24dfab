package trace

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const collectorConfig = `
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {file: {path: %q}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines: {traces: {receivers: [otlp], exporters: [file]}}
`

// startCollector starts a real collector, which .ci/trace builds, and gives its
// address and the function that ends it and reads what it kept.
func startCollector(t *testing.T) (address string, kept func() *receiver) {
	t.Helper()
	program := os.Getenv("PR_REVIEW_COLLECTOR")
	if program == "" {
		t.Skip("no collector: .ci/trace builds one")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = listener.Addr().String()
	require.NoError(t, listener.Close())
	out := filepath.Join(t.TempDir(), "spans.json")
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, collectorConfig, address, out), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "--config", "file:"+config)
	said := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = said, said
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, 20*time.Second, 50*time.Millisecond, "the collector listens")
	return address, func() *receiver {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait(), said)
		text, err := os.ReadFile(out)
		require.NoError(t, err)
		r := &receiver{resource: map[string]string{}}
		for row := range strings.Lines(string(text)) {
			r.take("application/json", []byte(row))
		}
		return r
	}
}

func TestARealCollectorGetsOneTraceOfTwoJobs(t *testing.T) {
	t.Parallel()
	address, kept := startCollector(t)
	endpoint := "OTEL_EXPORTER_OTLP_ENDPOINT=http://" + address
	runJob(t, "resume", runJob(t, "draft", "", endpoint), endpoint)
	r := kept()
	require.Len(t, r.all(t), 9)
	root := r.span(t, "run draft")
	for _, s := range r.all(t) {
		require.Equal(t, root.TraceId, s.TraceId, s.Name)
	}
	require.Equal(t, root.SpanId, r.span(t, "run resume").ParentSpanId)
	require.Equal(t, "pr-review", r.resource["service.name"])
	t.Logf("%d spans of one trace arrived", len(r.spans))
}
