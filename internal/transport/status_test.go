package transport

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStatusKeepsTheServersWordsOnOneLine(t *testing.T) {
	for name, tc := range map[string]struct{ kind, body, want string }{
		"github": {"application/json", `{"message":"Not Found"}`, "Not Found"},
		"texts": {"application/json", `{"message":"Unprocessable Entity","errors":["line must be part of the` +
			` diff"]}`, "Unprocessable Entity; line must be part of the diff"},
		"objects": {"application/json", `{"message":"Bad","errors":[{"field":"body","code":"missing"}` +
			`,{"message":"own words"}]}`, "Bad; body missing; own words"},
		"twirp": {"application/json", `{"code":"already_exists","msg":"an artifact exists"}`,
			"an artifact exists"},
		"model":      {"application/json", `{"error":{"message":"no such model","code":404}}`, "no such model"},
		"model text": {"application/json", `{"error":"invalid key"}`, "invalid key"},
		"page": {"text/html; charset=utf-8", "<html>secret</html>",
			"with a web page, so a proxy or another server may have answered"},
		"no JSON": {"application/json", "upstream\nfailed {", "upstream failed {"},
		"nothing": {"application/json", "", ""},
		"T13": {"application/json", `{"message":"a\n::add-mask::x\u001b[31m\u202e"}`,
			"a ::add-mask::x<U+001B>[31m<U+202E>"},
		"long": {"application/json", `{"message":"` + strings.Repeat("é", 600) + `"}`, strings.Repeat("é", 500) + "…"},
	} {
		base, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tc.kind)
			w.WriteHeader(418)
			io.WriteString(w, tc.body)
		})
		resp, err := New(Options{}).Get(base + "/p?token=secret")
		require.NoError(t, err, name)
		e := Status(resp)
		require.Equal(t, tc.want, e.Message, name)
		require.Equal(t, base+"/p", e.URL, name)
		require.NotContains(t, e.Error(), "secret", name)
	}
}

func TestT13_StatusIsNoCommandAndHidesNothing(t *testing.T) {
	base, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		io.WriteString(w, "\n ::add-mask::x\u202e")
	})
	resp, err := New(Options{}).Get(base)
	require.NoError(t, err)
	require.Equal(t, `\::add-mask::x<U+202E>`, Status(resp).Message)
}

func TestStatusTellsARateLimitFromAMissingPermission(t *testing.T) {
	base, _ := answers(t, status(403, "Retry-After", "3600"), status(403))
	client := New(Options{})
	resp, err := client.Get(base)
	require.NoError(t, err)
	said := Status(resp)
	require.True(t, said.Limited, "403 with Retry-After")
	require.Equal(t, time.Hour, said.RetryAfter)
	resp, err = client.Get(base)
	require.NoError(t, err)
	require.False(t, Status(resp).Limited, "403 without Retry-After")
}

func TestDoReturnsTheBodyAndHidesSignatures(t *testing.T) {
	base, _ := answers(t, text("fine"), status(500), func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	})
	req, err := http.NewRequest("GET", base+"/p?sig=secret", nil)
	require.NoError(t, err)
	client := New(Options{Tries: 1})
	body, err := Do(client, req)
	require.NoError(t, err)
	require.Equal(t, "fine", string(body))
	_, err = Do(client, req)
	var e *StatusError
	require.ErrorAs(t, err, &e)
	require.Equal(t, 500, e.Code)
	_, err = Do(client, req)
	require.ErrorContains(t, err, base+"/p", "a lost connection")
	require.NotContains(t, err.Error(), "secret", "a lost connection")
}

func TestCleanHidesSignatures(t *testing.T) {
	err := Clean(&url.Error{Op: "Put", URL: "https://blob.example/c?sig=abc", Err: errors.New("reset")})
	require.Equal(t, `Put "https://blob.example/c": reset`, err.Error())
	err = Clean(&url.Error{Op: "Put", URL: "%zz?sig=abc", Err: errors.New("reset")})
	require.NotContains(t, err.Error(), "abc")
	require.EqualError(t, Clean(io.EOF), "EOF")
}
