package llm

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
)

func TestDefaultsByFamily(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		effort string
		fixed  bool
	}{
		"gpt-5-mini": {"medium", true}, "openai/gpt-5.4-2026-03-05": {"medium", true}, "GPT-6-sol": {"medium", true},
		"o4-mini": {"medium", true}, "o3": {"medium", true},
		"gpt-5-chat-latest": {"", false}, "gpt-5.2-chat-latest": {"", false}, "gpt-5-pro": {"", true},
		"o3-pro-2025-06-10": {"", true}, "o1-mini": {"", true},
		"gpt-4o": {"", false}, "gpt-4.1": {"", false}, "gpt-oss-120b": {"", false}, "claude-sonnet-4-5": {"", false},
		"qwen3:8b":          {"", false},
		"deepseek-reasoner": {"", false}, "olmo": {"", false}, "o1x": {"", false}, "m": {"", false},
	} {
		s := newSettings(config.ModelOptions{}, name)
		require.Equal(t, want.effort, s.Effort, name)
		require.Equal(t, want.fixed, s.fixed, name)
		require.Empty(t, s.identity, name)
	}
}

func TestIdentityHoldsWhatSettlesAnAnswerAndNothingElse(t *testing.T) {
	t.Parallel()
	identity := func(o Options) string {
		o.HTTP = http.DefaultClient
		c, err := New(o)
		require.NoError(t, err)
		return c.Identity()
	}
	require.Equal(t, "model m", identity(Options{Model: "m"}))
	require.Equal(t, "model gpt-5-mini", identity(Options{
		Model: "gpt-5-mini", Key: "k", BaseURL: "https://API.openai.com:443/v1", Log: func(string) {},
		ModelOptions: config.ModelOptions{Effort: "medium", Headers: map[string]string{"X-Team": "a"}},
	}), "key and headers, and what is the default anyway, settle nothing")
	for address, owner := range map[string]string{
		"http://127.0.0.1:8089/v1": "this machine", "http://localhost/v1": "this machine",
		"https://Gateway.example:8443/team/v1":                             "gateway.example",
		"https://r.openai.azure.com/openai/deployments/mine?api-version=1": "r.openai.azure.com, deployment mine",
	} {
		require.Equal(t, "model m; of "+owner, identity(Options{Model: "m", BaseURL: address}),
			"models of one name are of several servers")
	}
	require.Equal(t, `model m; effort low; temperature 0.2; seed 7; max-output-tokens 900; body {"a":[1],"top_p":0.5}`,
		identity(Options{Model: "m", ModelOptions: config.ModelOptions{
			Effort: "low", Temperature: ptr(0.2), Seed: ptr(7), MaxOutputTokens: 900,
			Body: map[string]any{"top_p": 0.5, "a": []int{1}},
		}}))
	require.Equal(t, "model m; temperature 0; seed 0",
		identity(Options{Model: "m", ModelOptions: config.ModelOptions{Temperature: ptr(0.), Seed: ptr(0)}}))
}

func TestHeadersAndFieldsOfTheConfigurationGoWithEveryRequest(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{404, `use /v1/responses`}, reply{body: responded})
	c := to(t, w, func(o *Options) {
		o.Headers = map[string]string{"X-Team": "review", "HTTP-Referer": "https://example.com"}
		o.Body = map[string]any{"top_p": 0.5, "provider": map[string]any{"zdr": true}}
	})
	_, err := c.Chat(t.Context(), question)
	require.NoError(t, err)
	for _, s := range w.requests() {
		require.Equal(t, "review", s.header.Get("X-Team"))
		require.Equal(t, "https://example.com", s.header.Get("HTTP-Referer"))
		require.Equal(t, "Bearer sk-secret-value", s.header.Get("Authorization"))
		require.InDelta(t, 0.5, s.body["top_p"], 0)
		require.Equal(t, map[string]any{"zdr": true}, s.body["provider"])
	}
}

func TestEffortOfARequestWinsOverTheOptionsAndTheFamily(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, option, request, want string }{
		{"gpt-5-mini", "", "", "medium"}, {"gpt-5-mini", "high", "", "high"}, {"gpt-5-mini", "high", "low", "low"},
		{"m", "", "low", "low"}, {"m", "minimal", "", "minimal"},
	} {
		w := serve(t, reply{body: said})
		asked := question
		asked.Effort = c.request
		_, err := to(t, w, model(c.model), func(o *Options) { o.Effort = c.option }).Chat(t.Context(), asked)
		require.NoError(t, err)
		require.Equal(t, c.want, w.last().body["reasoning_effort"])
	}
}

func TestP9_NoOptionRaisesTheOutputLimitThatWasReserved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ option, request, want int }{{0, 100, 100}, {50, 100, 50}, {200, 100, 100},
		{200, 0, 200}, {0, 0, 0}} {
		w := serve(t, reply{body: said})
		asked := question
		asked.MaxTokens = c.request
		_, err := to(t, w, func(o *Options) { o.MaxOutputTokens = c.option }).Chat(t.Context(), asked)
		require.NoError(t, err)
		got, _ := w.last().body["max_tokens"].(float64)
		require.EqualValues(t, c.want, got)
	}
}

func TestDeterministicAsksForColdWhereTheModelCan(t *testing.T) {
	t.Parallel()
	steady := question
	steady.Deterministic = true
	for _, c := range []struct {
		model  string
		option *float64
		want   float64 // -1: none
	}{{"m", nil, minTemperature}, {"m", ptr(0.7), minTemperature}, {"gpt-5", nil, -1},
		{"gpt-5", ptr(0.7), minTemperature}} {
		w := serve(t, reply{body: said})
		_, err := to(t, w, model(c.model), func(o *Options) { o.Temperature = c.option }).Chat(t.Context(), steady)
		require.NoError(t, err)
		got, there := w.last().body["temperature"].(float64)
		require.Equal(t, c.want >= 0, there)
		if there {
			require.InDelta(t, c.want, got, 0)
		}
	}
}

func TestP9_NoFieldMakesACallDearerThanReservedOrSomebodyElsesAnswer(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"service_tier", "fallbacks", "plugins", "web_search_options", "models", "route", "transforms", "n", "best_of",
		"stream_options", "store", "background",
		"max_new_tokens", "num_predict", "prediction", "search_parameters", "data_sources", "speed", "num_retries",
		"preset", "mock_response", "extra_body", "Service_Tier",
	} {
		require.EqualError(t, config.CheckField(name), `model-options: body: "`+name+`" cannot be set there`)
	}
}
