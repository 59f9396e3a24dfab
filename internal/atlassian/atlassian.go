// Package atlassian reads tickets from Jira and pages from Confluence by their REST interfaces, both Cloud's and Data
// Center's, and posts comments under tickets.
//
// Each method makes one request and never repeats it: retries are up to the caller. The text it returns is untrusted;
// failures are described in its own words. Start at Options, Jira and Confluence.
package atlassian

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/transport"
)

// MaxAnswer bounds the answer to one request, in bytes. The HTTP client enforces it.
const MaxAnswer = 2 << 20

// Options describes a server and the account that queries it.
type Options struct {
	URL         string // of Jira, or of Confluence with its /wiki if it has one
	User, Token string // with a user Basic, without one Bearer
	// Jira's field with the acceptance criteria; if empty, the field with such a name
	CriteriaField string
	HTTP          *http.Client // from transport.New, with a single try
}

// Failure is the reason why a request failed.
type Failure struct {
	Note       string // what happened, in our own words, to follow the source's name: "refused the credentials (401)"
	Temporary  bool   // whether a retry may help
	RetryAfter time.Duration
	Err        error // the cause; nil for none. It may contain the server's words
}

// Error returns the note.
func (f *Failure) Error() string { return f.Note }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Fail makes a Failure that a retry does not help.
func Fail(format string, args ...any) *Failure { return &Failure{Note: fmt.Sprintf(format, args...)} }

// Explain converts any error of a request for the ticket or page id to a Failure. who names the account in "not
// visible to …", such as "the Jira user".
func Explain(err error, id, who string) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	status := &transport.StatusError{}
	errors.As(err, &status)
	f := &Failure{Err: err, RetryAfter: status.RetryAfter}
	switch code := status.Code; {
	case code == http.StatusUnauthorized:
		f.Note = "refused the credentials (401)"
	case status.Limited || code == http.StatusTooManyRequests:
		f.Note, f.Temporary = fmt.Sprintf("limits its requests (%d)", code), true
	case code == http.StatusForbidden:
		f.Note = fmt.Sprintf("denies %s access to %s (403)", who, id)
	case code == http.StatusNotFound, code == http.StatusGone:
		f.Note = fmt.Sprintf("%s is not visible to %s", id, who)
	case code >= http.StatusInternalServerError:
		f.Note, f.Temporary = fmt.Sprintf("is failing (%d)", code), true
	case code > 0:
		f.Note = fmt.Sprintf("answered %d", code)
	case errors.Is(err, transport.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		f.Note = "did not answer in time"
	case errors.Is(err, transport.ErrTooLarge):
		f.Note = fmt.Sprintf("gave an answer for %s of more than %d MB", id, MaxAnswer>>20)
	case errors.Is(err, transport.ErrRedirect):
		f.Note = "redirects the request, which was not followed"
	case errors.Is(err, transport.ErrNotJSON), errors.As(err, new(*json.SyntaxError)):
		f.Note = "gave an answer that is not JSON, such as a login page"
	case errors.As(err, new(*json.UnmarshalTypeError)):
		f.Note = "gave an answer of another form than expected"
	case transport.Refused(err):
		f.Note = "has an address that is refused"
	default:
		f.Note, f.Temporary = "could not be reached", transport.Sent(err)
	}
	return f
}

// send makes a request for a path below the server's address, with a JSON value if given, and parses the JSON answer.
func (o Options) send(ctx context.Context, method, path string, given, v any) error {
	var sent io.Reader
	if given != nil {
		text, _ := json.Marshal(given) // texts alone: it cannot fail
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(o.URL, "/")+path, sent)
	if err != nil {
		return Fail("has an address that does not parse")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if o.User != "" {
		req.SetBasicAuth(o.User, o.Token)
	} else {
		req.Header.Set("Authorization", "Bearer "+o.Token)
	}
	body, err := transport.Do(o.HTTP, req)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// isCloud reports whether the interfaces are those of Cloud: with a user, or at the gateway for scoped tokens, which
// takes those of service accounts and OAuth as Bearer.
func (o Options) isCloud() bool {
	return o.User != "" || strings.Contains(o.URL, "/ex/jira/") || strings.Contains(o.URL, "/ex/confluence/")
}
