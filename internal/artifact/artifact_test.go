package artifact

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/transport"
)

func client(t *testing.T, results, token string) *Client {
	t.Helper()
	hc := transport.New(transport.Options{
		Retry: Retry, Tries: 3, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	t.Cleanup(hc.CloseIdleConnections)
	c, err := New(Options{ResultsURL: results, Token: token, HTTP: hc})
	require.NoError(t, err)
	return c
}

// job is a client in a run of a fake GitHub.
func job(t *testing.T) (*Client, *githubtest.Server, *githubtest.Run) {
	t.Helper()
	s := githubtest.New(t)
	run := s.AddRepo("o/r", githubtest.RepoOptions{}).AddRun(githubtest.RunOptions{})
	return client(t, s.ResultsURL, s.RuntimeToken(run, "draft")), s, run
}

// A store of one's own may sign its addresses by their path.
func TestAnAddressNeedsNoQueryToBeUploadedTo(t *testing.T) {
	for _, query := range []string{"", "?sig=a%2Bb"} {
		t.Run(query, func(t *testing.T) {
			var puts []string
			mux := http.NewServeMux()
			server := httptest.NewServer(mux)
			defer server.Close()
			mux.HandleFunc("POST "+servicePath, func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, `{"ok":true,"signed_upload_url":"`+server.URL+"/blob"+query+`","artifact_id":"1"}`)
			})
			mux.HandleFunc("PUT /blob", func(w http.ResponseWriter, r *http.Request) {
				puts = append(puts, r.URL.Query().Get("comp")+r.URL.Query().Get("sig"))
				w.WriteHeader(http.StatusCreated)
			})
			_, s, run := job(t)
			_, err := client(t, server.URL, s.RuntimeToken(run, "draft")).Upload(t.Context(), "n", []byte("zip"), 0)
			require.NoError(t, err)
			signed := strings.ReplaceAll(strings.TrimPrefix(query, "?sig="), "%2B", "+")
			require.Equal(t, []string{"block" + signed, "blocklist" + signed}, puts)
		})
	}
}

func TestUploadedIsWhatIsDownloaded(t *testing.T) {
	c, s, run := job(t)
	for name, zip := range map[string][]byte{
		"small": []byte("PK zip"), "blocks": bytes.Repeat([]byte("0123456789abcdef"), (2*blockSize+16)/16),
	} {
		id, err := c.Upload(t.Context(), name, zip, 0)
		require.NoError(t, err)
		require.NotZero(t, id)
		got, err := c.Download(t.Context(), name, int64(len(zip)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(zip, got))
		_, err = c.Download(t.Context(), name, int64(len(zip))-1)
		require.ErrorIs(t, err, transport.ErrTooLarge)
	}
	require.Len(t, run.Artifacts(), 2)

	other := client(t, s.ResultsURL, s.RuntimeToken(run, "post"))
	got, err := other.Download(t.Context(), "small", 100)
	require.NoError(t, err, "another job of the run reads it")
	require.Equal(t, "PK zip", string(got))
	_, err = c.Download(t.Context(), "none", 100)
	require.ErrorIs(t, err, ErrNotFound)
}

// counting counts what goes through it.
type counting struct {
	http.RoundTripper
	n *int
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	*c.n++
	return c.RoundTripper.RoundTrip(r)
}

func TestServiceAndStoreAreReachedThroughTheGivenClient(t *testing.T) {
	s := githubtest.New(t)
	run := s.AddRepo("o/r", githubtest.RepoOptions{}).AddRun(githubtest.RunOptions{})
	base, n := &http.Transport{}, 0
	defer base.CloseIdleConnections()
	c, err := New(Options{ResultsURL: s.ResultsURL, Token: s.RuntimeToken(run, "draft"),
		HTTP: &http.Client{Transport: counting{base, &n}}})
	require.NoError(t, err)
	_, err = c.Upload(t.Context(), "n", []byte("zip"), 0)
	require.NoError(t, err)
	_, err = c.Download(t.Context(), "n", 10)
	require.NoError(t, err)
	require.Len(t, s.Requests(), n, "nothing goes another way")
	require.True(t, slices.ContainsFunc(s.Requests(), func(r githubtest.Request) bool { return r.Host == "storage" }))
}

func TestP5_ANameIsTakenOnce(t *testing.T) {
	c, _, run := job(t)
	first, err := c.Upload(t.Context(), "n", []byte("content"), 0)
	require.NoError(t, err)
	_, err = c.Upload(t.Context(), "n", []byte("another"), 0)
	require.ErrorIs(t, err, ErrExists)
	var status *transport.StatusError
	require.ErrorAs(t, err, &status)
	again, err := c.Upload(t.Context(), "n", []byte("content"), 0)
	require.NoError(t, err, "the same content is the same artifact")
	require.Equal(t, first, again)
	require.Len(t, run.Artifacts(), 1)
}

func TestAttemptsDoNotMeet(t *testing.T) {
	c, s, run := job(t)
	_, err := c.Upload(t.Context(), "n", []byte("one"), 0)
	require.NoError(t, err)
	run.Rerun()
	c = client(t, s.ResultsURL, s.RuntimeToken(run, "draft"))
	_, err = c.Download(t.Context(), "n", 10)
	require.ErrorIs(t, err, ErrNotFound)
}

func TestUploadSurvivesTroubleOnTheWay(t *testing.T) {
	const service = "/twirp/**/"
	for name, arm := range map[string]func(*githubtest.Server){
		"block refused": func(s *githubtest.Server) { s.Fail("PUT", "**", githubtest.Fault{Status: 503, Times: 2}) },
		"block's answer lost": func(s *githubtest.Server) {
			s.Fail("PUT", "**", githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
		},
		"finalize's answer lost": func(s *githubtest.Server) {
			s.Fail("POST", service+"FinalizeArtifact",
				githubtest.Fault{DropConnection: true, AfterWrite: true, Times: 1})
		},
		"create limited": func(s *githubtest.Server) {
			s.Fail("POST", service+"CreateArtifact", githubtest.Fault{Status: 429, Times: 1})
		},
		"create unavailable": func(s *githubtest.Server) {
			s.Fail("POST", service+"CreateArtifact", githubtest.Fault{Status: 503, Times: 2})
		},
		"connection lost on create": func(s *githubtest.Server) {
			s.Fail("POST", service+"CreateArtifact", githubtest.Fault{DropConnection: true, Times: 1})
		},
		"list unavailable": func(s *githubtest.Server) {
			s.Fail("POST", service+"ListArtifacts", githubtest.Fault{Status: 500, Times: 1})
		},
		"403 of what stands in between": func(s *githubtest.Server) {
			s.Fail("POST", service+"CreateArtifact", refused("Error from intermediary with HTTP status code 403"))
			s.Fail("POST", service+"FinalizeArtifact", refused("Error from intermediary with HTTP status code 403"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, s, run := job(t)
			arm(s)
			_, err := c.Upload(t.Context(), "n", []byte("zip"), 0)
			require.NoError(t, err)
			got, err := c.Download(t.Context(), "n", 10)
			require.NoError(t, err)
			require.Equal(t, "zip", string(got))
			require.Len(t, run.Artifacts(), 1)
		})
	}
}

// refused is the service's answer to one request.
func refused(why string) githubtest.Fault {
	return githubtest.Fault{Status: 403, Body: `{"code":"permission_denied","msg":"` + why + `"}`, Times: 1}
}

func TestFailuresNameTheStepAndHideSignatures(t *testing.T) {
	c, s, _ := job(t)
	s.Fail("PUT", "**", githubtest.Fault{Status: 403,
		Headers: map[string]string{"X-Ms-Error-Code": "AuthenticationFailed"}, Times: 1})
	_, err := c.Upload(t.Context(), "n", []byte("zip"), 0)
	require.ErrorContains(t, err, "AuthenticationFailed")
	require.ErrorContains(t, err, "storing its content")
	require.NotContains(t, err.Error(), "sig=")
	s.Fail("PUT", "**", githubtest.Fault{DropConnection: true})
	_, err = c.Upload(t.Context(), "m", []byte("zip"), 0)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "sig=")
	_, err = c.Upload(t.Context(), "a/b", []byte("zip"), 0)
	require.ErrorContains(t, err, `"a/b" cannot name an artifact`)
}

func TestReplacedContentIsSeen(t *testing.T) {
	c, _, run := job(t)
	_, err := c.Upload(t.Context(), "n", []byte("zip"), 0)
	require.NoError(t, err)
	stored, err := c.find(t.Context(), "n")
	require.NoError(t, err)
	require.Equal(t, digest([]byte("zip")), stored.Digest)
	run.Artifacts()[0].Replace([]byte("pwn"))
	_, err = c.Download(t.Context(), "n", 10)
	require.ErrorIs(t, err, ErrDigest)
}

func TestRetentionIsAskedForAndCapped(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		asked, most int
		want        string
	}{
		{0, 0, ""}, {0, 90, ""}, {5, 90, "2026-01-06T12:00:00Z"},
		{100, 90, "2026-04-01T12:00:00Z"}, {100, 0, "2026-04-11T12:00:00Z"},
	} {
		c := &Client{options: Options{MaxRetention: tc.most, Now: now}}
		require.Equal(t, tc.want, c.expires(tc.asked), "%+v", tc)
	}
}

func TestNewSaysWhyThereIsNoAccess(t *testing.T) {
	good := Options{ResultsURL: "https://results.example.com/", Token: someToken, ServerURL: "https://github.com"}
	for _, server := range []string{"", "https://github.com", "https://acme.ghe.com", "https://x.localhost:3000"} {
		o := good
		o.ServerURL = server
		_, err := New(o)
		require.NoError(t, err, server)
	}
	for _, server := range []string{"https://git.example.com", "https://github.com.example.com", "https://ghe.com",
		"%"} {
		o := good
		o.ServerURL = server
		_, err := New(o)
		require.ErrorIs(t, err, ErrUnsupported, server)
	}
	_, err := New(Options{})
	require.ErrorIs(t, err, ErrNoRuntime)
	o := good
	o.ResultsURL = "file:///x"
	_, err = New(o)
	require.ErrorIs(t, err, transport.ErrAddress)
	for _, bad := range []string{"x", "a.b.c", jwt(`{`), jwt(`{}`), jwt(`{"scp":"Actions.Results:1"}`),
		jwt(`{"scp":"Actions.Results:1:2:3"}`),
		jwt(`{"scp":"Actions.ResultsX:1:2"}`), jwt(`{"scp":"Actions.Results::2"}`),
		jwt(`{"scp":["Actions.Results:1:2"]}`)} {
		o := good
		o.Token = bad
		_, err := New(o)
		require.ErrorContains(t, err, "ACTIONS_RUNTIME_TOKEN", bad)
		require.NotContains(t, err.Error(), bad)
	}
}

func TestRetryIsForWhatCanBeSentTwice(t *testing.T) {
	for line, want := range map[string]bool{
		"GET https://x/": true, "PUT https://x/b?sig=1&comp=block&blockid=a": true,
		"PUT https://x/b?sig=1&comp=blocklist": true,
		"PUT https://x/b":                      false, "POST https://x/": false, "DELETE https://x/": false,
		"POST https://x" + servicePath + "CreateArtifact":   true,
		"POST https://x" + servicePath + "FinalizeArtifact": true,
	} {
		method, address, _ := strings.Cut(line, " ")
		r, err := http.NewRequest(method, address, nil)
		require.NoError(t, err)
		require.Equal(t, want, Retry(r), line)
	}
}
