package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

// StatusError is an answer whose status means failure.
type StatusError struct {
	Method  string
	URL     string // without user, query and fragment
	Code    int
	Message string // the server's message, escaped: one line of at most 500 characters, or empty
	Limited bool   // a rate limit, not a missing right

	Needs      string        // permissions that GitHub says the request needs, such as "pull-requests: write"; or empty
	RetryAfter time.Duration // wait that the server asks for; 0 if it names no time
}

// Error returns the request, the status and the server's message.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s %s answered %d", e.Method, e.URL, e.Code)
	if name := http.StatusText(e.Code); name != "" {
		text += " " + name
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Where returns the request and the status: the message of a caller that wraps e tells the purpose.
func (e *StatusError) Where() string { return e.Error() }

// Next tells the user what to do, in general: a caller that knows better wraps e.
func (e *StatusError) Next() string {
	switch {
	case e.Limited:
		return "the server limits this token's requests; wait and run it again"
	case e.Code >= http.StatusInternalServerError:
		return "the server is failing; run it again later"
	}
	return "correct what the answer names, then run it again"
}

const (
	maxErrorBody = 64 << 10
	maxMessage   = 500
)

// Do sends a request and reads its whole answer. It returns a *StatusError for a status other than
// 2xx. No error contains the address's query.
func Do(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, Clean(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, Status(resp)
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// Post sends JSON, with a key as a bearer token where there is one, and reads the answer
// as Do does. A key that comes back in the server's words is not repeated in the error.
func Post(ctx context.Context, client *http.Client, url, key string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	text, err := Do(client, req)
	if status, ok := errors.AsType[*StatusError](err); ok {
		status.Message = Conceal(status.Message, key)
	}
	return text, err
}

// Status describes an answer whose status the caller does not accept. It reads and closes the body.
func Status(resp *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a truncated message is still one
	resp.Body.Close()
	wait, limited := limitWait(resp, body)
	return &StatusError{
		Method: resp.Request.Method, URL: bareURL(resp.Request.URL), Code: resp.StatusCode,
		Message: guard.Line(message(resp, body), maxMessage), Limited: limited, RetryAfter: wait,
		Needs: neededPermissions(resp.Header.Get("X-Accepted-GitHub-Permissions")),
	}
}

var permission = pattern.Lazy(`^[a-z_]{1,40}=(?:read|write|admin)$`)

// neededPermissions converts the permissions of GitHub's header to the spelling of workflow files. Those after
// a semicolon are alternatives and left out.
func neededPermissions(header string) string {
	first, _, _ := strings.Cut(header, ";")
	var all []string
	for p := range strings.SplitSeq(first, ",") {
		if p = strings.TrimSpace(p); permission().MatchString(p) {
			name, level, _ := strings.Cut(p, "=")
			all = append(all, strings.ReplaceAll(name, "_", "-")+": "+level)
		}
	}
	return strings.Join(all, ", ")
}

// message finds the server's message in the forms that GitHub, its artifact service, blob storage
// and model endpoints use, and in plain text.
func message(resp *http.Response, body []byte) string {
	if code := resp.Header.Get("X-Ms-Error-Code"); code != "" {
		return code
	}
	if WebPage(resp) {
		return "with a web page, so a proxy or another server may have answered"
	}
	if !json.Valid(body) {
		return strings.TrimSpace(string(body))
	}
	var said struct {
		Message string            `json:"message"`
		Msg     string            `json:"msg"`
		Error   json.RawMessage   `json:"error"`
		Errors  []json.RawMessage `json:"errors"`
	}
	_ = json.Unmarshal(body, &said) // keeps the fields that fit
	parts := []string{said.Message, said.Msg, errorText(said.Error)}
	for _, e := range said.Errors {
		parts = append(parts, errorText(e))
	}
	return wording.Joined("; ", parts...)
}

// WebPage reports whether an answer is declared as a page for a browser, as a proxy or a login
// sends it in a server's place.
func WebPage(resp *http.Response) bool {
	return strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/html")
}

// errorText returns the text of an error that is a string or an object with a message.
func errorText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct{ Message, Field, Code string }
	_ = json.Unmarshal(raw, &object) // a code may be a number: the message is kept
	return cmp.Or(object.Message, strings.TrimSpace(object.Field+" "+object.Code))
}

// minSecret is the length in bytes of the shortest key that Conceal removes. A shorter one is a
// placeholder for a server that needs none, and may be a word ("test", "major") that answers contain.
const minSecret = 12

// Conceal removes a key from a text that came back from the server to which it was sent.
func Conceal(text, key string) string {
	if len(key) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, key, "***")
}
