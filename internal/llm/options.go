package llm

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/limit"
)

// Options say whom to ask and how. Those after HTTP may be left out.
type Options struct {
	// BaseURL is the address up to and without /chat/completions; DefaultBaseURL
	// when empty. One with /openai/deployments/NAME in it, or of a host under
	// azure.com, is Azure's: the key goes as api-key, and its query is kept.
	BaseURL string
	Key     string       // empty for servers that want none
	Model   string       // the server's name of the model
	HTTP    *http.Client // transport.New's: proxies, retries, timeouts and the size limit are its own

	// of every request, checked by package config. MaxOutputTokens bounds a request's own
	// limit of output tokens, and is it where a request has none; 0 for no bound
	config.ModelOptions

	Limiter *limit.Limiter // shared by all clients of one server; nil for none
	// called from many goroutines with one line about each try, safe for a log: no key, no header but the request's
	// id, no content; nil for none
	Log func(string)
}

// names checks key and model.
func (o Options) names() (key, model string, err error) {
	key, model = strings.TrimSpace(o.Key), strings.TrimSpace(o.Model)
	switch {
	case model == "":
		return "", "", errors.New("model: no name given")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", "", errors.New("api-key: it holds a space, a line break or a character outside ASCII")
	}
	return key, model, nil
}

// The values of Options.CacheMarks: marks for hosts that are known to take them, for every host, for none.
const (
	MarksAuto = "auto"
	MarksOn   = "on"
	MarksOff  = "off"
)

// markedHosts take cache_control in chat completions, and cache nothing of Claude's
// without (https://openrouter.ai/docs/features/prompt-caching,
// https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
var markedHosts = []string{"openrouter.ai", "anthropic.com"}

// marks reports whether requests to an endpoint say what of them is worth caching.
func (e endpoint) marks(wanted string) bool {
	switch wanted {
	case MarksOn:
		return true
	case MarksOff:
		return false
	}
	return slices.ContainsFunc(markedHosts, func(known string) bool {
		return e.host == known || strings.HasSuffix(e.host, "."+known)
	})
}
