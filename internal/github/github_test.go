package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

const token = "ghp_secret"

var ref = pull.Ref{Host: "github.com", Owner: "o", Repo: "r", Number: 7}

// noWait is a transport whose waits are over at once.
func noWait(o transport.Options) *http.Client {
	o.Sleep = func(context.Context, time.Duration) error { return nil }
	return transport.New(o)
}

// serve answers every request by h, which sees the path as it was sent.
func serve(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := New(Options{APIURL: server.URL, Token: token + "\r\n", // as a file of variables with CR LF leaves it
		HTTP: noWait(transport.Options{UserAgent: "us", Tries: 2})})
	require.NoError(t, err)
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// routes answers JSON by path and query as sent, 404 elsewhere.
func routes(t *testing.T, table map[string]string) *Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, ok := table[r.URL.RequestURI()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			body = fmt.Sprintf(`{"message":%q}`, "no route "+r.URL.RequestURI())
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, body)
	})
}

func fixed(code int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// reads are all calls of the client, to hold each against bad answers.
func reads(ctx context.Context, c *Client) map[string]func() error {
	p := pull.Pull{Ref: ref, BaseSHA: "b", HeadSHA: "h", ChangedFiles: 0}
	return map[string]func() error{
		"Pull":        func() error { _, err := c.Pull(ctx, ref); return err },
		"Files":       func() error { _, _, err := c.Files(ctx, p); return err },
		"MergeBase":   func() error { _, err := c.MergeBase(ctx, p); return err },
		"Protected":   func() error { _, err := c.Protected(ctx, "o", "r", "main"); return err },
		"LabelSetter": func() error { _, err := c.LabelSetter(ctx, ref, "l"); return err },
		"Permission":  func() error { _, err := c.Permission(ctx, "o", "r", "u"); return err },
		"Run":         func() error { _, err := c.Run(ctx, "o", "r", 1); return err },
		"RunArtifacts": func() error {
			_, _, err := c.Artifacts(ctx, "o", "r", Artifacts{Run: 1, Name: "n"})
			return err
		},
		"Artifacts":      func() error { _, _, err := c.Artifacts(ctx, "o", "r", Artifacts{Name: "n"}); return err },
		"RepoArtifacts":  func() error { _, _, err := c.Artifacts(ctx, "o", "r", Artifacts{Pages: 3}); return err },
		"OpenHeads":      func() error { _, err := c.OpenHeads(ctx, "o", "r"); return err },
		"MergedPulls":    func() error { _, err := c.MergedPulls(ctx, "o", "r", 3); return err },
		"ReviewComments": func() error { _, err := c.ReviewComments(ctx, ref); return err },
		"Member":         func() error { _, err := c.Member(ctx, "o", "r", "u"); return err },
		"Approvals":      func() error { _, err := c.Approvals(ctx, "o", "r", 1); return err },
		"Repository":     func() error { _, err := c.Repository(ctx, "o", "r"); return err },
		"Environment":    func() error { _, err := c.Environment(ctx, "o", "r", "e"); return err },
		"Reviews":        func() error { _, err := c.Reviews(ctx, ref); return err },
		"CanWritePulls":  func() error { _, _, err := c.CanWritePulls(ctx, "o", "r"); return err },
	}
}

// others are the calls whose answer is not JSON.
func others(ctx context.Context, c *Client) map[string]func() error {
	return map[string]func() error{
		"Content":     func() error { _, err := c.Content(ctx, "o", "r", "a/b", "main", 100); return err },
		"Download":    func() error { _, err := c.Download(ctx, "o", "r", 1, 100); return err },
		"CompareDiff": func() error { _, err := c.CompareDiff(ctx, "o", "r", "b", "h", 100); return err },
	}
}

func TestEveryCallTellsStatusesApart(t *testing.T) {
	limited := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ratelimit-Remaining", "0")
		w.Header().Set("X-Ratelimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		w.WriteHeader(403)
	}
	sentinels := []error{ErrNotFound, ErrNoAccess, ErrExpired, ErrTooLarge}
	for name, tc := range map[string]struct {
		h    http.HandlerFunc
		want error
		code int
	}{
		"401": {fixed(401, "application/json", `{"message":"Bad credentials"}`), ErrNoAccess, 401},
		"403": {fixed(403, "application/json", `{"message":"Resource not accessible by integration"}`),
			ErrNoAccess, 403},
		"403 limit": {limited, nil, 403},
		"404":       {fixed(404, "application/json", `{"message":"Not Found"}`), ErrNotFound, 404},
		"406": {fixed(406, "application/json", `{"message":"the diff exceeded the maximum"}`), ErrTooLarge,
			406},
		"410":         {fixed(410, "application/json", `{"message":"Artifact has expired"}`), ErrExpired, 410},
		"429":         {fixed(429, "application/json", `{}`), nil, 429},
		"500":         {fixed(500, "application/json", ``), nil, 500},
		"502 as HTML": {fixed(502, "text/html", `<html>`), nil, 502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, tc.h)
			calls := reads(t.Context(), c)
			for call, f := range others(t.Context(), c) {
				calls[call] = f
			}
			for call, f := range calls {
				err := f()
				var status *transport.StatusError
				require.ErrorAs(t, err, &status, call)
				require.Equal(t, tc.code, status.Code, call)
				require.NotContains(t, err.Error(), token, call)
				require.NotContains(t, err.Error(), "?", "%s: a query in the message", call)
				for _, s := range sentinels {
					require.Equal(t, s == tc.want, errors.Is(err, s), "%s: %v", call, s)
				}
			}
		})
	}
}

func TestP6_NoCallTakesABrokenAnswerForAnEmptyOne(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"HTML with 200":  fixed(200, "text/html; charset=utf-8", "<html>sign in</html>"),
		"nothing":        fixed(200, "application/json", ""),
		"truncated JSON": fixed(200, "application/json", `[{"id":1,"name":"n`),
		"other type":     fixed(200, "application/json", `"text"`),
		"cut connection": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "50")
			io.WriteString(w, `[]`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, h)
			for call, f := range reads(t.Context(), c) {
				require.Error(t, f(), call)
			}
			require.Error(t, others(t.Context(), c)["CompareDiff"](), "an empty diff has the media type of one")
		})
	}
	c := serve(t, fixed(200, "application/json", `{}`))
	for _, call := range []string{"Pull", "MergeBase", "Permission", "Run", "CanWritePulls", "Protected", "Environment",
		"Approvals", "Files",
		"RunArtifacts", "Artifacts", "RepoArtifacts", "OpenHeads", "MergedPulls", "ReviewComments",
		"Member", "Repository"} {
		require.Error(t, reads(t.Context(), c)[call](), "%s: an empty object", call)
	}
}

func TestGraphQLIsAskedAtItsOwnAddress(t *testing.T) {
	graphql := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "POST /some/where?x=1", r.Method+" "+r.URL.RequestURI())
		require.Equal(t, "Bearer "+token, r.Header.Get("Authorization"))
		io.WriteString(w, `{"data":{"viewer":{"login":"someone[bot]"}}}`)
	}))
	defer graphql.Close()
	c, err := New(Options{APIURL: "http://127.0.0.1:1", GraphQLURL: graphql.URL + "/some/where?x=1", Token: token,
		HTTP: noWait(transport.Options{})})
	require.NoError(t, err)
	login, err := c.App(t.Context())
	require.NoError(t, err)
	require.Equal(t, "someone[bot]", login)

	for _, path := range []string{"/some/where", "/graphql"} {
		req, err := c.client(http.MethodPost).NewRequest(http.MethodPost, graphql.URL+path, nil)
		require.NoError(t, err)
		_, err = c.client(http.MethodPost).Do(t.Context(), req, nil)
		require.ErrorContains(t, err, "sends no POST but to GraphQL", "P1: %s", path)
		_, err = c.ForWriting().Do(t.Context(), req, nil)
		require.ErrorIs(t, err, transport.ErrRedirect, "T30: %s", path)
	}
	_, err = New(Options{APIURL: "https://api.github.com", GraphQLURL: "https://user@example.com/graphql"})
	require.ErrorIs(t, err, transport.ErrAddress)
}

func TestGraphQLURLIsOfTheServerOfTheAPI(t *testing.T) {
	env := map[string]string{"GITHUB_GRAPHQL_URL": "http://127.0.0.1:2/graphql"}
	getenv := func(key string) string { return env[key] }
	require.Empty(t, GraphQLURL(pull.Ref{Host: "github.com"}, getenv), "of an API that nobody named")
	env["GITHUB_API_URL"] = "http://127.0.0.1:1/"
	require.Equal(t, "http://127.0.0.1:2/graphql", GraphQLURL(pull.Ref{Host: "github.com"}, getenv))
	require.Empty(t, GraphQLURL(pull.Ref{Host: "git.example.com"}, getenv), "another server's")
	env["GITHUB_GRAPHQL_URL"] = "https://api.github.com/graphql"
	require.Empty(t, GraphQLURL(pull.Ref{Host: "github.com"}, getenv), "left as it was, and the API is elsewhere")
}

func TestT30_TheTokenStaysOnTheAPIsHost(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the other host was asked")
	}))
	defer other.Close()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", other.URL+"/x?sig=secret")
		w.WriteHeader(http.StatusMovedPermanently)
	})
	calls := reads(t.Context(), c)
	for call, f := range others(t.Context(), c) {
		calls[call] = f // Download follows one 301 by itself
	}
	for call, f := range calls {
		err := f()
		require.ErrorIs(t, err, transport.ErrRedirect, call)
		require.NotContains(t, err.Error(), "secret", call)
	}
}

func TestRenamedRepositoryIsFollowed(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "Bearer "+token, r.Header.Get("Authorization"))
		require.Equal(t, "us", r.Header.Get("User-Agent"))
		if strings.HasPrefix(r.URL.Path, "/repos/") {
			w.Header().Set("Location", "/repositories/9/branches/main")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		io.WriteString(w, `{"name":"main","protected":true}`)
	})
	protected, err := c.Protected(t.Context(), "o", "r", "main")
	require.NoError(t, err)
	require.True(t, protected)
}

func TestP1_AReadingClientCannotWrite(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		req, err := c.api.NewRequest(method, "repos/o/r/pulls/7/reviews", nil)
		require.NoError(t, err)
		_, err = c.api.Do(t.Context(), req, nil)
		require.ErrorContains(t, err, "sends no "+method)
	}
	req, err := c.ForWriting().NewRequest("DELETE", "repos/o/r", nil)
	require.NoError(t, err)
	_, err = c.ForWriting().Do(t.Context(), req, nil)
	require.ErrorContains(t, err, "sends no DELETE")
}

func TestALimitOnOneCallDoesNotAnswerTheNext(t *testing.T) {
	n := 0
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.Header().Set("X-Ratelimit-Limit", "60")
		w.Header().Set("X-Ratelimit-Remaining", "0")
		w.Header().Set("X-Ratelimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		io.WriteString(w, `{"name":"main","protected":false}`)
	})
	for range 2 {
		_, err := c.Protected(t.Context(), "o", "r", "main")
		require.NoError(t, err)
	}
	require.Equal(t, 2, n)
}

func TestAPIURLFollowsTheHost(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(key string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == key {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	fake := []string{"GITHUB_API_URL", "http://127.0.0.1:1/"}
	enterprise := append([]string{"GITHUB_SERVER_URL", "https://git.example.com:8443"}, fake...)
	for _, tc := range []struct {
		host string
		env  []string
		want string
	}{
		{"github.com", nil, "https://api.github.com"},
		{"github.com", fake, "http://127.0.0.1:1"},
		{"acme.ghe.com", nil, "https://api.acme.ghe.com"},
		{"acme.ghe.com", fake, "https://api.acme.ghe.com"},
		{"git.example.com", nil, "https://git.example.com/api/v3"},
		{"git.example.com:8443", enterprise, "http://127.0.0.1:1"},
		{"github.com", enterprise, "https://api.github.com"},
		{"127.0.0.1:1", fake, "http://127.0.0.1:1"},
		{"127.0.0.1:2", fake, "https://127.0.0.1:2/api/v3"},
	} {
		require.Equal(t, tc.want, APIURL(pull.Ref{Host: tc.host}, env(tc.env...)), "%s %v", tc.host, tc.env)
	}
	require.Equal(t, "http://localhost:3/api/v3", APIURL(pull.Ref{Scheme: "http", Host: "localhost:3"}, env()))
}

func TestT30_BadAPIAddressesAreRefused(t *testing.T) {
	for _, address := range []string{"", "file:///x", "http://169.254.169.254/", "https://u:p@api.example.com"} {
		_, err := New(Options{APIURL: address, HTTP: http.DefaultClient})
		require.Error(t, err, address)
	}
	c, err := New(Options{APIURL: "http://api.example.com", Token: token, HTTP: transport.New(transport.Options{})})
	require.NoError(t, err)
	_, err = c.Pull(t.Context(), ref)
	require.ErrorIs(t, err, transport.ErrInsecure)
}

func TestPathsCannotClimb(t *testing.T) {
	var asked []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.EscapedPath())
		w.WriteHeader(404)
	})
	_, err := c.Content(t.Context(), "o", "r", "a/../../x", "main", 10)
	require.ErrorIs(t, err, ErrNotFound)
	require.Empty(t, asked)
	_, _ = c.Environment(t.Context(), "o", "r", "..")
	_, _ = c.Permission(t.Context(), "o", "r", "dependabot[bot]/x")
	_, _ = c.Content(t.Context(), "o", "r", "a..b/c d?#%.go", "feat/x", 10)
	require.Equal(t, []string{
		"/repos/o/r/environments/%2E%2E",
		"/repos/o/r/collaborators/dependabot%5Bbot%5D%2Fx/permission",
		"/repos/o/r/contents/a..b/c%20d%3F%23%25.go",
	}, asked)
}

func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return "?" + v.Encode()
}
