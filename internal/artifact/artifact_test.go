package artifact

import (
	"bytes"
	"context"
	"encoding/base64"
	stdjson "encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
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

func TestServiceAndStoreAreReachedThroughTheGivenClient(t *testing.T) {
	s := githubtest.New(t, githubtest.Options{Host: "example.com"})
	run := s.AddRepo("o/r", githubtest.RepoOptions{}).AddRun(githubtest.RunOptions{})
	base := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.Replace(address, "example.com", "127.0.0.1", 1))
	}}
	defer base.CloseIdleConnections()
	c, err := New(Options{ResultsURL: s.ResultsURL, Token: s.RuntimeToken(run, "draft"),
		HTTP: &http.Client{Transport: base}})
	require.NoError(t, err)
	_, err = c.Upload(t.Context(), "n", []byte("zip"), 0)
	require.NoError(t, err)
	_, err = c.Download(t.Context(), "n", 10)
	require.NoError(t, err)
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

func jwt(payload string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".x"
}

var someToken = jwt(`{"scp":"Actions.ExampleScope Actions.Results:17:42"}`)

// local answers as a local runner does: lowerCamelCase, no digest, numbers
// bare or as text. It keeps what it was asked.
func local(t *testing.T, replies map[string]string) (c *Client, asked map[string]map[string]any) {
	t.Helper()
	asked = map[string]map[string]any{}
	var base string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if method == "blob" {
			require.Empty(t, r.Header.Get("Authorization"))
			w.WriteHeader(201)
			return
		}
		require.Equal(t, "Bearer "+someToken, r.Header.Get("Authorization"))
		var q map[string]any
		require.NoError(t, stdjson.NewDecoder(r.Body).Decode(&q))
		asked[method] = q
		io.WriteString(w, strings.ReplaceAll(replies[method], "BASE", base))
	}))
	t.Cleanup(server.Close)
	base = server.URL
	return client(t, server.URL+"/some/path/", someToken), asked
}

func TestBothJSONFormsAreRead(t *testing.T) {
	c, asked := local(t, map[string]string{
		"CreateArtifact":   `{"ok":true,"signedUploadUrl":"BASE/blob?x=1"}`,
		"FinalizeArtifact": `{"ok":true,"artifactId":77}`,
		"ListArtifacts": `{"artifacts":[
			{"workflowRunBackendId":"r","workflowJobRunBackendId":"old","databaseId":"5","name":"n"},
			{"workflowRunBackendId":"r","workflowJobRunBackendId":"new","databaseId":6,"name":"n"},
			{"workflowRunBackendId":"r","workflowJobRunBackendId":"x","databaseId":"9","name":"n2"}]}`,
		"GetSignedArtifactURL": `{}`,
	})
	c.options.Now = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	c.options.MaxRetention = 10
	id, err := c.Upload(t.Context(), "n", []byte("zip"), 15)
	require.NoError(t, err)
	require.EqualValues(t, 77, id)
	require.Equal(t, map[string]any{"workflow_run_backend_id": "17", "workflow_job_run_backend_id": "42", "name": "n",
		"version": 4.0, "expires_at": "2026-01-11T00:00:00Z"}, asked["CreateArtifact"],
		"capped, and without a MIME type")
	require.Equal(t, "3", asked["FinalizeArtifact"]["size"])
	_, err = c.Download(t.Context(), "n", 10)
	require.ErrorIs(t, err, transport.ErrInsecure, "a reply without address")
	require.Equal(t, map[string]any{"workflow_run_backend_id": "r", "workflow_job_run_backend_id": "new", "name": "n"},
		asked["GetSignedArtifactURL"], "the newest item's own ids")
}

func TestP5_ANameThatALostCreateTookIsTakenBack(t *testing.T) {
	const theirs = `{"artifacts":[{"workflow_run_backend_id":"17","workflow_job_run_backend_id":"other"` +
		`,"database_id":"9","name":"n"}]}`
	for name, tc := range map[string]struct {
		first  int // the status of a first Create that took the name; 0 loses the connection
		listed string
		stuck  bool // Delete answers and frees nothing
		want   error
		calls  string
	}{
		"502":             {502, `{}`, false, nil, "Create Create List Delete Create Finalize"},
		"connection lost": {0, `{}`, false, nil, "Create Create List Delete Create Finalize"},
		"not to be freed": {502, `{}`, true, ErrExists, "Create Create List Delete Create List"},
		"another's":       {502, theirs, false, ErrExists, "Create Create List List Get"},
		"sent once":       {409, `{}`, false, ErrExists, "Create List"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			var base string
			taken, deleted := false, map[string]any{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					w.WriteHeader(201)
					return
				}
				method := strings.TrimPrefix(r.URL.Path, servicePath)
				calls = append(calls, method[:strings.IndexAny(method[1:], "ASU")+1])
				switch {
				case method == "ListArtifacts":
					io.WriteString(w, tc.listed)
				case method == "DeleteArtifact":
					require.NoError(t, stdjson.NewDecoder(r.Body).Decode(&deleted))
					taken = tc.stuck
					io.WriteString(w, `{"ok":true,"artifact_id":"3"}`)
				case method == "FinalizeArtifact":
					io.WriteString(w, `{"ok":true,"artifact_id":"4"}`)
				case method == "GetSignedArtifactURL":
					w.WriteHeader(404)
				case taken:
					w.WriteHeader(409)
				case len(calls) > 1:
					io.WriteString(w, `{"ok":true,"signed_upload_url":"`+base+`/blob?x=1"}`)
				case tc.first == 0:
					taken = true
					panic(http.ErrAbortHandler)
				default:
					taken = true
					w.WriteHeader(tc.first)
				}
			}))
			t.Cleanup(server.Close)
			base = server.URL
			id, err := client(t, base, someToken).Upload(t.Context(), "n", []byte("zip"), 0)
			require.Equal(t, tc.calls, strings.Join(calls, " "))
			if tc.want != nil {
				require.ErrorIs(t, err, tc.want)
				return
			}
			require.NoError(t, err)
			require.EqualValues(t, 4, id)
			require.Equal(t, map[string]any{"workflow_run_backend_id": "17", "workflow_job_run_backend_id": "42",
				"name": "n"}, deleted)
		})
	}
}

func TestRepliesThatAreNoneAreErrors(t *testing.T) {
	for name, reply := range map[string]string{
		"not ok": `{"ok":false}`, "no address": `{"ok":true}`, "page": `<html>`, "cut": `{"ok":tr`, "empty": ``,
		"bad number": `{"ok":true,"signed_upload_url":"BASE/blob?x=1","artifact_id":"x"}`,
		"twice":      `{"ok":true,"signed_upload_url":"BASE/blob?x=1","signedUploadUrl":"BASE/blob?x=2"}`,
		"metadata":   `{"ok":true,"signed_upload_url":"http://169.254.169.254/blob?x=1"}`,
	} {
		c, _ := local(t, map[string]string{"CreateArtifact": reply})
		_, err := c.Upload(t.Context(), "n", []byte("zip"), 0)
		require.Error(t, err, name)
	}
	c, _ := local(t, map[string]string{
		"CreateArtifact": `{"ok":true,"signed_upload_url":"BASE/blob?x=1"}`, "FinalizeArtifact": `{"ok":false}`,
	})
	_, err := c.Upload(t.Context(), "n", []byte("zip"), 0)
	require.ErrorIs(t, err, errNotOK)
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
	require.ErrorIs(t, err, transport.ErrInsecure)
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

func FuzzReadToken(f *testing.F) {
	for _, s := range []string{"", "a.b.c", someToken, jwt(`{"scp":" "}`), jwt(`{"scp":"Actions.Results:a:b"}`)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		ids, err := readToken(token)
		require.Equal(t, err == nil, ids.Run != "" && ids.Job != "")
	})
}

func FuzzItem(f *testing.F) {
	f.Add(`{"database_id":"5","name":"n","workflow_run_backend_id":"r"}`)
	f.Add(`{"databaseId":5,"digest":"sha256:ab"}`)
	f.Add(`{"database_id":""}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var i item
		if json.Unmarshal([]byte(raw), &i, json.MatchCaseInsensitiveNames(true)) == nil && i.ID != 0 {
			require.Contains(t, strings.ToLower(raw), "id")
		}
	})
}
