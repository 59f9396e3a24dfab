package llm

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressesOfBothInterfaces(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]endpoint{
		"": {base: "https://api.openai.com/v1",
			responses: "https://api.openai.com/v1"},
		"https://h/v1/":                 {base: "https://h/v1", responses: "https://h/v1"},
		"https://h/v1/chat/completions": {base: "https://h/v1", responses: "https://h/v1"},
		"https://h/v1/responses":        {base: "https://h/v1", responses: "https://h/v1", responsesOnly: true},
		"https://openrouter.ai/api/v1": {base: "https://openrouter.ai/api/v1",
			responses: "https://openrouter.ai/api/v1"},
		"https://r.openai.azure.com/openai/v1": {base: "https://r.openai.azure.com/openai/v1",
			responses: "https://r.openai.azure.com/openai/v1", azure: true},
		"https://azure.com.example/openai/v1": {base: "https://azure.com.example/openai/v1",
			responses: "https://azure.com.example/openai/v1"},
		"https://r.openai.azure.com/openai/deployments/mine?api-version=2025-03-01-preview": {
			base: "https://r.openai.azure.com/openai/deployments/mine", responses: "https://r.openai.azure.com/openai",
			query: "api-version=2025-03-01-preview", azure: true, deployment: "mine",
		},
		"https://gateway.example/team/openai/deployments/gpt-3.5/chat/completions?api-version=1&x=2": {
			base:      "https://gateway.example/team/openai/deployments/gpt-3.5",
			responses: "https://gateway.example/team/openai",
			query:     "api-version=1&x=2", azure: true, deployment: "gpt-3.5",
		},
	} {
		got, err := newEndpoint(address)
		require.NoError(t, err, address)
		u, err := url.Parse(want.base)
		require.NoError(t, err, address)
		want.host = strings.ToLower(u.Hostname())
		require.Equal(t, want, got, address)
	}
	for _, address := range []string{"https://h/v1?api-version=1", "https://r.openai.azure.com/openai/v1#x",
		"ftp://h/v1", "https://u:p@h/v1"} {
		_, err := newEndpoint(address)
		require.ErrorContains(t, err, "base-url: ")
	}
}

func TestAzureGetsTheKeyAsItsHeaderAndKeepsItsQuery(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{400, `{"error":{"code":"OperationNotSupported","message":"The chatCompletion operation does` +
		` not work with the specified model"}}`}, reply{body: responded})
	c := to(t, w, func(o *Options) { o.BaseURL = w.URL + "/openai/deployments/mine?api-version=2025-03-01-preview" })
	_, err := c.Chat(t.Context(), question)
	require.NoError(t, err)
	asked := w.requests()
	require.Equal(t, "/openai/deployments/mine/chat/completions", asked[0].path)
	require.Equal(t, "/openai/responses", asked[1].path)
	require.Equal(t, "mine", asked[1].body["model"])
	for _, s := range asked {
		require.Equal(t, "api-version=2025-03-01-preview", s.query)
		require.Equal(t, "sk-secret-value", s.header.Get("Api-Key"))
		require.Empty(t, s.header.Get("Authorization"))
	}
}

func TestAzureFilterOnTheWayInIsARefusal(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{400, `{"error":{"message":"The response was filtered due to the prompt triggering the` +
		` content management policy.","param":"prompt","code":"content_filter","status":400}}`})
	answer, err := to(t, w).Chat(t.Context(), question)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "content management")
	require.Zero(t, answer.Usage)
	require.Len(t, w.requests(), 1)
}

func TestErrorsOfAzureShowNoQuery(t *testing.T) {
	t.Parallel()
	w := serve(t, reply{404, `{"error":{"code":"404","message":"Resource not found"}}`})
	_, err := to(t, w, func(o *Options) {
		o.BaseURL = w.URL + "/openai/deployments/mine?code=hidden"
	}).Chat(t.Context(), question)
	require.ErrorContains(t, err, "Resource not found")
	require.NotContains(t, err.Error(), "hidden")
}
