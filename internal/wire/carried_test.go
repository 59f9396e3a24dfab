package wire_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/indextest"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wire"
)

// TestT34_AnIndexOfTheCacheIsUsedUnderItsSealAlone has another workflow write to the cache.
func TestT34_AnIndexOfTheCacheIsUsedUnderItsSealAlone(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	run := s.AddRepo("o/r", githubtest.RepoOptions{}).AddRun(githubtest.RunOptions{Event: "workflow_dispatch"})
	hc := transport.New(transport.Options{})
	t.Cleanup(hc.CloseIdleConnections)
	client, err := artifact.New(artifact.Options{ResultsURL: s.ResultsURL, Token: s.RuntimeToken(run, "draft"),
		HTTP: hc})
	require.NoError(t, err)
	carrier := func(secret, trust string) *wire.CarriedIndex {
		key, err := checkpoint.ParseKey(base64.StdEncoding.EncodeToString([]byte(strings.Repeat(secret, 32))))
		require.NoError(t, err)
		of := settings.Defaults()
		of.Protection = checkpoint.Protection{Trust: trust, Key: key}
		return wire.Carriers{Settings: of, Env: action.Env{RepositoryID: 7}, Runtime: client}.CarriedIndex()
	}
	require.Nil(t, carrier("a", checkpoint.TrustDigest), "without a key nothing is carried")
	ours := carrier("a", checkpoint.TrustSeal)
	x, _, err := ours.Load(t.Context(), "c1")
	require.NoError(t, err)
	require.Nil(t, x)

	built := indextest.Build(t, indextest.Files)
	require.NoError(t, ours.Keep(t.Context(), "c1", built))
	require.NoError(t, ours.Keep(t.Context(), "c1", built), "it is there")
	x, exact, err := ours.Load(t.Context(), "c1")
	require.NoError(t, err)
	require.True(t, exact)
	require.Equal(t, built.Encode(), x.Encode())
	x, exact, err = ours.Load(t.Context(), "c2")
	require.NoError(t, err)
	require.False(t, exact, "the newest one is built on")
	require.Equal(t, built.Encode(), x.Encode())
	more := built.WithVectors("words-1", 2, map[string][]float32{built.Chunks()[0].Key(): {1, 0}})
	require.NoError(t, ours.Keep(t.Context(), "c1", more))
	x, _, err = ours.Load(t.Context(), "c1")
	require.NoError(t, err)
	require.Equal(t, more.Encode(), x.Encode(), "with what was paid for since")

	forged := carrier("b", checkpoint.TrustSeal)
	planted := indextest.Build(t, map[string]string{"evil.go": "package evil\n\nfunc Planted() {\n}\n"})
	require.NoError(t, forged.Keep(t.Context(), "c3", planted))
	x, _, err = ours.Load(t.Context(), "c3")
	require.ErrorContains(t, err, "not sealed with this key")
	require.Nil(t, x)
	sealed, ok := checkpoint.Protection{}.OpenBytes("index seal", "k", []byte(strings.Repeat("0", 64)))
	require.False(t, ok, sealed)
}
