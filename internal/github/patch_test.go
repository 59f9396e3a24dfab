package github

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestT32_OnlyACheckRunIsPatched(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/repos/o/r/check-runs/5", r.URL.Path)
		w.Write([]byte(`{"id":5}`))
	})
	for path, sent := range map[string]bool{
		"repos/o/r/check-runs/5": true, "repos/o/r/pulls/7": false, "repos/o/r/issues/7": false,
		"repos/o/check-runs/5":       false,
		"repos/o/check-runs/pulls/7": false, "repos/o/r/check-runs/5/x": false,
		"repos/o/r/git/refs/heads/check-runs/5": false,
	} {
		req, err := c.ForWriting().NewRequest(http.MethodPatch, path, nil)
		require.NoError(t, err)
		_, err = c.ForWriting().Do(t.Context(), req, nil)
		require.Equal(t, sent, err == nil, "%s: %v", path, err)
	}
}
