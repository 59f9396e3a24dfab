package trace

import (
	"net/url"
	"strconv"
	"strings"
)

// server tells provider, host and port of a model's address. Whatever serves it speaks
// OpenAI's interface, whose name the convention wants where the provider cannot be told.
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
	if strings.Contains(u.Path, "/openai/deployments/") {
		return "azure.ai.openai", host, port
	}
	return "openai", host, port
}
