package handoff

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
)

func TestT19_OfAnArtifactWhoseRunIsNotToldNothingIsAssumed(t *testing.T) {
	t.Parallel()
	for source, want := range map[artifactstore.Source]int64{
		artifactstore.OfRun: 0, artifactstore.OfFolder: 7, artifactstore.OfCache: 7,
	} {
		untold := artifactstore.Item{Source: source, Name: "pr-review-42-0123456789abcdef"}
		got := Candidates([]Stored{{Item: untold}}, 7)
		require.Equal(t, want, got[0].Found.RepositoryID, "source %d: check 1 refuses 0", source)
	}
}
