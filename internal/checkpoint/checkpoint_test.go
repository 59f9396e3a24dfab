package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/problem"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

var (
	base = strings.Repeat("b", 40)
	head = "1a2b3c4" + strings.Repeat("0", 33)
	diff = strings.Repeat("d", 64)
	made = time.Date(2026, 11, 21, 14, 10, 3, 0, time.UTC)
)

func manifest() Manifest {
	return Manifest{
		Thread:  "org/payments#42@docs:" + head,
		Subject: Subject{"pull request", "org/payments", 7, 42, "", "docs", base, head, diff},
		RunID:   8123459999, RunAttempt: 1, WorkflowRef: "org/payments/.github/workflows/pr-review.yml@refs/heads/main",
		Approvals: []string{"ai-review/rita/approved"}, CreatedAt: made, ExpiresAt: made.Add(14 * 24 * time.Hour),
		ToolVersion: "v1.0.0",
		Graph:       Graph{"reviewpr", 1, diff}, ConfigFingerprint: diff, PromptFingerprint: diff, GateID: "gate-1",
		Outcome: "PAUSED", Findings: 3, Blockers: 1, Environment: "ai-review",
	}
}

const snapshot = `{"format":1,"fields":{}}`

func shown() Shown { return Shown{Review: "## Draft\n", Patch: "diff --git a/x b/x\n"} }

func key(t testing.TB, letter string) Key {
	t.Helper()
	k, err := ParseKey(base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32))))
	require.NoError(t, err)
	return k
}

// protections are the three ways to protect a checkpoint.
func protections(t testing.TB) []Protection {
	t.Helper()
	return []Protection{{}, {TrustSeal, key(t, "k")}, {TrustEncrypt, key(t, "k")}}
}

func (p Protection) packed(t testing.TB) Draft {
	t.Helper()
	out, err := p.Pack(manifest(), []byte(snapshot), shown())
	require.NoError(t, err)
	return out
}

func packed(t testing.TB) Draft {
	t.Helper()
	return Protection{}.packed(t)
}

// open is what a resume does with a zip: checks 3 and 5, then Open.
func (p Protection) open(z []byte) (Draft, error) {
	parts, err := Unzip(z)
	if err != nil {
		return Draft{}, err
	}
	return p.Open(parts)
}

func refusal(t *testing.T, err error, check int) *problem.Error {
	t.Helper()
	var r *problem.Error
	require.ErrorAs(t, err, &r)
	require.Equal(t, check, r.Check)
	require.Equal(t, "next", r.Rows[len(r.Rows)-1][0], "P12: every refusal says what to do")
	return r
}

func TestP11_EqualInputGivesEqualBytes(t *testing.T) {
	t.Parallel()
	m := manifest()
	m.CreatedAt = m.CreatedAt.Add(7 * time.Millisecond).In(time.FixedZone("x", 3600))
	for _, p := range protections(t) {
		again, err := p.Pack(m, []byte(snapshot), shown())
		require.NoError(t, err)
		if p.Trust == TrustEncrypt {
			require.NotEqual(t, p.packed(t).Digest, again.Digest, "age draws a new file key each time")
			continue
		}
		require.Equal(t, p.packed(t), again)
		m := m
		m.RunAttempt = 2
		other, err := p.Pack(m, []byte(snapshot), shown())
		require.NoError(t, err)
		require.NotEqual(t, again.Digest, other.Digest)
	}
}

func TestOpenGivesWhatWasPacked(t *testing.T) {
	t.Parallel()
	for _, p := range protections(t) {
		z := p.packed(t)
		o, err := p.open(z.Zip)
		require.NoError(t, err)
		want := Draft{z.Manifest, []byte(snapshot), shown(), z.Digest, z.Code, nil}
		if p.Trust == TrustEncrypt {
			want.Shown = Shown{}
		}
		require.Equal(t, want, o)
		require.NotContains(t, o.Review+fmt.Sprintf("%+v", o.Manifest), z.Code)
	}
}

func TestAPartialCheckpointHasNoReviewAndNoGate(t *testing.T) {
	t.Parallel()
	m := manifest()
	m.GateID, m.Outcome, m.Partial = "", "", 3
	for _, p := range protections(t) {
		z, err := p.Pack(m, []byte(`{"snapshot":{},"journal":[]}`), Shown{"left out", "left out"})
		require.NoError(t, err)
		o, err := p.open(z.Zip)
		require.NoError(t, err)
		require.Empty(t, o.Shown)
		saved, err := DecodeSaved(o.Snapshot)
		require.NoError(t, err)
		require.Equal(t, "{}", string(saved.Snapshot))
		require.NotContains(t, string(z.Zip), "left out")
	}
}

func TestAnyZipReaderReadsACheckpoint(t *testing.T) {
	t.Parallel()
	z := packed(t).Zip
	r, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
	require.NoError(t, err)
	review, err := fs.ReadFile(r, reviewEntry)
	require.NoError(t, err)
	patch, err := fs.ReadFile(r, patchEntry)
	require.NoError(t, err)
	require.Equal(t, shown(), Shown{string(review), string(patch)})
}

// So are those of reviews, and of tickets that an earlier version drafted.
func TestADraftWithoutAPatchIsOpened(t *testing.T) {
	t.Parallel()
	for _, p := range protections(t) {
		z, err := p.Pack(manifest(), []byte(snapshot), Shown{Review: "## Draft\n"})
		require.NoError(t, err)
		o, err := p.open(z.Zip)
		require.NoError(t, err)
		require.Empty(t, o.Patch)
		require.NotContains(t, string(z.Zip), patchEntry)
		require.NotContains(t, string(z.Zip), "patch_sha256")
	}
}

func TestPackRefusesWhatOpenWouldRefuse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Manifest){
		"no thread":         func(m *Manifest) { m.Thread = "" },
		"no gate":           func(m *Manifest) { m.GateID = "" },
		"no graph":          func(m *Manifest) { m.Graph.Name = "" },
		"odd head":          func(m *Manifest) { m.Subject.Head = "main" },
		"odd base":          func(m *Manifest) { m.Subject.Base = "main" },
		"no head":           func(m *Manifest) { m.Subject.Head = "" },
		"odd number":        func(m *Manifest) { m.Subject.Number = -1 },
		"odd key":           func(m *Manifest) { m.Subject.Number, m.Subject.Key = 0, "PAY 88" },
		"key and number":    func(m *Manifest) { m.Subject.Key = "PAY-88" },
		"odd diff digest":   func(m *Manifest) { m.Subject.Digest = "" },
		"no repository id":  func(m *Manifest) { m.Subject.RepositoryID = 0 },
		"expires before":    func(m *Manifest) { m.ExpiresAt = m.CreatedAt },
		"odd outcome":       func(m *Manifest) { m.Outcome = "<b>" },
		"negative count":    func(m *Manifest) { m.Blockers = -1 },
		"manifest too long": func(m *Manifest) { m.Approvals = []string{strings.Repeat("x", maxManifest)} },
	} {
		m := manifest()
		change(&m)
		_, err := Protection{}.Pack(m, []byte(snapshot), Shown{})
		require.Error(t, err, name)
	}
	_, err := Protection{}.Pack(manifest(), make([]byte, MaxZip), Shown{})
	require.ErrorIs(t, err, errTooLarge)
}

func TestPackTakesLocalInput(t *testing.T) {
	t.Parallel()
	m := manifest()
	m.Thread, m.Subject = "local/demo:1", Subject{Digest: diff}
	m.RunID, m.RunAttempt, m.WorkflowRef, m.Approvals = 0, 0, "", nil
	p, err := Protection{}.Pack(m, []byte(snapshot), Shown{})
	require.NoError(t, err)
	_, err = Protection{}.open(p.Zip)
	require.NoError(t, err)
}
