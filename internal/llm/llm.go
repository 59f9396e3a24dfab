// Package llm asks a model behind an OpenAI-compatible address.
//
// It sends a conversation with the tools that the model may call, asks for an answer of a JSON schema, and returns
// text, calls, usage and cost. It uses chat completions or, for a model that is served by it alone, the Responses
// interface. It knows no prompt, interprets no answer, runs no tool, and retries nothing but a request whose form the
// server refused: waiting and retrying are up to the HTTP client. Start reading at Client.Chat; fallbacks lists what
// servers refuse and what is sent instead.
package llm

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/limit"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// DefaultBaseURL is the address of a client whose options name none.
const DefaultBaseURL = "https://api.openai.com/v1"

// maxAnswer bounds the bytes of a response.
const maxAnswer = 2 << 20

// Client asks one model at one address. It is safe for concurrent use.
type Client struct {
	at       endpoint
	key      string
	model    string
	http     *http.Client
	settings settings
	mark     cacheMark
	oldLimit int // 1 where max_tokens is tried first: DeepSeek and Ollama ignore the newer name, so nothing would hold
	limiter  *limit.Limiter
	log      func(string)
	dialect  dialect
}

// New checks the options and returns a client; it sends nothing. An error names the input that is wrong and never
// contains the key.
func New(o Options) (*Client, error) {
	at, err := newEndpoint(o.BaseURL)
	if err != nil {
		return nil, err
	}
	key, model := strings.TrimSpace(o.Key), strings.TrimSpace(o.Model)
	switch {
	case model == "":
		return nil, errors.New("model: no name given")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("api-key: it contains a space, a line break or a character outside ASCII")
	}
	c := &Client{
		at: at, key: key, model: model, http: o.HTTP, settings: newSettings(o.ModelOptions, model),
		mark: at.cacheMark(o.CacheMarks, model), limiter: o.Limiter, log: o.Log,
	}
	if at.host != openAI && !at.azure && !c.settings.fixed {
		c.oldLimit = 1
	}
	if at.responsesOnly {
		c.dialect.form[via] = viaResponses
	}
	return c, nil
}

// Identity returns what determines an answer besides the request: the model, its endpoint, and the settings that
// differ from the model's defaults. It excludes the key, the headers and the rest of the address.
func (c *Client) Identity() string { return "model " + c.model + c.Endpoint() + c.settings.identity }

// Endpoint returns whose model is asked, since several share a name: the host, or that it is this machine, and a
// deployment. It is empty for OpenAI's own. All ports of this machine count as one: they come and go.
func (c *Client) Endpoint() (name string) {
	switch {
	case transport.Loopback(c.at.host):
		name = "; of this machine"
	case c.at.host != openAI:
		name = "; of " + c.at.host
	}
	if c.at.deployment != "" {
		name += ", deployment " + c.at.deployment
	}
	return name
}

// Chat sends a request and waits for the whole answer.
//
// It returns *StatusError, ErrRefused, ErrTruncated, ErrEmpty, ErrNotChat, ErrPage, ErrNoTools, ErrNoLimit,
// transport.ErrTooLarge, or an error of the context or the connection. With ErrRefused, ErrTruncated and ErrEmpty the
// answer is filled in as far as it goes: such a call is billed. If a server refuses a part of the request's form (its
// schema, a setting, a role), Chat asks again in a simpler form, and the client remembers what the server accepted.
// An output limit that is too large is halved for this request alone. ErrNoTools means that the server takes no
// tools: nothing was billed, and the request can be made without them. ErrNoLimit means that a Bounded request met a
// server that takes no output limit under any name.
func (c *Client) Chat(ctx context.Context, r Request) (Answer, error) {
	halved := 0
	for {
		form := c.dialect.current()
		form[ceiling] = halved
		switch {
		case len(r.Tools) > 0 && form[tools] > 0:
			return Answer{}, ErrNoTools
		case r.Bounded && (form[length] == unlimited || c.settings.limit(r) == 0):
			return Answer{}, ErrNoLimit
		}
		a := c.ask(r, form)
		answer, err := c.sendOnce(ctx, a)
		var again bool
		if halved, again = c.dialect.learn(a, err); !again {
			return answer, err
		}
	}
}

// sendOnce makes one request in one form, including its retries.
func (c *Client) sendOnce(ctx context.Context, a *wireRequest) (Answer, error) {
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
	next := ""
	switch {
	case errors.Is(err, transport.ErrTooLarge):
		next = "use another model, or set model-options.max-output-tokens"
	case errors.Is(err, transport.ErrRedirect), errors.As(err, new(x509.UnknownAuthorityError)): // clear as it is
	case errors.As(err, new(net.Error)):
		next = "see that a model's server answers at base-url, and that this machine may reach it"
	}
	return Answer{}, problem.As(problem.Failed, err, next)
}

// Options configures a client. The fields after HTTP are optional.
type Options struct {
	// BaseURL is the address without /chat/completions; DefaultBaseURL if empty. An address with
	// /openai/deployments/NAME in it, or of a host under azure.com, is Azure's: the key is sent as api-key, and the
	// query is kept.
	BaseURL string
	Key     string       // empty for servers that need none
	Model   string       // the server's name of the model
	HTTP    *http.Client // from transport.New, which handles proxies, retries, timeouts and the size limit

	// for every request, checked by package config. MaxOutputTokens caps a request's own limit of output tokens, and
	// is the limit of a request without one; 0 for no cap
	config.ModelOptions

	Limiter *limit.Limiter // shared by all clients of one server; nil for none
	// receives one line about each try, concurrently. A line is safe for a log: no key, no content, and no header but
	// the request's id. nil for none
	Log func(string)
}
