package checkpoint

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/pull"
)

// samples are checkpoints that the previous minor version packed; their README
// says how.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/v1/*.zip")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string][]byte{}
	for _, file := range files {
		all[filepath.Base(file)], err = os.ReadFile(file)
		require.NoError(t, err)
	}
	return all
}

func TestCheck6_ADraftOfThePreviousVersionPassesUnderDigest(t *testing.T) {
	t.Parallel()
	ref := pull.Ref{Host: pull.DefaultHost, Owner: "o", Repo: "r", Number: 42}
	for name, z := range samples(t) {
		require.NoError(t, CheckDigest(z, Digest(z)))
		o, err := Protection{}.open(z)
		require.NoError(t, err, name)
		m := o.Manifest
		require.Equal(t, oldFormat, m.Format)
		require.NotEmpty(t, o.Review)
		require.NoError(t, CheckMadeBy(m, 5))
		require.NoError(t, CheckFormat(m, "reviewpr", []int{2, 1}))
		require.NoError(t, CheckTarget(m, 7, ref, m.Instance))
		changes, err := CheckSettings(m, Settings{Trust: TrustDigest, Environment: "ai-review", ToolVersion: "v1.1.0"})
		require.NoError(t, err)
		require.Len(t, changes, 1)
		require.NoError(t, CheckHead(m, o.Code, PullNow{Open: true, HeadSHA: m.HeadSHA, DiffDigest: m.DiffDigest}))
		require.NoError(t, CheckExpiry(m, made.Add(24*time.Hour)))
	}
}

func TestCheck5_ADraftOfThePreviousVersionHasNoSeal(t *testing.T) {
	t.Parallel()
	for _, p := range protections(t)[1:] {
		for _, z := range samples(t) {
			require.ErrorContains(t, refusal(t, second(p.open(z)), 5), "carries no seal")
		}
	}
}
