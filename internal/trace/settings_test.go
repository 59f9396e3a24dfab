package trace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestVariablesThatCannotBeFollowedAreNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, says string }{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", `is "grpc"; http/protobuf is supported`},
		{"OTEL_TRACES_EXPORTER", "console", `is "console"; otlp and none are supported`},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "-1", "not a whole number"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "not a whole number"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "geheim", "entry 1"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=b,x=%zzgeheim", "entry 2"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "x=geheim%0d%0aHost: evil", "entry 1"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "x y=geheim", "entry 1"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "=geheim", "entry 1"},
		{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x=geheim\x00", "entry 1"},
	} {
		_, stop, err := Start(t.Context(), Options{Getenv: environment("OTEL_EXPORTER_OTLP_ENDPOINT",
			"http://localhost:1", tt.name, tt.value)})
		require.ErrorIs(t, err, ErrSettings, tt.value)
		require.ErrorContains(t, err, tt.name+" ")
		require.ErrorContains(t, err, tt.says)
		require.NotContains(t, err.Error(), "geheim")
		require.NoError(t, stop())
	}
}

func TestSettingsAreReadByTheStandard(t *testing.T) {
	t.Parallel()
	read := func(pairs ...string) settings {
		s, err := readSettings(environment(pairs...), false)
		require.NoError(t, err)
		return s
	}
	require.Equal(t, "http://localhost:4318/v1/traces", read("OTEL_TRACES_EXPORTER", "otlp").url)
	require.Equal(t, "https://c.example/base/v1/traces",
		read("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c.example/base/").url)
	s := read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t.example", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"https://c.example",
		"OTEL_EXPORTER_OTLP_HEADERS", "all=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", " api-key = a%3Db=c ,",
		"OTEL_EXPORTER_OTLP_TIMEOUT", "2500")
	require.Equal(t, "https://t.example", s.url)
	require.Equal(t, []string{"a=b=c"}, s.headers["Api-Key"])
	require.Len(t, s.headers, 1, "those for traces stand in place of the others")
	require.Equal(t, 2500*time.Millisecond, s.timeout)
	require.False(t, s.content)
	require.True(t, read("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "True").content)
}

func FuzzHeaders(f *testing.F) {
	f.Add("a=b,c=d%20e")
	f.Add("x=%0d%0a")
	f.Add("=,,=")
	f.Fuzz(func(t *testing.T, raw string) {
		all, _ := headers("H", raw)
		for name, values := range all {
			require.True(t, token().MatchString(name))
			require.NotContains(t, values[0], "\n")
		}
	})
}
