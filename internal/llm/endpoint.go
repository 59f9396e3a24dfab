package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/transport"
)

// endpoint holds the addresses of the two interfaces.
type endpoint struct {
	host          string // in lower case, without a port
	base          string // of chat completions, without /chat/completions
	responses     string // of Responses, without /responses
	query         string // Azure's, such as api-version=2025-03-01-preview
	azure         bool   // the key is sent as api-key
	deployment    string // Azure's name of the model, if the address contains it
	responsesOnly bool   // the given address ended in /responses
}

const (
	deployments = "/openai/deployments/"
	openAI      = "api.openai.com"
)

func newEndpoint(address string) (endpoint, error) {
	u, err := transport.CheckURL(cmp.Or(address, DefaultBaseURL), true)
	if err != nil {
		return endpoint{}, fmt.Errorf("base-url: %w", err)
	}
	path := strings.TrimRight(u.Path, "/")
	e := endpoint{host: strings.ToLower(u.Hostname()),
		azure: strings.Contains(path+"/", deployments) || strings.HasSuffix(u.Hostname(), ".azure.com")}
	if u.Fragment != "" || u.RawQuery != "" && !e.azure {
		return endpoint{}, errors.New("base-url: query and fragment are not supported in it; the key belongs into " +
			"api-key")
	}
	e.query = u.RawQuery
	path, e.responsesOnly = strings.CutSuffix(path, "/responses")
	path = strings.TrimSuffix(path, "/chat/completions")
	e.base, e.responses = addressAt(u, path), addressAt(u, path)
	if front, name, found := strings.Cut(path, deployments); found {
		e.deployment, e.responses = name, addressAt(u, front+"/openai")
	}
	return e, nil
}

func addressAt(u *url.URL, path string) string {
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}
	return out.String()
}

// url returns the address of a request in a form, without its query.
func (e endpoint) url(f form) string {
	if f.responses() {
		return e.responses + "/responses"
	}
	return e.base + "/chat/completions"
}

// authorize sets a request's query, key and further headers.
func (e endpoint) authorize(req *http.Request, key string, headers map[string]string) {
	req.URL.RawQuery = e.query
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	switch {
	case key == "":
	case e.azure:
		req.Header.Set("Api-Key", key)
	default:
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
}
