package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/app"
	"github.com/org/pr-review-action/internal/checkpoint/filestore"
)

// TestG25_ARefusalNamesTheThreadThatAnotherProcessHolds looks at what a program reads of it.
func TestG25_ARefusalNamesTheThreadThatAnotherProcessHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	review := func() (code int, thread string) {
		var out, told strings.Builder
		code = app.Run(t.Context(), app.Process{Args: []string{"pr-review", "review", "demo", "--provider", "offline",
			"--json", "--again", "--store", dir}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told})
		var said struct {
			Thread string `json:"thread_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(out.String()), &said), told.String())
		return code, said.Thread
	}
	code, thread := review()
	require.Zero(t, code)
	require.NotEmpty(t, thread)
	store, err := filestore.New(dir)
	require.NoError(t, err)
	release, err := store.Lock(t.Context(), thread)
	require.NoError(t, err)
	defer release()
	code, refused := review()
	require.NotZero(t, code)
	require.Equal(t, thread, refused)
}
