// Package atlassian reads tickets from Jira and pages from Confluence by their REST
// interfaces, Cloud and Data Center alike, and puts a comment under a ticket.
//
// It makes one request where it is asked for one thing and repeats none: whether to ask again is its caller's. What
// it returns is untrusted text; what it says of a failure is in its own words. Start at Options, Jira and Confluence.
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

// MaxAnswer bounds the answer to one request, in bytes. The HTTP client holds it.
const MaxAnswer = 2 << 20

// Options say where a server is and who asks it.
type Options struct {
	URL         string // of Jira, or of Confluence with its /wiki where it has one
	User, Token string // with a user Basic and Cloud's interfaces, without one Bearer and Data Center's
	// of Jira: the field with the acceptance criteria; empty for the one that is called so
	CriteriaField string
	HTTP          *http.Client // transport.New's, of one try
}

// Failure is why something could not be had.
type Failure struct {
	Note       string // what happened, in our own words, behind who was asked: "refused the credentials (401)"
	Temporary  bool   // whether asking again may help
	RetryAfter time.Duration
	Err        error // behind it; nil for none. It may hold the server's words
}

// Error is the note.
func (f *Failure) Error() string { return f.Note }

// Unwrap is what lies behind it.
func (f *Failure) Unwrap() error { return f.Err }

// Fail makes a Failure that asking again does not help.
func Fail(format string, args ...any) *Failure { return &Failure{Note: fmt.Sprintf(format, args...)} }

// Explain makes a Failure of any error of a request for the ticket or page id.
// who names the account in "not visible to …", such as "the Jira user".
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
		f.Note = fmt.Sprintf("does not let %s read %s (403)", who, id)
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
		f.Note = "sent the request on to another host, where it was not followed"
	case errors.Is(err, transport.ErrNotJSON), errors.As(err, new(*json.SyntaxError)):
		f.Note = "gave an answer that is not JSON, such as a login page"
	case errors.As(err, new(*json.UnmarshalTypeError)):
		f.Note = "gave an answer of another form than expected"
	case errors.Is(err, transport.ErrForbidden), errors.Is(err, transport.ErrInsecure):
		f.Note = "has an address that is refused"
	default:
		f.Note, f.Temporary = "could not be reached", transport.Sent(err)
	}
	return f
}

// send makes a request of a path below the server's address, with a JSON value where there is one, and reads one.
func (o Options) send(ctx context.Context, method, path string, given, v any) error {
	var sent io.Reader
	if given != nil {
		text, err := json.Marshal(given)
		if err != nil {
			return err
		}
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

// cloud reports whether the interfaces are those of Cloud.
func (o Options) cloud() bool { return o.User != "" }
