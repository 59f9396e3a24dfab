package trace

import (
	"net/url"
	"strconv"
	"strings"
)

// providers names what serves models at known hosts, by the convention's names
// where it has one. The first that fits is taken.
func providers() []pair {
	return []pair{
		{"openai.azure.com", "azure.ai.openai"}, {"cognitiveservices.azure.com", "azure.ai.openai"},
		{"azure.com", "azure.ai.inference"}, {"anthropic.com", "anthropic"}, {"googleapis.com", "gcp.gemini"},
		{"mistral.ai", "mistral_ai"}, {"groq.com", "groq"}, {"x.ai", "x_ai"}, {"deepseek.com", "deepseek"},
		{"cohere.com", "cohere"}, {"perplexity.ai", "perplexity"}, {"openrouter.ai", "openrouter"},
	}
}

// server tells provider, host and port of a model's address. A server that is
// not known speaks OpenAI's interface, and has its name, as the convention wants
// it where the provider cannot be told.
func server(base string) (provider, host string, port int) {
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
	for _, p := range providers() {
		if host == p.key || strings.HasSuffix(host, "."+p.key) {
			return p.value, host, port
		}
	}
	if strings.Contains(u.Path, "/openai/deployments/") {
		return "azure.ai.openai", host, port
	}
	return "openai", host, port
}
