package reviewpr_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

func packed(t *testing.T) checkpoint.Draft { return packedUnder(t, checkpoint.Protection{}) }

func packedUnder(t *testing.T, protection checkpoint.Protection) checkpoint.Draft {
	t.Helper()
	w := newWorld(finds(finding.Major), "a.go")
	w.run(t)
	p, err := reviewpr.Subject().Pack(t.Context(), w.flow(t), w.store, w.change.Thread, protection)
	require.NoError(t, err)
	return p
}

func TestTheManifestNamesWhatTheDraftIsAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(finding.Major), "a.go")
	paused := w.run(t)
	m := packed(t).Manifest
	flow := w.flow(t)
	require.Equal(t, checkpoint.Manifest{
		Format: checkpoint.Format, Trust: checkpoint.TrustDigest, Environment: "approvals", Outcome: reviewpr.Paused,
		Findings: 1, Majors: 1,
		Thread: w.change.Thread,
		Subject: checkpoint.Subject{Kind: "pull request", Repository: "o/r", RepositoryID: 7, Number: 42,
			Base: w.change.Pull.BaseSHA, Head: head, Digest: w.change.Digest()},
		RunID: 5, RunAttempt: 1, CreatedAt: made, ExpiresAt: made.Add(time.Hour), ToolVersion: "1",
		Graph: checkpoint.Graph{Name: reviewpr.Name, Version: reviewpr.Version,
			Fingerprint: flow.Fingerprint()},
		ConfigFingerprint: config.Default().Fingerprint(), SnapshotSHA256: m.SnapshotSHA256,
		ReviewSHA256: m.ReviewSHA256, GateID: paused.Pending[0].ID,
	}, m)
}

func TestOnlyAParkedThreadIsPacked(t *testing.T) {
	t.Parallel()
	w := newWorld(finds(""), "a.go")
	_, err := reviewpr.Subject().Pack(t.Context(), w.flow(t), w.store, w.change.Thread, checkpoint.Protection{})
	require.ErrorIs(t, err, graph.ErrNoThread)
	w.run(t)
	_, err = reviewpr.Subject().Pack(t.Context(), w.flow(t), w.store, w.change.Thread, checkpoint.Protection{})
	require.ErrorIs(t, err, handoff.ErrNotParked)
}

// TestP2_AParkedDraftIsTheOneThatItsGateAsksAbout changes what is stored behind the question, and the question.
func TestP2_AParkedDraftIsTheOneThatItsGateAsksAbout(t *testing.T) {
	t.Parallel()
	parked := func(t *testing.T) graph.View[reviewpr.State] {
		t.Helper()
		w := newWorld(finds(finding.Major), "a.go", "b.go")
		require.Equal(t, graph.Paused, w.run(t).Status)
		view, err := w.flow(t).Inspect(t.Context(), w.change.Thread)
		require.NoError(t, err)
		return view
	}
	require.NoError(t, reviewpr.Intact(parked(t)))
	for name, alter := range map[string]func(*graph.View[reviewpr.State]){
		"a finding's text": func(v *graph.View[reviewpr.State]) { v.State.Comments[0].Body = "Another reason." },
		"a finding less":   func(v *graph.View[reviewpr.State]) { v.State.Comments = v.State.Comments[1:] },
		"the diff":         func(v *graph.View[reviewpr.State]) { v.State.Draft.Subject.Digest = strings.Repeat("0", 64) },
		"the question":     func(v *graph.View[reviewpr.State]) { v.Pending[0].Ask = []byte(`{}`) },
		"no question":      func(v *graph.View[reviewpr.State]) { v.Pending[0].Ask = []byte("{") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := parked(t)
			alter(&view)
			err := reviewpr.Intact(view)
			require.Equal(t, 3, problem.Check(err))
			require.ErrorContains(t, problem.Of(err), `drafted  by version "1"`)
		})
	}
}
