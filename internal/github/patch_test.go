package github

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestT32_NothingIsPatched(t *testing.T) {
	t.Parallel()
	c := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request went out") })
	for _, path := range []string{"repos/o/r/check-runs/5", "repos/o/r/pulls/7", "repos/o/r/issues/7",
		"repos/o/r/git/refs/heads/main"} {
		req, err := c.ForWriting().NewRequest(http.MethodPatch, path, nil)
		require.NoError(t, err)
		_, err = c.ForWriting().Do(t.Context(), req, nil)
		require.ErrorContains(t, err, "sends no PATCH", path)
	}
}
