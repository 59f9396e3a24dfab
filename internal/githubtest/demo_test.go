package githubtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/githubtest/demo"
)

func TestAScriptChangesTheDemo(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	world := demo.Add(s, false)
	control := demo.Control(s)
	t.Cleanup(control.Close)
	post := func(path string, body any) map[string]any {
		b, err := json.Marshal(body)
		require.NoError(t, err)
		a, err := http.Post(control.URL+path, "application/json", bytes.NewReader(b))
		require.NoError(t, err)
		defer a.Body.Close()
		require.Equal(t, http.StatusOK, a.StatusCode)
		v := map[string]any{}
		require.NoError(t, json.NewDecoder(a.Body).Decode(&v))
		return v
	}
	type m = map[string]any
	require.NotEmpty(t, post("/app-tokens", m{"repo": world.Repo, "permissions": m{"contents": "read"}})["token"])
	run := post("/runs", m{"repo": world.Repo, "user": "lee"})["run"]
	post("/approvals", m{"repo": world.Repo, "run": run, "environment": "other", "user": "maya", "comment": "ok"})
	head := post("/head", m{"repo": world.Repo, "pull": world.Pull, "files": m{"x.go": "package x\n"}})["head_sha"]
	require.Equal(t, head, s.Repo(world.Repo).Pull(world.Pull).HeadSHA())
	post("/labels", m{"repo": world.Repo, "pull": world.Pull, "user": "maya", "label": "ai-review"})
	for _, address := range []string{s.URL + "/user", control.URL + "/requests"} {
		a, err := http.Get(address)
		require.NoError(t, err)
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		require.NoError(t, err)
		if address != s.URL+"/user" {
			require.Contains(t, string(text), `"/user"`)
		}
	}
}
