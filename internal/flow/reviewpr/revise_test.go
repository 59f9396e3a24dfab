package reviewpr_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
)

// milder is a redraft that grades every finding down, and notes whom it was asked about.
func milder(asked *[]string) reviewpr.Redraft {
	return func(_ context.Context, f diff.File, was finding.FileReview, feedback string, _ int) (finding.FileReview,
		error) {
		*asked = append(*asked, f.Path+": "+feedback)
		found := append([]finding.Finding{}, was.Findings...)
		for i := range found {
			found[i].Severity = finding.Minor
		}
		was.Findings = found
		return was, nil
	}
}

func TestG32_ARevisionIsAGateOfItsOwnAndTakesNoIdTwice(t *testing.T) {
	t.Parallel()
	var asked []string
	w := newWorld(finds(finding.Major), "a.go", "b.go", "c.go")
	w.concurrency, w.redraft = 1, milder(&asked)
	gates := []string{w.run(t).Pending[0].ID}
	for _, feedback := range []string{"F1 is milder", "b.go too.", "all of it"} {
		r, err := w.decide(t, gates[len(gates)-1], "/revise "+feedback)
		require.NoError(t, err)
		require.Len(t, r.Pending, 1)
		require.NotContains(t, gates, r.Pending[0].ID)
		gates = append(gates, r.Pending[0].ID)
	}
	require.Equal(t, []string{"a.go: F1 is milder", "b.go: b.go too.", "a.go: all of it", "b.go: all of it",
		"c.go: all of it"}, asked)
	_, err := w.decide(t, gates[0], "/approve")
	require.ErrorIs(t, err, graph.ErrAnswered, "the first draft cannot be decided any more")
	_, err = w.decide(t, gates[3], "/revise once more")
	require.ErrorContains(t, err, "revised three times")
	r, err := w.decide(t, gates[3], "/approve")
	require.NoError(t, err)
	require.Equal(t, reviewpr.Posted, r.End)
	kept := finding.Kept(w.posted[0].Comments)
	require.Equal(t, []string{"F10", "F11", "F12"}, gate.IDs(kept))
	require.Equal(t, 3, finding.Count(kept, finding.Minor))
	require.Len(t, w.posted[0].Rounds, 3)
}

func TestP6_ARevisionThatFailsLeavesWhatWasFound(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go", "b.go")
	w.redraft = func(_ context.Context, f diff.File, was finding.FileReview, _ string, _ int) (finding.FileReview,
		error) {
		if f.Path == "a.go" {
			return finding.FileReview{}, errors.New("a defect")
		}
		return finding.FileReview{Path: f.Path, State: finding.Failed, Reason: "no answer"}, nil
	}
	r, err := w.decide(t, w.run(t).Pending[0].ID, "/revise all of it")
	require.NoError(t, err)
	require.Len(t, finding.Kept(r.State.Comments), 2)
	require.Contains(t, r.State.Review().Notices, "The feedback could not be applied to `a.go` and 1 other file; "+
		"what was found there before stands.")
}

func TestWhatARevisionLeavesOutStaysOut(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go", "b.go")
	w.redraft = func(_ context.Context, _ diff.File, was finding.FileReview, _ string, _ int) (finding.FileReview,
		error) {
		was.Findings = nil
		return was, nil
	}
	r, err := w.decide(t, w.run(t).Pending[0].ID, "/revise F1 is wrong")
	require.NoError(t, err)
	require.Equal(t, []string{"F3"}, gate.IDs(finding.Kept(r.State.Comments)))
	require.Len(t, r.State.Earlier, 1)
	require.Equal(t, finding.WasDropped, r.State.Earlier[0].Fate)
	require.Equal(t, "a.go", r.State.Earlier[0].Path)
	require.Equal(t, "rita", r.State.Earlier[0].By)

	r, err = w.decide(t, r.Pending[0].ID, "/revise F3 too")
	require.NoError(t, err)
	require.Empty(t, finding.Kept(r.State.Comments))
	require.Len(t, r.Pending, 1, "a draft that a person had revised goes back to a person")
	require.Equal(t, 3, r.State.Draft.UsedIDs)
	r, err = w.decide(t, r.Pending[0].ID, "/revise once more")
	require.NoError(t, err)
	require.Equal(t, 3, r.State.Draft.UsedIDs, "ids are not given away again")
}
