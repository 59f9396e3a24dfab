package trace

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/org/pr-review-action/internal/transport"
)

func TestMain(m *testing.M) {
	if job() {
		return
	}
	goleak.VerifyTestMain(m)
}

func TestASpanArrives(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{Version: "1.2.3"},
		"OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%20b,authorization=Basic%20eDp5")
	ctx, run := Run(ctx, "review", time.Now())
	_, file := File(ctx, "a.go")
	file.End(errors.New("no luck"))
	run.End(nil)
	require.NoError(t, stop())
	require.Len(t, r.all(t), 2)
	parent, child := r.span(t, "run review"), r.span(t, "file")
	require.Equal(t, parent.SpanId, child.ParentSpanId)
	require.Equal(t, parent.TraceId, child.TraceId)
	require.Equal(t, "a.go", attributes(child.Attributes)["pr_review.file.path"])
	require.Equal(t, "_OTHER", attributes(child.Attributes)["error.type"])
	require.Equal(t, "/v1/traces", r.requests[0].URL.Path)
	require.Equal(t, "a b", r.requests[0].Header.Get("X-Tenant"))
	require.Equal(t, "pr-review/1.2.3", r.requests[0].Header.Get("User-Agent"))
	require.NotContains(t, r.bodies[0], "no luck", "the text of an error is content")
}

func TestOffUnlessSet(t *testing.T) {
	t.Parallel()
	for name, pairs := range map[string][]string{
		"nothing":  {"OTEL_SERVICE_NAME", "x", "OTEL_EXPORTER_OTLP_HEADERS", "a=b"},
		"disabled": {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1", "OTEL_SDK_DISABLED", "True"},
		"none":     {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1", "OTEL_TRACES_EXPORTER", "none"},
	} {
		ctx, stop, err := Start(t.Context(), Options{Getenv: environment(pairs...)})
		require.NoError(t, err, name)
		require.Equal(t, t.Context(), ctx, name)
		require.NoError(t, stop(), name)
	}
}

func TestOffCostsNothing(t *testing.T) { // not parallel: it counts allocations
	ctx := t.Context()
	began := time.Now()
	allocations := testing.AllocsPerRun(100, func() {
		ctx, run := Run(ctx, "review", began)
		run.Text("outcome", "CLEAN")
		_, tool := Tool(ctx, "read_file", "1", "{}")
		tool.End(nil)
		try, end := Call(ctx, CallStart{Model: "m"})
		over, _ := try(ctx, 1)
		over(nil, nil)
		end(CallEnd{})
		run.End(nil)
	})
	require.Zero(t, allocations)
	require.Empty(t, Parent(ctx))
}

func TestASamplerThatIsOffSendsNothing(t *testing.T) { // not parallel: it sets the environment
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{})
	one(ctx)
	require.NoError(t, stop())
	require.Empty(t, r.requests)
}

func TestTheResourceNamesTheServiceAsTheEnvironmentWants(t *testing.T) { // not parallel: it sets the environment
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=a%2Cb, service.name=first")
	t.Setenv("OTEL_SERVICE_NAME", "second")
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{})
	one(ctx)
	require.NoError(t, stop())
	r.all(t)
	require.Equal(t, "a,b", r.resource["team"])
	require.Equal(t, "second", r.resource["service.name"])
	require.Equal(t, "go", r.resource["telemetry.sdk.language"])
}

func TestATraceThatDidNotArriveIsOneWarning(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter)
		says   string
	}{
		"no": {func(w http.ResponseWriter) {
			http.Error(w, "key unknown", http.StatusUnauthorized)
		}, "answered 401 Unauthorized: key unknown"},
		"hostile": {func(w http.ResponseWriter) {
			http.Error(w, "::set-output x\x1b[2J", http.StatusBadRequest)
		}, "<U+001B>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t)
			r.answer = tt.answer
			ctx, stop := r.start(t, Options{}, "OTEL_EXPORTER_OTLP_HEADERS", "x-key=geheim",
				"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", r.URL+"/in?token=geheim")
			one(ctx)
			err := stop()
			require.ErrorIs(t, err, ErrLost)
			require.ErrorContains(t, err, tt.says)
			require.NotContains(t, err.Error(), "geheim")
			require.NotContains(t, err.Error(), "\n")
			require.Equal(t, "/in?token=geheim", r.requests[0].URL.String())
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestASlowCollectorDelaysTheEndByTheGraceAtMost(t *testing.T) {
	t.Parallel()
	for name, cancelled := range map[string]bool{"running": false, "interrupted": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hang := roundTrip(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})
				outer, cancel := context.WithCancel(t.Context())
				defer cancel()
				ctx, stop, err := Start(outer, Options{Getenv: environment("OTEL_TRACES_EXPORTER", "otlp"),
					HTTP: &http.Client{Transport: hang}})
				require.NoError(t, err)
				began := time.Now()
				for range 9 {
					one(ctx)
				}
				require.Zero(t, time.Since(began), "no span waits for the collector")
				if cancelled {
					cancel()
				}
				err = stop()
				require.ErrorIs(t, err, ErrLost)
				require.ErrorContains(t, err, "9 spans")
				require.Equal(t, grace, time.Since(began))
			})
		})
	}
}

func TestABatchHasItsOwnTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		ctx, stop, err := Start(t.Context(), Options{Getenv: environment("OTEL_TRACES_EXPORTER", "otlp",
			"OTEL_EXPORTER_OTLP_TIMEOUT", "200"), HTTP: &http.Client{Transport: hang}})
		require.NoError(t, err)
		began := time.Now()
		one(ctx)
		require.ErrorContains(t, stop(), "within 200ms")
		require.Equal(t, 200*time.Millisecond, time.Since(began))
	})
}

func TestT30_ACollectorIsReachedByTheWaysOfEveryEndpoint(t *testing.T) {
	t.Parallel()
	other := newReceiver(t)
	r := newReceiver(t)
	r.answer = func(w http.ResponseWriter) {
		w.Header().Set("Location", strings.Replace(other.URL, "127.0.0.1", "localhost", 1))
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	ctx, stop := r.start(t, Options{}, "OTEL_EXPORTER_OTLP_HEADERS", "x-key=geheim")
	one(ctx)
	require.ErrorIs(t, stop(), ErrLost)
	require.Empty(t, other.requests, "no redirect takes the key along")
	for _, address := range []string{"http://169.254.169.254/", "file:///etc/passwd", "http://collector.example:4318",
		"https://user:geheim@collector.example"} {
		_, stop, err := Start(t.Context(), Options{Getenv: environment("OTEL_EXPORTER_OTLP_ENDPOINT", address)})
		require.ErrorIs(t, err, ErrSettings, address)
		require.NotContains(t, err.Error(), "geheim")
		require.NoError(t, stop())
	}
	_, stop, err := Start(t.Context(), Options{AllowHTTP: true,
		Getenv: environment("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.example:4318")})
	require.NoError(t, err)
	require.NoError(t, stop(), "nothing was sent, so nothing was lost")
	require.NotErrorIs(t, err, transport.ErrInsecure)
}

func TestATaskBelongsToTheStepOfAnotherContext(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{})
	run, root := Run(ctx, "review", time.Now())
	within, step := Step(run, "review")
	_, file := File(Under(run, within), "a.go")
	for _, s := range []*Span{file, step, root} {
		s.End(nil)
	}
	require.NoError(t, stop())
	require.Equal(t, r.span(t, "step review").SpanId, r.span(t, "file").ParentSpanId)
	require.Equal(t, t.Context(), Under(t.Context(), within), "where tracing is off nothing changes")
}

func TestStagesGoOnSideBySide(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	ctx, stop := r.start(t, Options{})
	stages := NewStages(ctx)
	stages.Now("tickets", "pages")
	stages.Now("pages")
	stages.Now()
	require.NoError(t, stop())
	tickets, pages := r.span(t, "tickets"), r.span(t, "pages")
	require.Less(t, pages.StartTimeUnixNano, tickets.EndTimeUnixNano, "one began before the other ended")
	require.Less(t, tickets.EndTimeUnixNano, pages.EndTimeUnixNano)
	NewStages(t.Context()).Now("tickets") // where tracing is off nothing happens
}
