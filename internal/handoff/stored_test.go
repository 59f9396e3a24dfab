package handoff

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
)

func TestCheck1_ADraftThatIsGoneWhileItIsFetchedIsNotFound(t *testing.T) {
	t.Parallel()
	err := Unusable("pr-review-42-0123456789abcdef", fmt.Errorf("downloading: %w", github.ErrNotFound))
	require.Equal(t, 1, problem.Check(err))
	require.ErrorContains(t, err, "no draft of this name was found")
	other := errors.New("connection refused")
	require.Equal(t, other, Unusable("x", other), "what could not be read says nothing of the draft")
}

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
