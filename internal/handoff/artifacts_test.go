package handoff_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/githubtest"
	"github.com/org/pr-review-action/internal/handoff"
)

// taken is a carrier whose names are all in use. It lists items.
type taken struct {
	artifactstore.Carrier
	items []artifactstore.Item
}

func (taken) Put(context.Context, string, []byte) error { return artifact.ErrExists }

func (t taken) List(context.Context) ([]artifactstore.Item, error) { return t.items, nil }

// TestP5_ATakenNameIsADecisionOnRecordOnlyIfItIsListed has the name taken by an upload that never ended: without a
// record the posted review would not be known as ours, and be posted again.
func TestP5_ATakenNameIsADecisionOnRecordOnlyIfItIsListed(t *testing.T) {
	t.Parallel()
	record := yes()
	for name, c := range map[string]struct {
		listed string
		want   error
	}{
		"an earlier attempt stored it": {"pr-review-decision-" + record.Code, nil},
		"an upload never ended":        {"pr-review-decision-58d1e0c2a9b7f346", artifact.ErrExists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := taken{items: []artifactstore.Item{{Artifact: github.Artifact{Name: c.listed}}}}
			all := handoff.Artifacts{Runs: &handoff.Runs{Names: "pr-review-"}, Own: own}
			require.ErrorIs(t, all.Put(t.Context(), record), c.want)
		})
	}
}

// A decision that is overlooked would be taken twice, and differently.
func TestCheck13_DecisionsThatCannotBeReadAreNotNone(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/repos/o/r/actions/artifacts":       "earlier decisions cannot be read",
		"/repos/o/r/actions/runs/*":          "the run that stored a decision cannot be read",
		"/repos/o/r/actions/artifacts/*/zip": "403",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			hub := githubtest.New(t)
			repo := hub.AddRepo("o/r", githubtest.RepoOptions{})
			repo.AddRun(githubtest.RunOptions{}).AddArtifact("pr-review-decision-"+yes().Code, onRecord(t, yes()))
			all := handoff.Artifacts{Runs: reading(t, hub, repo), Subject: checkpoint.Subject{RepositoryID: repo.ID},
				Branch: "main", Out: io.Discard}
			hub.Fail("GET", path, githubtest.Fault{Status: 403})
			_, err := all.Claims(t.Context(), yes().Code)
			require.ErrorContains(t, err, want)
			hub.ClearFaults()
			claims, err := all.Claims(t.Context(), yes().Code)
			require.NoError(t, err)
			require.Len(t, claims, 1)
		})
	}
}
