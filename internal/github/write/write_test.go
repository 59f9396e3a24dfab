package write

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

var ref = pull.Ref{Owner: "o", Repo: "r", Number: 7}

// serve makes a client whose transport would retry anything, and counts.
func serve(t *testing.T, h http.HandlerFunc) (c *Client, calls func() int) {
	t.Helper()
	n := make(chan int, 1)
	n <- 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n <- <-n + 1
		h(w, r)
	}))
	t.Cleanup(server.Close)
	hc := transport.New(transport.Options{Retry: func(*http.Request) bool { return true }})
	t.Cleanup(hc.CloseIdleConnections)
	reader, err := github.New(github.Options{APIURL: server.URL, Token: "t", HTTP: hc})
	require.NoError(t, err)
	c = New(reader)
	c.Sleep = func(context.Context, time.Duration) error { return errors.New("no wait was expected") }
	return c, func() int { v := <-n; n <- v; return v }
}

func TestT32_AReviewIsACommentAndNothingElse(t *testing.T) {
	var sent []map[string]any
	var asked []string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		require.Equal(t, "Bearer t", r.Header.Get("Authorization"))
		body := map[string]any{}
		require.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		sent = append(sent, body)
		io.WriteString(w, `{"id":5,"html_url":"https://github.com/o/r/pull/7#pullrequestreview-5"}`)
	})
	id, url, err := c.CreatePending(t.Context(), ref, "h1", "body <b>", []Comment{
		{Path: "a.go", Side: "RIGHT", Line: 3, Body: "one"},
		{Path: "a.go", Side: "RIGHT", StartLine: 4, Line: 4, Body: "same"},
		{Path: "b.go", Side: "LEFT", StartLine: 1, Line: 3, Body: "range"},
	})
	require.NoError(t, err)
	require.EqualValues(t, 5, id)
	require.Equal(t, "https://github.com/o/r/pull/7#pullrequestreview-5", url)
	submitted, err := c.Submit(t.Context(), ref, id, "body <b>")
	require.NoError(t, err)
	require.Equal(t, url, submitted)
	require.Equal(t, []string{"POST /repos/o/r/pulls/7/reviews", "POST /repos/o/r/pulls/7/reviews/5/events"}, asked)
	require.Equal(t, []map[string]any{{"commit_id": "h1", "body": "body <b>", "comments": []any{
		map[string]any{"path": "a.go", "side": "RIGHT", "line": 3.0, "body": "one"},
		map[string]any{"path": "a.go", "side": "RIGHT", "line": 4.0, "body": "same"},
		map[string]any{"path": "b.go", "side": "LEFT", "line": 3.0, "start_line": 1.0, "start_side": "LEFT",
			"body": "range"},
	}}, {"body": "body <b>", "event": "COMMENT"}}, sent)
}

func TestP5_APostIsSentOnceAndSaysWhatBecameOfIt(t *testing.T) {
	for name, tc := range map[string]struct {
		code int
		kind string
		body string
		want error
	}{
		"refused": {422, "application/json",
			`{"message":"Unprocessable Entity","errors":["line must be part of the diff"]}`, ErrRefused},
		"pending": {422, "application/json",
			`{"message":"Unprocessable Entity","errors":["User can only have one pending review per pull request"]}`,
			ErrPending},
		"pending, old": {422, "application/json",
			`{"message":"Validation Failed","errors":[{"field":"user_id","message":"user_id can only have one` +
				` pending review per pull request"}]}`, ErrPending},
		"no permission": {403, "application/json", `{"message":"Resource not accessible by integration"}`,
			ErrNoPermission},
		"bad token":      {401, "application/json", `{}`, github.ErrNoAccess},
		"not found":      {404, "application/json", `{}`, github.ErrNotFound},
		"server error":   {502, "text/html", `<html>`, ErrUnknown},
		"lost answer":    {200, "application/json", `{"id":`, ErrUnknown},
		"empty answer":   {200, "application/json", ``, ErrUnknown},
		"another answer": {200, "application/json", `{}`, ErrUnknown},
		"web page":       {200, "text/html", `<html>`, ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, calls := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				w.WriteHeader(tc.code)
				io.WriteString(w, tc.body)
			})
			_, _, err := c.CreatePending(t.Context(), ref, "h1", "body", nil)
			require.Error(t, err)
			require.Equal(t, 1, calls(), "a POST is never sent again")
			for _, sentinel := range []error{ErrRefused, ErrPending, ErrNoPermission, ErrUnknown, github.ErrNotFound} {
				require.Equal(t, sentinel == tc.want, errors.Is(err, sentinel), "%v: %v", sentinel, err)
			}
			var status *transport.StatusError
			require.Equal(t, tc.code >= 400, errors.As(err, &status))
			if tc.want == ErrRefused {
				require.Contains(t, status.Message, "line must be part of the diff")
			}
		})
	}
}

func TestP5_AReviewThatALimitTurnedAwayIsSentAgain(t *testing.T) {
	const secondary = `{"message":"You have exceeded a secondary rate limit"}`
	const tooQuickly = `{"message":"Unprocessable Entity","errors":["was submitted too quickly"]}`
	const abuse = `{"message":"Validation Failed","errors":[{"resource":"PullRequestReview","code":"abuse",` +
		`"field":"base"}]}`
	for name, tc := range map[string]struct {
		code        int
		after, body string
		times       int // that it is turned away
		then        int // the status after that
		waits       []time.Duration
		want        error
	}{
		"once":        {429, "7", `{}`, 1, 200, []time.Duration{7 * time.Second}, nil},
		"as 403":      {403, "60", `{}`, 2, 200, []time.Duration{time.Minute, time.Minute}, nil},
		"in words":    {403, "", secondary, 1, 200, []time.Duration{time.Minute}, nil},
		"as 422":      {422, "", tooQuickly, 1, 200, []time.Duration{time.Minute}, nil},
		"as abuse":    {422, "", abuse, 1, 200, []time.Duration{time.Minute}, nil},
		"three times": {429, "1", `{}`, 3, 200, []time.Duration{time.Second, time.Second, time.Second}, nil},
		"four times": {429, "1", `{}`, 4, 200, []time.Duration{time.Second, time.Second, time.Second},
			errLimited},
		"longer than we wait":   {429, "61", `{}`, 1, 200, nil, errLimited},
		"503 that asks to wait": {503, "1", `{}`, 1, 200, nil, ErrUnknown},
		"a missing right":       {403, "", `{}`, 1, 200, nil, ErrNoPermission},
		"a 502 behind a limit":  {429, "1", `{}`, 1, 502, []time.Duration{time.Second}, ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := tc.times
			c, calls := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Contains(t, string(body), `"body"`, "whole each time")
				w.Header().Set("Content-Type", "application/json")
				if left--; left < 0 {
					w.WriteHeader(tc.then)
					io.WriteString(w, `{"id":5}`)
					return
				}
				if tc.after != "" {
					w.Header().Set("Retry-After", tc.after)
				}
				w.WriteHeader(tc.code)
				io.WriteString(w, tc.body)
			})
			var waits []time.Duration
			c.Sleep = func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			}
			id, _, err := c.CreatePending(t.Context(), ref, "h1", "body", nil)
			require.Equal(t, tc.waits, waits)
			require.Equal(t, len(waits)+1, calls())
			switch tc.want {
			case nil:
				require.NoError(t, err)
				require.EqualValues(t, 5, id)
			case errLimited:
				require.True(t, isLimited(err), err)
				require.NotErrorIs(t, err, ErrUnknown)
			default:
				require.ErrorIs(t, err, tc.want)
			}
		})
	}
}

var errLimited = errors.New("a rate limit's *transport.StatusError")

func isLimited(err error) bool {
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && status.Limited
}

func TestP5_ACancelledWaitHasPostedNothing(t *testing.T) {
	c, calls := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	ctx, cancel := context.WithCancel(t.Context())
	c.Sleep = func(ctx context.Context, d time.Duration) error {
		cancel()
		return transport.Sleep(ctx, d)
	}
	_, _, err := c.CreatePending(ctx, ref, "h1", "body", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, isLimited(err))
	require.NotErrorIs(t, err, ErrUnknown)
	require.Equal(t, 1, calls())
}

func TestP5_ADroppedConnectionIsUnknown(t *testing.T) {
	c, calls := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, _, err := c.CreatePending(t.Context(), ref, "h1", "body", nil)
	require.ErrorIs(t, err, ErrUnknown)
	require.Equal(t, 1, calls())
}
