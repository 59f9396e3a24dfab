package artifact

import (
	"encoding/base64"
	stdjson "encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/transport"
)

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
	require.ErrorIs(t, err, transport.ErrAddress, "a reply without address")
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
		bytes  string // of the listed one, of which the service tells no digest
	}{
		"502":             {502, `{}`, false, nil, "Create Create List Delete Create Finalize", ""},
		"connection lost": {0, `{}`, false, nil, "Create Create List Delete Create Finalize", ""},
		"not to be freed": {502, `{}`, true, ErrExists, "Create Create List Delete Create List", ""},
		"another's":       {502, theirs, false, ErrExists, "Create Create List List Get", ""},
		"sent once":       {409, `{}`, false, ErrExists, "Create List", ""},
		"another's bytes": {409, theirs, false, ErrExists, "Create List Get", "pit"},
		"our own":         {409, theirs, false, nil, "Create List Get", "zip"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			var base string
			var lock sync.Mutex // a lost connection's request may end during the next one
			taken, deleted := false, map[string]any{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				lock.Lock()
				defer lock.Unlock()
				switch r.Method {
				case http.MethodPut:
					w.WriteHeader(201)
					return
				case http.MethodGet:
					io.WriteString(w, tc.bytes)
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
				case method == "GetSignedArtifactURL" && tc.bytes != "":
					io.WriteString(w, `{"signed_url":"`+base+`/blob?x=1"}`)
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
			if tc.bytes != "" {
				require.EqualValues(t, 9, id)
				return
			}
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
		var i Stored
		if json.Unmarshal([]byte(raw), &i, json.MatchCaseInsensitiveNames(true)) == nil && i.ID != 0 {
			require.Contains(t, strings.ToLower(raw), "id")
		}
	})
}
