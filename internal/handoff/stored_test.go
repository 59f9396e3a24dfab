package handoff

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
)

func TestT19_OfAnArtifactWhoseRunIsNotToldNothingIsAssumed(t *testing.T) {
	t.Parallel()
	untold := artifactstore.Item{Name: "pr-review-42-0123456789abcdef"}
	for from, want := range map[artifactstore.Carrier]int64{
		artifactstore.REST{}: 0, artifactstore.Dir{}: 7, artifactstore.Cache{}: 7,
	} {
		got := Candidates([]Stored{{untold, from}}, 7)
		require.Equal(t, want, got[0].Found.RepositoryID, "%T: check 1 refuses 0", from)
	}
}
