// Package llm asks a model behind an OpenAI-compatible address.
//
// It sends one system and one user turn, asks for an answer of a JSON schema,
// and reports text, usage and cost. It knows no prompt, reads no answer's
// content and retries nothing but a request whose form the server refused:
// waiting and trying again are the HTTP client's. Start reading at Client.Chat.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/transport"
	openai "github.com/sashabaranov/go-openai"
)

// DefaultBaseURL is the address of a client that names none.
const DefaultBaseURL = "https://api.openai.com/v1"

// maxAnswer bounds the bytes of a response.
const maxAnswer = 2 << 20

// Options say whom to ask and how.
type Options struct {
	BaseURL string       // up to and without /chat/completions; DefaultBaseURL when empty
	Key     string       // bearer token; empty for servers that want none
	Model   string       // the server's name of the model
	HTTP    *http.Client // transport.New's: proxies, retries, timeouts and the size limit are its own
}

// Request is one system and one user turn. Schema, where set, is the JSON schema
// of the answer in the strict subset, and SchemaName its name: letters, digits,
// "_" and "-". MaxTokens limits the output, reasoning included; 0 for the server's own limit.
// Deterministic asks for the likeliest answer (temperature 0), as far as the server can.
type Request struct {
	System, User  string
	SchemaName    string
	Schema        json.RawMessage
	MaxTokens     int
	Deterministic bool
}

// Answer is what the model said. Text, Model and Refusal are untrusted text.
// Finish is the server's finish reason. Usage counts this one call.
type Answer struct {
	Text, Model, Finish, Refusal string
	Usage                        cost.Usage
}

// Client asks one model at one address. It may be used from many goroutines.
type Client struct {
	base, key, model string
	http             *http.Client
	dialect          dialect
}

// New checks the options and returns a client; it sends nothing. An error names
// the input that is wrong and never holds the key.
func New(o Options) (*Client, error) {
	base, err := transport.CheckURL(cmp.Or(o.BaseURL, DefaultBaseURL), true)
	key, model := strings.TrimSpace(o.Key), strings.TrimSpace(o.Model)
	switch {
	case err != nil:
		return nil, fmt.Errorf("base-url: %w", err)
	case base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("base-url: query and fragment are not supported in it; the key belongs into api-key")
	case model == "":
		return nil, errors.New("model: no name given")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("api-key: it holds a space, a line break or a character outside ASCII")
	}
	address := strings.TrimSuffix(strings.TrimRight(base.String(), "/"), "/chat/completions")
	return &Client{base: address, key: key, model: model, http: o.HTTP}, nil
}

// Identity names what settles an answer beside the request: the model. Address
// and key are not in it.
func (c *Client) Identity() string { return "model " + c.model }

// Chat sends a request and waits for the whole answer.
//
// Errors are *StatusError, ErrRefused, ErrTruncated, ErrEmpty, ErrNotChat,
// transport.ErrTooLarge, the context's, or the connection's. With ErrRefused, ErrTruncated
// and ErrEmpty the answer is filled in as far as it goes: such a call is billed.
// A server that refuses the form of the answer (response_format), of its limit or
// a temperature is asked again in a plainer form; the client remembers what the
// server took.
func (c *Client) Chat(ctx context.Context, r Request) (Answer, error) {
	for {
		form := c.dialect.now()
		answer, err := c.once(ctx, r, form)
		if err != nil && c.dialect.learn(form, r, err) {
			continue
		}
		return answer, err
	}
}

func (c *Client) once(ctx context.Context, r Request, f form) (Answer, error) {
	ex := &exchange{http: c.http, key: c.key}
	config := openai.DefaultConfig(c.key)
	config.BaseURL, config.HTTPClient = c.base, ex
	asked := openai.ChatCompletionRequest{
		Model: c.model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: r.System},
			{Role: openai.ChatMessageRoleUser, Content: r.User},
		},
	}
	f.apply(&asked, r)
	response, err := openai.NewClientWithConfig(config).CreateChatCompletion(transport.LimitBody(ctx, maxAnswer), asked)
	switch {
	case err == nil:
		return ex.read(response)
	case ctx.Err() != nil:
		return Answer{}, fmt.Errorf("asking the model: %w", ctx.Err())
	case errors.As(err, new(*StatusError)):
		return Answer{}, err
	case ex.answered:
		return Answer{}, fmt.Errorf("reading the answer of %s: %w", c.base, ErrNotChat)
	}
	return Answer{}, fmt.Errorf("asking the model: %w", transport.Clean(err))
}
