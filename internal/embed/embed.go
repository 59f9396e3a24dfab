// Package embed asks remote models about texts: for vectors, by an endpoint of
// OpenAI's shape or Voyage's, and how well documents answer a query, by Cohere's or
// Voyage's rerankers.
//
// Answers are data of a stranger: their number, their size and every number in them
// are checked, and a server that is wrong once is not asked again in this run. Waiting
// and trying again are the HTTP client's, money and journal the caller's (Ask). It
// keeps no vectors and compares none. Start reading at Options and Embedder.
package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// The shapes of requests and answers. OpenAI's is of embeddings alone, Cohere's of rerankers.
const (
	OpenAI = "openai"
	Voyage = "voyage"
	Cohere = "cohere"
)

// Options say whom to ask and how. What stands behind HTTP may be left out.
type Options struct {
	BaseURL string       // up to and without /embeddings or /rerank; empty for the vendor's own
	Key     string       // empty for servers that want none
	Model   string       // the server's name of the model
	Style   string       // OpenAI or Voyage; of a reranker Cohere or Voyage; empty for the first
	HTTP    *http.Client // transport.New's: proxies, retries, timeouts and the size limit are its own

	AllowHTTP  bool                // plain http to hosts other than loopback
	Dimensions int                 // of the vectors; 0 for the model's own
	Redact     func(string) string // what every text passes before it leaves
	Ask        Ask                 // pays and keeps; nil to just ask
	OnLost     func(*LostError)    // hears once that the server is not asked any more
}

// Answer is what a server said, as it is kept: vectors of 4-byte numbers, little
// endian, one behind the other, or scores in the documents' order.
type Answer struct {
	Vectors []byte
	Scores  []float64
	Usage   cost.Usage
}

// Ask makes a call that may use most at most, or gives the answer that an earlier run
// paid for. Key names the answer by a hash of all that settles it; it is empty where
// the answer is kept elsewhere. do makes one request.
type Ask func(ctx context.Context, key string, most cost.Usage,
	do func(context.Context) (Answer, error)) (Answer, error)

// LostError reports that a server is not asked any more in this run, and why.
type LostError struct {
	What string // "embeddings" or "rerank"
	Err  error  // its text may hold the server's own words
}

// Error names the cause, with the server's words.
func (e *LostError) Error() string { return e.What + " are off for this run: " + e.Err.Error() }

// Unwrap is the cause.
func (e *LostError) Unwrap() error { return e.Err }

// Note is one line for those who read the run's result, in our own words alone.
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
	if lie, ok := errors.AsType[*wrongError](e.Err); ok {
		return lie.what
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

// wrongError is an answer that cannot be true.
type wrongError struct{ what string }

func (e *wrongError) Error() string { return "the answer is of no use: " + e.what }

func wrong(format string, args ...any) error { return &wrongError{fmt.Sprintf(format, args...)} }

// vendor is a style, and where the one serves whose style it is.
type vendor struct{ style, url string }

// newServer settles style and address of an endpoint, and sends nothing. Path ends the
// address; the first vendor is whom a user means who names none.
func newServer(o Options, what, path string, vendors ...vendor) (*server, error) {
	at := slices.IndexFunc(vendors, func(v vendor) bool { return v.style == cmp.Or(o.Style, vendors[0].style) })
	if at < 0 {
		return nil, problem.Usage(fmt.Sprintf("%s.style: %.40q is none of %s", what, o.Style,
			vendors[0].style+", "+vendors[1].style), "")
	}
	u, err := transport.CheckURL(cmp.Or(o.BaseURL, vendors[at].url), o.AllowHTTP)
	if err != nil {
		return nil, problem.As(problem.Misuse, fmt.Errorf("%s.base-url: %w", what, err), "")
	}
	o.Style, o.Key = vendors[at].style, strings.TrimSpace(o.Key)
	switch {
	case o.Model == "":
		return nil, problem.Usage(what+".model: no name given", "name the model that the endpoint serves")
	case strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, problem.Usage("the key of "+what+" contains a space, a line break or a character outside ASCII",
			"look at the variable that "+what+".key-env names")
	}
	if o.Ask == nil {
		o.Ask = func(ctx context.Context, _ string, _ cost.Usage,
			do func(context.Context) (Answer, error)) (Answer, error) {
			return do(ctx)
		}
	}
	s := &server{Options: o, what: what}
	s.locate(u, vendors[at].url, path)
	return s, nil
}

// locate settles where requests go. Azure's addresses keep their query.
func (s *server) locate(u *url.URL, own, path string) {
	s.azure = strings.Contains(u.Path, "/openai/deployments/") || strings.HasSuffix(u.Hostname(), ".azure.com")
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	if s.azure {
		at.RawQuery = u.RawQuery
	}
	if vendor, _ := url.Parse(own); at.Path == "" && path == "/rerank" { // /v1 or /v2 is a part of its name
		at.Path = vendor.Path
	}
	at.Path = strings.TrimSuffix(at.Path, path) + path
	s.url = at.String()
	switch host := strings.ToLower(u.Hostname()); {
	case transport.Loopback(host):
		s.owner = " of this machine"
	case !strings.Contains(own, "//"+host+"/"):
		s.owner = " of " + host
	}
}
