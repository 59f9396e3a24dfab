package reviewpr_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/post"
)

// TestG23 takes checkpoints that the previous minor version packed, and one that
// was packed between.
func TestG23_ADraftOfThePreviousVersionCanBeDecided(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob("../../checkpoint/testdata/v[12]/*.zip")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, sample := range samples {
		t.Run(filepath.Base(filepath.Dir(sample))+"/"+filepath.Base(sample), func(t *testing.T) {
			t.Parallel()
			z, err := os.ReadFile(sample)
			require.NoError(t, err)
			digest := checkpoint.Digest(z)
			opened, err := open(z)
			require.NoError(t, err)
			m := opened.Manifest
			tr := resume(checkpoint.Packed{Zip: z, Digest: digest, Code: checkpoint.Code(digest), Manifest: m})
			tr.Instance, tr.Name = m.Instance, checkpoint.ArtifactName(42, m.Instance, opened.Code)
			tr.Candidates = []reviewpr.Candidate{tr.candidate(tr.Name, 5, z)}
			tr.Settings.ToolVersion = "another"
			opened, changes, err := tr.verify(t)
			require.NoError(t, err)
			require.Len(t, changes, 1)

			w := newWorld(nil)
			w.change.Thread = m.Thread
			require.NoError(t, w.store.Save(t.Context(), m.Thread, opened.Snapshot))
			view, err := w.flow(t).Inspect(t.Context(), m.Thread)
			require.NoError(t, err)
			require.Equal(t, opened.Review, view.State.Shown(), "P2: this version shows what that one showed")
			r, err := w.decide(t, m.GateID, "/approve")
			require.NoError(t, err)
			require.Equal(t, reviewpr.Posted, r.End)
			require.Len(t, w.posted, 1)
			body, _ := post.Rendered(view.State.Review())
			require.Equal(t, body, w.posted[0].SummaryBody)
		})
	}
}

func TestG23_ADraftOfThePreviousVersionHasNoKeysToReuse(t *testing.T) {
	t.Parallel()
	z, err := os.ReadFile("../../checkpoint/testdata/v1/paused.zip")
	require.NoError(t, err)
	opened, err := open(z)
	require.NoError(t, err)
	asked := map[string]int{}
	w := newWorld(counting(asked, finds("")), "a.go", "b.go")
	w.paid.Add(graph.Saved{Snapshot: opened.Snapshot}, w.change.Thread)
	w.run(t)
	require.Len(t, asked, 2)
}
