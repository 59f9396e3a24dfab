package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wording"
)

var (
	// ErrTooLarge reports an answer above the size limit.
	ErrTooLarge = problem.Sentinel("the answer is too large",
		"run it again; if it stays so, it is more than can be read")
	// ErrTimeout reports a try without a complete answer in time.
	ErrTimeout = problem.Sentinel("no complete answer in time",
		"check that this machine can reach that server; run it again")
	// ErrNotJSON reports a 2xx answer that is not JSON, to a request that accepts JSON.
	ErrNotJSON = errors.New("what came back is not JSON")
)

type limitKey struct{}

// LimitBody sets the size limit of answers to requests of this context, in bytes, in place of Options.MaxBody.
func LimitBody(ctx context.Context, limit int64) context.Context {
	return context.WithValue(ctx, limitKey{}, limit)
}

type briefKey struct{}

// Brief bounds the time of each request of this context, the waits between its tries included, in place of
// Options.Timeout. A wait that would take longer does not begin: the answer before it is returned, which says more
// than a timeout.
func Brief(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, briefKey{}, d)
}

// retrying is the round-tripper of New's clients.
type retrying struct {
	options Options
	base    *http.Transport
}

// CloseIdleConnections makes http.Client.CloseIdleConnections reach the base transport.
func (t *retrying) CloseIdleConnections() { t.base.CloseIdleConnections() }

// RoundTrip sends a request until an answer is final or no try is left. It returns the last answer or error.
func (t *retrying) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if err := checkURL(req.URL, t.options.AllowHTTP); err != nil {
		return nil, err
	}
	if t.options.Stream {
		return t.stream(req)
	}
	brief, hurried := req.Context().Value(briefKey{}).(time.Duration)
	began, waited := time.Now(), time.Duration(0)
	for try := 1; ; try++ {
		resp, body, err := t.tryWithHooks(req, try)
		wait, why := t.nextWait(req, resp, body, err, try)
		if why == "" || waited+wait > maxWait || hurried && time.Since(began)+wait > brief {
			return requireJSON(req, resp, body, err)
		}
		waited += wait
		t.options.OnWait(wait, why)
		if err := t.options.Sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// tryOnce makes one try and reads the whole answer.
func (t *retrying) tryOnce(req *http.Request, traced context.Context) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(traced, t.timeout(req))
	defer cancel()
	resp, err := t.send(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := readBody(resp, t.maxBody(req))
	if err != nil {
		return nil, nil, t.timeoutError(req, ctx, err)
	}
	resp.ContentLength = int64(len(body))
	correctStatus(resp, body)
	return resp, body, nil
}

// correctStatus gives an answer the status of a temporary failure that its body states: OpenRouter passes on so what a
// provider answered after it had begun a 200. What has a usage was billed, and stays. What a GET reads may be any file.
func correctStatus(resp *http.Response, body []byte) {
	var said struct {
		Error struct{ Code int }
		Usage any
	}
	if resp.StatusCode == http.StatusOK && resp.Request.Method == http.MethodPost &&
		bytes.HasPrefix(bytes.TrimSpace(body), []byte(`{"error"`)) && json.Unmarshal(body, &said) == nil &&
		said.Usage == nil && said.Error.Code < 600 && isTemporary(said.Error.Code) {
		resp.StatusCode = said.Error.Code
	}
}

// send sends a copy of a request, with the body from its start. ctx is that of a try.
func (t *retrying) send(ctx context.Context, req *http.Request) (*http.Response, error) {
	sent := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("reading the request's body: %w", err)
		}
		sent.Body = body
	}
	if t.options.UserAgent != "" {
		sent.Header.Set("User-Agent", t.options.UserAgent)
	}
	resp, err := t.base.RoundTrip(sent)
	if err != nil {
		return nil, t.timeoutError(req, ctx, err)
	}
	resp.Request = req
	return resp, nil
}

func (t *retrying) maxBody(req *http.Request) int64 {
	if limit, ok := req.Context().Value(limitKey{}).(int64); ok {
		return limit
	}
	return t.options.MaxBody
}

// timeout returns the timeout of one try.
func (t *retrying) timeout(req *http.Request) time.Duration {
	if brief, ok := req.Context().Value(briefKey{}).(time.Duration); ok {
		return min(brief, t.options.Timeout)
	}
	return t.options.Timeout
}

// timeoutError tells our own timeout from the end of the caller's context.
func (t *retrying) timeoutError(req *http.Request, try context.Context, err error) error {
	if req.Context().Err() != nil {
		return req.Context().Err()
	}
	if try.Err() != nil {
		return fmt.Errorf("%w: waited %s", ErrTimeout, wording.Span(t.timeout(req)))
	}
	return withAdvice(err)
}

// requireJSON refuses a 2xx answer that is not JSON if JSON was requested: a reader would complain about a character in
// it, and not name the server. Empty answers and web pages pass, which callers recognize by their headers.
func requireJSON(req *http.Request, resp *http.Response, body []byte, err error) (*http.Response, error) {
	if err != nil || !notJSON(req, resp, body) || WebPage(resp) {
		return resp, err
	}
	return nil, fmt.Errorf("%w: %s answered %d with %q", ErrNotJSON, req.URL.Host, resp.StatusCode,
		guard.Line(resp.Header.Get("Content-Type"), maxMessage))
}

// notJSON reports whether a 2xx answer is not the JSON that was requested: a proxy's page, or the front of a
// truncated answer.
func notJSON(req *http.Request, resp *http.Response, body []byte) bool {
	accept := req.Header.Get("Accept") // GitHub's raw media types also end in json
	wanted := strings.Contains(accept, "json") && !strings.Contains(accept, ".raw")
	return wanted && resp.StatusCode/100 == 2 && len(body) > 0 && !json.Valid(body)
}

func readBody(resp *http.Response, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, limit)
	}
	return body, nil
}

// nextWait returns how long to wait before the next try and why; an empty why ends the request. After a failure it
// waits a random part of a time that doubles (full jitter). If the server names a time, the random part is added to
// it, so that clients that were rejected together do not return together.
func (t *retrying) nextWait(req *http.Request, resp *http.Response, body []byte, err error,
	try int) (time.Duration, string) {
	repeatable := req.Body == nil || req.Body == http.NoBody || req.GetBody != nil // its body can be sent again
	if !repeatable || !t.options.Retry(req) {
		return 0, ""
	}
	random := func(of time.Duration) time.Duration { return time.Duration(float64(of) * t.options.Jitter()) }
	doubled := t.options.Backoff << min(try-1, 6)
	if err != nil {
		if try >= t.options.Tries || req.Context().Err() != nil || isPermanent(err) {
			return 0, ""
		}
		return random(doubled), req.URL.Host + " could not be reached"
	}
	asked, limited := limitWait(resp, body)
	if limited && asked == 0 {
		asked = t.options.LimitWait << min(try-1, 3)
	}
	why := fmt.Sprintf("%s answered %d", req.URL.Host, resp.StatusCode)
	switch {
	case try == 1 && t.options.Tries > 1 && notJSON(req, resp, body): // once: the next may be the server's own
		return random(doubled), why + " without the JSON that was asked for"
	case limited && try < t.options.LimitTries && !OutOfFunds(body) && !Oversized(body):
		return asked + random(t.options.Backoff), why
	case !limited && try < t.options.Tries && isTemporary(resp.StatusCode) && !Oversized(body):
		return asked + random(doubled), why
	}
	return 0, ""
}

// The words of OpenAI, Anthropic, OpenRouter, xAI, Moonshot, z.ai, Alibaba and LiteLLM. Gemini says that a quota is
// exceeded for a rate limit, too.
var noFunds = pattern.Lazy(`(?i)insufficient[_ ](quota|balance|credit)|exceeded_current_quota_error` +
	`|billing[_ ]hard[_ ]limit|(credit balance|balance) is too low|used all available credits|spending limit` +
	`|api usage limits|key limit exceeded|budget_exceeded|arrearage|limit: 0,|perdayper`)

// OutOfFunds reports whether a refusal says that the account has no money, or no quota for today: waiting is no help.
func OutOfFunds(said []byte) bool { return noFunds().Match(said) }

var oversized = pattern.Lazy(`(?i)request too large for|fewer max_tokens|too large to process`)

// Oversized reports whether a refusal says that the account may not ask for that much at a time, its output limit
// included: OpenAI and Groq in the words of a rate limit, OpenRouter in those of its credit; or llama.cpp, as an error
// of its own, that it cannot embed that much.
func Oversized(said []byte) bool { return oversized().Match(said) }

// isPermanent reports whether the next try would fail the same way.
func isPermanent(err error) bool {
	return errors.Is(err, ErrNotBegun) || errors.Is(err, ErrTooLarge) || Refused(err) || isUnreachable(err)
}

// isUnreachable reports whether err came before the request was sent and would come again: nobody listens at a wrong
// address a second later either.
func isUnreachable(err error) bool {
	if err == nil {
		return false
	}
	var lookup *net.DNSError
	return errors.As(err, new(*tls.CertificateVerificationError)) || isHandshakeError(err) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &lookup) && lookup.IsNotFound
}

// isHandshakeError reports whether the two ends failed to agree on TLS: the other one does not speak it, or either sent
// an alert. The alert's type is not exported; the operation's name tells it from a lost connection.
func isHandshakeError(err error) bool {
	var header tls.RecordHeaderError
	if errors.As(err, &header) || strings.HasPrefix(err.Error(), "tls: ") {
		return true
	}
	for op := (*net.OpError)(nil); errors.As(err, &op); err = op.Err {
		if op.Op == "remote error" || op.Op == "local error" {
			return true
		}
	}
	return false
}

func isTemporary(code int) bool {
	return code == http.StatusTooManyRequests || code == http.StatusRequestTimeout ||
		code >= 500 && code != http.StatusNotImplemented && code != http.StatusHTTPVersionNotSupported
}

// limitWords are those of GitHub's refusals that name no time. The third comes with comments, the last from before the
// artifact service, at random: https://github.com/actions/download-artifact/issues/464
var limitWords = pattern.Lazy(`(?i)secondary rate limit|submitted too quickly|"code": ?"abuse"|error from intermediary`)

// limitWait returns how long a server asks to wait, and whether it rejected the request for a rate limit. GitHub also
// does so with 403, together with a Retry-After, a spent x-ratelimit-remaining, or only a message, and with 422.
func limitWait(resp *http.Response, body []byte) (wait time.Duration, limited bool) {
	if resp.StatusCode < http.StatusBadRequest {
		return 0, false
	}
	now := time.Now()
	wait = RetryAfter(resp.Header, body, now)
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		limited = true
	case http.StatusForbidden, http.StatusUnprocessableEntity:
		limited = limitWords().Match(body) || resp.StatusCode == http.StatusForbidden &&
			(wait > 0 || resp.Header.Get("X-Ratelimit-Remaining") == "0")
	}
	if limited && wait == 0 {
		wait = untilReset(resp.Header, now)
	}
	return wait, limited
}

// stream makes one try and leaves the answer's body to the caller.
func (t *retrying) stream(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.options.Timeout)
	resp, err := t.send(ctx, req)
	if err != nil {
		cancel()
		return nil, err
	}
	limit := t.maxBody(req)
	resp.Body = &streamed{ReadCloser: resp.Body, left: limit, limit: limit, done: cancel}
	return resp, nil
}

// streamed is the body of an answer in progress, up to a limit.
type streamed struct {
	io.ReadCloser
	left, limit int64
	done        context.CancelFunc
}

// Read fails with ErrTooLarge beyond the limit.
func (s *streamed) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.left -= int64(n); s.left < 0 {
		return 0, fmt.Errorf("%w: the limit is %d bytes", ErrTooLarge, s.limit)
	}
	return n, err
}

// Close ends the request.
func (s *streamed) Close() error {
	defer s.done()
	return s.ReadCloser.Close()
}
