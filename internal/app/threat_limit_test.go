package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
)

// server answers every request with a handler, and counts them.
func server(t *testing.T, h http.HandlerFunc) (address string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		h(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL, asked
}

func TestT30_NoRedirectOfTheModelsAddressIsFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s := setUp(t, scene{})
			second, reached := server(t, func(http.ResponseWriter, *http.Request) {})
			first, asked := server(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, second+r.URL.Path, status)
			})
			s.draftJob().with("base-url", first+"/v1").start().is(1, "FAILED")
			require.Positive(t, asked.Load())
			require.Zero(t, reached.Load(), "the second host sees neither key nor code")
		})
	}
}

func TestT30_AddressesOfMachinesAndFilesAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://169.254.169.254/v1", "https://169.254.169.254/latest", "https://[fe80::1]/v1",
		"https://[::ffff:169.254.169.254]/v1", "https://metadata.google.internal/v1",
		"https://100.100.100.200/v1", "file:///etc/passwd", "http://model.example.com/v1",
		"https://user:pw@model.example.com/v1", "gopher://127.0.0.1/", "//model.example.com", "https://",
	} {
		t.Run(address, func(t *testing.T) {
			s := setUp(t, scene{})
			s.draftJob().with("base-url", address).start().is(2, "").says("::error::", "base-url")
			require.Zero(t, s.model.Calls())
			s.untouched()
		})
	}
}

// TestT31_AHugePullRequestAndAnEndlessAnswerEnd has more files than GitHub lists
// and a model whose answers never end; the run's cost cap holds. It is not parallel: its clock is its own.
func TestT31_AHugePullRequestAndAnEndlessAnswerEnd(t *testing.T) {
	const files = 10_000
	base := baseTree().With(githubtest.Tree{".github/pr-review.yml": "max-cost: 0.5\nprices:\n  story-1: { input: " +
		"1, output: 8 }\n"})
	head := base.With(nil)
	for i := range files {
		head[fmt.Sprintf("gen/f%05d.go", i)] = "package gen\n"
	}
	s := newStage(t, scene{base: base, head: head})
	chunk := make([]byte, 64<<10)
	for i := range chunk {
		chunk[i] = ' '
	}
	address, asked := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	began := time.Now()
	e := s.draftJob().with("base-url", address).start().is(4, "FAILED") // the cost cap's
	require.Less(t, time.Since(began), 10*time.Minute, "it ends; under the race detector that takes a minute")
	require.Less(t, asked.Load(), int32(20))
	require.Equal(t, "true", e.outputs["partial"])
	e.says("3,000 files to ask a model about", "the answer is too large").
		shows("GitHub lists 3000 of 10000 changed files", "not reached",
			"the budget was spent").shows("0 of 10,000 files reviewed")
	require.LessOrEqual(t, e.outputs["cost-usd"], "0.500000")
	require.Less(t, len(e.summary), 1<<20)
	s.untouched()
}

func TestT30_NoTraceGoesToAnAddressThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://169.254.169.254:4318", "https://[fe80::1]:4318", "file:///etc/passwd",
		"http://collector.example:4318", "https://user:geheim@collector.example"} {
		t.Run(address, func(t *testing.T) {
			s := setUp(t, scene{})
			proxy, asked := spy(t)
			e := s.draftJob().set("OTEL_EXPORTER_OTLP_ENDPOINT", address).set("HTTPS_PROXY", proxy).set("HTTP_PROXY",
				proxy).start().is(0, "PAUSED")
			e.says("::warning::", "OTEL_EXPORTER_OTLP_ENDPOINT")
			require.NotContains(t, e.log, "geheim")
			require.Zero(t, asked.Load())
		})
	}
	t.Run("redirected", func(t *testing.T) {
		s := setUp(t, scene{})
		second, reached := server(t, func(http.ResponseWriter, *http.Request) {})
		first, asked := server(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, second+r.URL.Path, http.StatusTemporaryRedirect)
		})
		s.draftJob().set("OTEL_EXPORTER_OTLP_ENDPOINT", first).set("OTEL_EXPORTER_OTLP_HEADERS",
			"x-key=geheim").start().is(0, "PAUSED")
		require.Positive(t, asked.Load())
		require.Zero(t, reached.Load())
	})
}
