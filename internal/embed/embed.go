// Package embed asks remote models about texts: for vectors, through endpoints with
// OpenAI's or Voyage's API, and for how well documents answer a query, through rerankers
// with Cohere's or Voyage's API.
//
// Answers are untrusted: their count, their size and every number in them are checked,
// and a server that fails once is not asked again in this run. The HTTP client waits
// and retries; the caller pays and keeps a journal (Ask). The package neither stores nor
// compares vectors. Start reading at Options and Embedder.
package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// The forms of requests and answers. OpenAI is for embeddings only, Cohere for rerankers only.
const (
	OpenAI = "openai"
	Voyage = "voyage"
	Cohere = "cohere"
)

// Options configures an endpoint. Model, HTTP, Redact and Ask are required.
type Options struct {
	BaseURL string       // without /embeddings or /rerank; empty for the vendor's own
	Key     string       // empty for servers that need none
	Model   string       // the server's name for the model
	Style   string       // OpenAI or Voyage; for a reranker Cohere or Voyage; empty for the first
	HTTP    *http.Client // from transport.New: it handles proxies, retries, timeouts and the size limit

	AllowHTTP  bool                // allows plain http to hosts other than loopback
	Dimensions int                 // of the vectors; 0 for the model's own
	Redact     func(string) string // every text passes through it before it is sent
	Ask        Ask                 // pays for answers and keeps them
	OnLost     func(*LostError)    // called once, when the server is given up; may be nil
}

// Answer is a server's answer in the form in which it is kept: consecutive vectors of
// 4-byte little-endian floats, or scores in the documents' order.
type Answer struct {
	Vectors []byte
	Scores  []float64
	Usage   cost.Usage
}

// Ask makes a call that may use up to most, or returns the answer that an earlier run
// paid for. key is a hash of everything that determines the answer; it is empty if the
// answer is kept elsewhere. do makes one request.
type Ask func(ctx context.Context, key string, most cost.Usage,
	do func(context.Context) (Answer, error)) (Answer, error)

// LostError reports that a server is no longer asked in this run, and why.
type LostError struct {
	What string // "embeddings" or "rerank"
	Err  error  // its text may contain the server's own words
}

// Error returns the cause, which may contain the server's words.
func (e *LostError) Error() string { return e.What + " are off for this run: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// Note returns one line for readers of the run's result, without any of the server's words.
func (e *LostError) Note() string {
	names := map[string]string{
		"embeddings": "The embeddings endpoint is off for this run, so search used only words and structure",
		"rerank":     "The rerank endpoint is off for this run, so search results are in the order of our own fusion",
	}
	return names[e.What] + ": " + e.cause() + "."
}

func (e *LostError) cause() string {
	if status, ok := errors.AsType[*transport.StatusError](e.Err); ok {
		return fmt.Sprintf("it answered %d", status.Code)
	}
	if wrong, ok := errors.AsType[wrongError](e.Err); ok {
		return string(wrong)
	}
	switch {
	case errors.Is(e.Err, transport.ErrTimeout):
		return "it gave no complete answer in time"
	case errors.Is(e.Err, transport.ErrTooLarge):
		return "its answer was too large"
	case errors.Is(e.Err, transport.ErrRedirect):
		return "it redirects elsewhere"
	case errors.Is(e.Err, transport.ErrNotJSON):
		return "its answer was no JSON"
	}
	return "it could not be reached"
}

// wrongError says what is wrong with an answer.
type wrongError string

func (e wrongError) Error() string { return "the answer is of no use: " + string(e) }

func newWrongError(format string, args ...any) error { return wrongError(fmt.Sprintf(format, args...)) }

// newServer checks the options and determines an endpoint's style and URL; it sends nothing.
// what is the last part of the URL's path, style the default one, and address its vendor's.
func newServer(o Options, what, style, address string) (*server, error) {
	o.Style, o.Key = cmp.Or(o.Style, style), strings.TrimSpace(o.Key)
	own := map[string]string{style: address, Voyage: "https://api.voyageai.com/v1"}[o.Style]
	if own == "" {
		return nil, problem.Usage(fmt.Sprintf("%s.style: %.40q is not one of %s", what, o.Style,
			style+", "+Voyage), "")
	}
	u, err := transport.CheckURL(cmp.Or(o.BaseURL, own), o.AllowHTTP)
	if err != nil {
		return nil, problem.As(problem.Misuse, fmt.Errorf("%s.base-url: %w", what, err), "")
	}
	switch {
	case o.Model == "":
		return nil, problem.Usage(what+".model: no name given", "name the model that the endpoint serves")
	case strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, problem.Usage("the key of "+what+" contains a space, a line break or a character outside ASCII",
			"look at the variable that "+what+".key-env names")
	}
	path, base := "/"+what, strings.TrimRight(u.Path, "/")
	if base == "" && what == "rerank" { // the vendor's /v1 or /v2 is part of its name
		base = own[strings.LastIndexByte(own, '/'):]
	}
	to := url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(base, path) + path}
	s := &server{Options: o, what: what, url: to.String(), identity: o.Model}
	switch host := strings.ToLower(u.Hostname()); {
	case transport.Loopback(host):
		s.identity += " of this machine"
	case !strings.Contains(own, "//"+host+"/"):
		s.identity += " of " + host
	}
	if o.Dimensions > 0 {
		s.identity += fmt.Sprintf(", %d dimensions", o.Dimensions)
	}
	return s, nil
}
