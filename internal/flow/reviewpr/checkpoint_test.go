package reviewpr_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
)

func packed(t *testing.T) checkpoint.Draft { return packedUnder(t, checkpoint.Protection{}) }

func packedUnder(t *testing.T, protection checkpoint.Protection) checkpoint.Draft {
	t.Helper()
	w := newWorld(finds(finding.Major), "a.go")
	w.run(t)
	p, err := reviewpr.Pack(t.Context(), w.flow(t), w.store, w.change.Thread, protection)
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
	_, err := reviewpr.Pack(t.Context(), w.flow(t), w.store, w.change.Thread, checkpoint.Protection{})
	require.ErrorIs(t, err, graph.ErrNoThread)
	w.run(t)
	_, err = reviewpr.Pack(t.Context(), w.flow(t), w.store, w.change.Thread, checkpoint.Protection{})
	require.ErrorIs(t, err, handoff.ErrNotParked)
}
