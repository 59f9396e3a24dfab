// Package llm asks a model behind an OpenAI-compatible address.
//
// It sends a conversation with the tools that the model may call, asks for an answer of a JSON schema, and reports
// text, calls, usage and cost, over chat completions or, where a model is served by it alone, the Responses
// interface. It knows no prompt, reads no answer's content, runs no tool, and retries nothing but a request whose
// form the server refused: waiting and trying again are the HTTP client's. Start reading at Client.Chat; what servers
// refuse, and what is asked instead, stands in fallbacks.
package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// DefaultBaseURL is the address of a client that names none.
const DefaultBaseURL = "https://api.openai.com/v1"

// maxAnswer bounds the bytes of a response.
const maxAnswer = 2 << 20

// Client asks one model at one address. It may be used from many goroutines.
type Client struct {
	at       endpoint
	key      string
	model    string
	http     *http.Client
	settings settings
	marks    bool // requests say what of them is worth caching
	limiter  *limit.Limiter
	log      func(string)
	dialect  dialect
}

// New checks the options and returns a client; it sends nothing. An error names
// the input that is wrong and never holds the key.
func New(o Options) (*Client, error) {
	at, err := newEndpoint(o.BaseURL)
	if err != nil {
		return nil, err
	}
	key, model, err := o.names()
	if err != nil {
		return nil, err
	}
	c := &Client{
		at: at, key: key, model: model, http: o.HTTP, settings: newSettings(o.ModelOptions, model),
		marks: at.marks(o.CacheMarks), limiter: o.Limiter, log: o.Log,
	}
	if at.responsesOnly {
		c.dialect.form[via] = viaResponses
	}
	return c, nil
}

// Identity names what settles an answer beside the request: the model, whose it is, and the settings that are not the
// model's defaults. Key, headers and the rest of the address are not in it.
func (c *Client) Identity() string { return "model " + c.model + c.Endpoint() + c.settings.identity }

// Endpoint names whose model is asked, for there are several of one name: the host,
// or that it is this machine, and a deployment. It is empty for OpenAI's own.
func (c *Client) Endpoint() string { return c.at.owner() }

// Chat sends a request and waits for the whole answer.
//
// Errors are *StatusError, ErrRefused, ErrTruncated, ErrEmpty, ErrNotChat, ErrPage, ErrNoTools, ErrNoLimit,
// transport.ErrTooLarge, the context's, or the connection's. With ErrRefused, ErrTruncated and ErrEmpty the answer is
// filled in as far as it goes: such a call is billed. A server that refuses a part of the request's form (its schema,
// a setting, a role) is asked again in a plainer form; the client remembers what the server took. An output limit
// that is too large is halved for this request alone. A server that takes no tools ends with ErrNoTools: nothing was
// billed, and the request can be made without them. One that takes no output limit under any name ends a request that
// is Bounded with ErrNoLimit.
func (c *Client) Chat(ctx context.Context, r Request) (Answer, error) {
	halved := 0
	for {
		form := c.dialect.now()
		form[ceiling] = halved
		switch {
		case len(r.Tools) > 0 && form[tools] > 0:
			return Answer{}, ErrNoTools
		case r.Bounded && (form[length] == unlimited || c.settings.limit(r) == 0):
			return Answer{}, ErrNoLimit
		}
		a := c.ask(r, form)
		answer, err := c.once(ctx, a)
		again := false
		if err != nil {
			halved, again = c.dialect.learn(a, err)
		}
		if !again {
			return answer, err
		}
	}
}

// once makes one request in one form, and its tries.
func (c *Client) once(ctx context.Context, a *asked) (Answer, error) {
	resp, body, err := c.send(transport.LimitBody(c.watch(ctx, a), maxAnswer), a)
	switch {
	case err == nil:
		return c.read(a, resp, body)
	case ctx.Err() != nil:
		return Answer{}, fmt.Errorf("asking the model: %w", ctx.Err())
	case errors.Is(err, transport.ErrNotJSON):
		return Answer{}, fmt.Errorf("reading the answer of %s: %w", c.at.base, ErrNotChat)
	}
	err = fmt.Errorf("asking the model: %w", transport.Clean(err))
	if errors.As(err, new(net.Error)) && !errors.As(err, new(*tls.CertificateVerificationError)) {
		err = problem.As(problem.Failed, err,
			"see that a model's server answers at base-url, and that this machine may reach it")
	}
	return Answer{}, err
}

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
		return "", "", errors.New("api-key: it contains a space, a line break or a character outside ASCII")
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
