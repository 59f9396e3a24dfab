package atlassian_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/atlassian"
)

const address = "https://github.com/o/r/pull/57"

// board serves the comments of PAY-7, as Cloud (3) or Data Center (2) does.
func board(t *testing.T, version string) (url string, bodies *[]string) {
	t.Helper()
	bodies = &[]string{}
	mux := http.NewServeMux()
	path := "/rest/api/" + version + "/issue/PAY-7/comment"
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		comments := []json.RawMessage{}
		for _, b := range *bodies {
			comments = append(comments, json.RawMessage(b))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"comments": comments, "total": len(comments)})
	})
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(text))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"10001"}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, bodies
}

func TestACommentIsALinkOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ version, user, want string }{
		"cloud": {"3", "me", `{"body":{"content":[{"content":[{"text":"Draft pull request: ","type":"text"},` +
			`{"marks":[{"attrs":{"href":"` + address + `"},"type":"link"}],"text":"` + address + `","type":"text"}],` +
			`"type":"paragraph"}],"type":"doc","version":1}}`},
		"data center": {"2", "", `{"body":"Draft pull request: ` + address + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, bodies := board(t, c.version)
			o := options(url)
			o.User = c.user
			jira := atlassian.NewJira(o)
			there, err := jira.Mentions(t.Context(), "PAY-7", address)
			require.NoError(t, err)
			require.False(t, there)
			require.NoError(t, jira.Comment(t.Context(), "PAY-7", "Draft pull request:", address))
			require.Equal(t, []string{c.want}, *bodies)
			there, err = jira.Mentions(t.Context(), "PAY-7", address)
			require.NoError(t, err)
			require.True(t, there)
			require.EqualError(t, jira.Comment(t.Context(), "PAY-8", "x", address),
				"a comment on PAY-8 is not visible to the Jira user")
		})
	}
}
