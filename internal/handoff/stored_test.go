package handoff

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/github"
)

func TestT19_OfAnArtifactWhoseRunIsNotToldNothingIsAssumed(t *testing.T) {
	t.Parallel()
	for source, want := range map[artifactstore.Source]int64{
		artifactstore.OfRun: 0, artifactstore.OfFolder: 7, artifactstore.OfCache: 7,
	} {
		untold := artifactstore.Item{Source: source,
			Artifact: github.Artifact{Name: "pr-review-42-0123456789abcdef"}}
		got := Candidates([]Stored{{Item: untold}}, 7)
		require.Equal(t, want, got[0].RepositoryID, "source %d: check 1 refuses 0", source)
	}
	run := artifactstore.Item{Artifact: github.Artifact{Name: "pr-review-42-0123456789abcdef", RunID: 101}}
	for told, want := range map[int64]int64{0: 7, 8: 8} {
		run.RepositoryID = told
		got := Candidates([]Stored{{Item: run}}, 7)
		require.Equal(t, want, got[0].RepositoryID, "repository %d told: check 4 reads that of the run", told)
	}
}
