// Package llm asks a model behind an OpenAI-compatible address.
//
// It sends a conversation with the tools that the model may call, asks for an
// answer of a JSON schema, and reports text, calls, usage and cost, over chat
// completions or, where a model is served by it alone, the Responses interface.
// It knows no prompt, reads no answer's content, runs no tool, and retries
// nothing but a request whose form the server refused: waiting and trying again
// are the HTTP client's. Start reading at Client.Chat; what servers refuse, and
// what is asked instead, stands in fallbacks.
package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/org/pr-review-action/internal/limit"
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

// Identity names what settles an answer beside the request: the model, whose it
// is, and the settings that are not the model's defaults. Key, headers and the rest
// of the address are not in it.
func (c *Client) Identity() string { return "model " + c.model + c.Endpoint() + c.settings.identity }

// Endpoint names whose model is asked, for there are several of one name: the host,
// or that it is this machine, and a deployment. It is empty for OpenAI's own.
func (c *Client) Endpoint() string { return c.at.owner() }

// Chat sends a request and waits for the whole answer.
//
// Errors are *StatusError, ErrRefused, ErrTruncated, ErrEmpty, ErrNotChat, ErrPage, ErrNoTools,
// ErrNoLimit, transport.ErrTooLarge, the context's, or the connection's. With ErrRefused,
// ErrTruncated and ErrEmpty the answer is filled in as far as it goes: such a call is billed.
// A server that refuses a part of the request's form (its schema, a setting, a
// role) is asked again in a plainer form; the client remembers what the server
// took. An output limit that is too large is halved for this request alone. A
// server that takes no tools ends with ErrNoTools: nothing was billed, and the
// request can be made without them. One that takes no output limit under any name
// ends a request that is Bounded with ErrNoLimit.
func (c *Client) Chat(ctx context.Context, r Request) (Answer, error) {
	if err := r.check(); err != nil {
		return Answer{}, err
	}
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
		err = unreachableError{err}
	}
	return Answer{}, err
}
