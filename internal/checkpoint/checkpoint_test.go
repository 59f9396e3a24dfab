package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
)

var (
	base = strings.Repeat("b", 40)
	head = "1a2b3c4" + strings.Repeat("0", 33)
	diff = strings.Repeat("d", 64)
	made = time.Date(2026, 11, 21, 14, 10, 3, 0, time.UTC)
)

func manifest() Manifest {
	return Manifest{
		Thread: "org/payments#42@docs:" + head, Repository: "org/payments", RepositoryID: 7, Pull: 42, Instance: "docs",
		BaseSHA: base, HeadSHA: head, DiffDigest: diff, RunID: 8123459999, RunAttempt: 1, WorkflowRef: "org/payments/.github/workflows/pr-review.yml@refs/heads/main",
		Approvals: []string{"ai-review/rita/approved"}, CreatedAt: made, ExpiresAt: made.Add(14 * 24 * time.Hour), ToolVersion: "v1.0.0",
		Graph: Graph{"reviewpr", 1, diff}, ConfigFingerprint: diff, PromptFingerprint: diff, GateID: "gate-1",
	}
}

const snapshot = `{"format":1,"fields":{}}`

func packed(t testing.TB) Packed {
	t.Helper()
	p, err := Pack(manifest(), []byte(snapshot), "## Draft\n")
	require.NoError(t, err)
	return p
}

func refusal(t *testing.T, err error, check int) *Refusal {
	t.Helper()
	var r *Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, check, r.Check)
	require.Equal(t, "next", r.Rows[len(r.Rows)-1][0], "P12: every refusal says what to do")
	return r
}

func TestP11_EqualInputGivesEqualBytes(t *testing.T) {
	t.Parallel()
	m := manifest()
	m.CreatedAt = m.CreatedAt.Add(7 * time.Millisecond).In(time.FixedZone("x", 3600))
	again, err := Pack(m, []byte(snapshot), "## Draft\n")
	require.NoError(t, err)
	require.Equal(t, packed(t), again)

	m.RunAttempt = 2
	other, err := Pack(m, []byte(snapshot), "## Draft\n")
	require.NoError(t, err)
	require.NotEqual(t, packed(t).Digest, other.Digest)
}

func TestOpenGivesWhatWasPacked(t *testing.T) {
	t.Parallel()
	p := packed(t)
	o, err := Open(p.Zip)
	require.NoError(t, err)
	require.Equal(t, Opened{p.Manifest, []byte(snapshot), "## Draft\n", p.Digest, p.Code}, o)
	require.NotContains(t, string(o.Review)+fmt.Sprintf("%+v", o.Manifest), p.Code)
}

func TestAnyZipReaderReadsACheckpoint(t *testing.T) {
	t.Parallel()
	z := packed(t).Zip
	r, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
	require.NoError(t, err)
	review, err := fs.ReadFile(r, reviewEntry)
	require.NoError(t, err)
	require.Equal(t, "## Draft\n", string(review))
}

func TestNamesAreTheContracts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "pr-review-42-3f9c2a71be04d855", ArtifactName(42, "", "3f9c2a71be04d855"))
	require.Equal(t, "pr-review-42-docs-3f9c2a71be04d855", ArtifactName(42, "docs", "3f9c2a71be04d855"))
	require.Equal(t, "pr-review-decision-3f9c2a71be04d855", DecisionArtifactName("3f9c2a71be04d855"))
	require.Equal(t, "3f9c2a71be04d855", Code("3f9c2a71be04d855"+strings.Repeat("0", 48)))
}

func TestPackRefusesWhatOpenWouldRefuse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Manifest){
		"no thread":         func(m *Manifest) { m.Thread = "" },
		"no gate":           func(m *Manifest) { m.GateID = "" },
		"odd head":          func(m *Manifest) { m.HeadSHA = "main" },
		"odd diff digest":   func(m *Manifest) { m.DiffDigest = "" },
		"no repository id":  func(m *Manifest) { m.RepositoryID = 0 },
		"expires before":    func(m *Manifest) { m.ExpiresAt = m.CreatedAt },
		"manifest too long": func(m *Manifest) { m.Approvals = []string{strings.Repeat("x", maxManifest)} },
	} {
		m := manifest()
		change(&m)
		_, err := Pack(m, []byte(snapshot), "")
		require.Error(t, err, name)
	}
	_, err := Pack(manifest(), make([]byte, MaxZip), "")
	require.ErrorIs(t, err, errTooLarge)
}

func TestPackTakesLocalInput(t *testing.T) {
	t.Parallel()
	m := manifest()
	m.Thread, m.Repository, m.RepositoryID, m.Pull, m.Instance = "local/demo:1", "", 0, 0, ""
	m.BaseSHA, m.HeadSHA, m.RunID, m.RunAttempt, m.WorkflowRef, m.Approvals = "", "", 0, 0, "", nil
	p, err := Pack(m, []byte(snapshot), "")
	require.NoError(t, err)
	_, err = Open(p.Zip)
	require.NoError(t, err)
}

func TestT21_EveryFlippedByteIsRefused(t *testing.T) {
	t.Parallel()
	p := packed(t)
	for i := range p.Zip {
		z := bytes.Clone(p.Zip)
		z[i] ^= 1
		require.Error(t, CheckDigest(z, p.Code), "digest, byte %d", i)
		_, err := Open(z)
		require.Error(t, err, "byte %d of %s", i, z)
	}
}

func TestT21_EveryTruncationIsRefused(t *testing.T) {
	t.Parallel()
	z := packed(t).Zip
	for i := range z {
		_, err := Open(z[:i])
		refusal(t, err, 3)
	}
}

func TestT21_TheManifestIsReadStrictly(t *testing.T) {
	t.Parallel()
	text, err := packed(t).Manifest.encode()
	require.NoError(t, err)
	body := strings.TrimSuffix(string(text), "\n}\n")
	for name, c := range map[string]struct {
		text  string
		check int
	}{
		"unknown member": {body + `,"mac":"x"}`, 3},
		"repeated":       {body + `,"head_sha":"` + base + `"}`, 3},
		"other case":     {body + `,"HEAD_SHA":"` + base + `"}`, 3},
		"two documents":  {string(text) + "{}", 3},
		"bad UTF-8":      {strings.Replace(string(text), "v1.0.0", "v\xff", 1), 3},
		"nested":         {strings.Repeat("[", 100_000), 3},
		"odd commit":     {strings.Replace(string(text), `"head_sha": "`+head, `"head_sha": "HEAD`, 1), 3},
		"no format":      {`{}`, 6},
		"old format":     {strings.Replace(string(text), `"format": 1`, `"format": 0`, 1), 6},
		"newer format":   {`{"format":2,"seal":"x"}`, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z, err := zipOf(entry{manifestEntry, []byte(c.text)}, entry{snapshotEntry, []byte(snapshot)}, entry{reviewEntry, nil})
			require.NoError(t, err)
			_, err = Open(z)
			refusal(t, err, c.check)
		})
	}
}

func TestCheck3_TheSnapshotIsTheOneNamed(t *testing.T) {
	t.Parallel()
	text, err := packed(t).Manifest.encode()
	require.NoError(t, err)
	z, err := zipOf(entry{manifestEntry, text}, entry{snapshotEntry, []byte("{}")}, entry{reviewEntry, nil})
	require.NoError(t, err)
	_, err = Open(z)
	require.ErrorContains(t, err, "checkpoint.json is not the one that manifest.json names")
	refusal(t, err, 3)
}

// zipped makes a zip by the standard writer's ways, not ours.
func zipped(t *testing.T, change func(*zip.FileHeader), names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if change != nil {
			change(h)
		}
		part, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = part.Write([]byte("{}"))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestCheck3_T22_OnlyTheKnownEntriesInTheKnownLayout(t *testing.T) {
	t.Parallel()
	good := packed(t).Zip
	names := []string{manifestEntry, snapshotEntry, reviewEntry}
	many := make([]string, 700)
	for i := range many {
		many[i] = fmt.Sprintf("f%d", i)
	}
	comment := bytes.Clone(good)
	binary.LittleEndian.PutUint16(comment[len(comment)-2:], 3)
	renamed := bytes.Replace(good, []byte(reviewEntry), []byte("../ow.md\x00"), 1) // in the local header alone
	for name, c := range map[string]struct {
		zip  []byte
		want string
	}{
		"empty":               {nil, "not a zip"},
		"no zip":              {[]byte(strings.Repeat("x", 100)), "not a zip"},
		"path up":             {zipped(t, nil, manifestEntry, snapshotEntry, "../../../home/runner/.bashrc"), "entry 3"},
		"absolute":            {zipped(t, nil, "/etc/cron.d/x", snapshotEntry, reviewEntry), "entry 1"},
		"backslash":           {zipped(t, nil, `..\..\x`, snapshotEntry, reviewEntry), "entry 1"},
		"NUL":                 {zipped(t, nil, manifestEntry, "checkpoint.json\x00.txt", reviewEntry), "entry 2"},
		"other case":          {zipped(t, nil, manifestEntry, "CHECKPOINT.JSON", reviewEntry), "entry 2"},
		"other order":         {zipped(t, nil, snapshotEntry, manifestEntry, reviewEntry), "entry 1"},
		"twice":               {zipped(t, nil, manifestEntry, snapshotEntry, snapshotEntry), "entry 3"},
		"one more":            {zipped(t, nil, append(names, "run.sh")...), "4 entries"},
		"one less":            {zipped(t, nil, names[:2]...), "2 entries"},
		"very many":           {zipped(t, nil, many...), "entries"},
		"link":                {zipped(t, func(h *zip.FileHeader) { h.SetMode(0o777 | 1<<27) }, names...), "not laid out"},
		"extra field":         {zipped(t, func(h *zip.FileHeader) { h.Extra = []byte{1, 2, 0, 0} }, names...), "not laid out"},
		"stored elsewhere":    {zipped(t, func(h *zip.FileHeader) { h.Method = zip.Store }, names...), "not laid out"},
		"other writer":        {zipped(t, nil, names...), "not laid out"},
		"bytes in front":      {append([]byte("#!/bin/sh\n"), good...), "not laid out"},
		"bytes behind":        {append(bytes.Clone(good), 0), "not a zip"},
		"comment":             {append(comment, "abc"...), "not a zip"},
		"a zip behind":        {append(bytes.Clone(good), good...), "not laid out"},
		"two names for entry": {renamed, "not laid out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(c.zip)
			refusal(t, err, 3)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestT23_EntriesAreCountedBeforeTheDirectoryIsRead(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, checkDirectory(zipped(t, nil, "a", "b"), 3), "2 entries instead of 3")
	require.NoError(t, checkDirectory(packed(t).Zip, 3))
}

func TestCheck3_T23_NothingIsExpanded(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	w := zip.NewWriter(&bomb)
	for _, name := range []string{manifestEntry, snapshotEntry, reviewEntry} {
		part, err := w.Create(name)
		require.NoError(t, err)
		_, err = part.Write(make([]byte, 3_000_000))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	// sizes that lie, in the directory at the end alone
	lying := bytes.Clone(packed(t).Zip)
	directory := bytes.Index(lying, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(lying[directory+20:], 2<<30)
	for want, z := range map[string][]byte{
		"not laid out": bomb.Bytes(),
		"too large":    make([]byte, MaxZip+1),
		"the zip":      lying,
	} {
		_, err := Open(z)
		refusal(t, err, 3)
		require.ErrorContains(t, err, want)
	}
}

func TestRecordTravelsAsAZip(t *testing.T) {
	t.Parallel()
	r := decision.Record{Thread: "org/payments#42:" + head, Digest: diff, Code: Code(diff), Decision: decision.Abort, By: "rita", At: made, Via: decision.ByDispatch}
	z, err := PackRecord(r)
	require.NoError(t, err)
	back, err := OpenRecord(z)
	require.NoError(t, err)
	require.Equal(t, decision.Abort, back.Decision)
	_, err = OpenRecord(packed(t).Zip)
	require.Error(t, err)
	_, err = Open(z)
	require.Error(t, err)
}

func FuzzOpen(f *testing.F) {
	good := packed(f).Zip
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(append([]byte("x"), good...))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, z []byte) {
		o, err := Open(z)
		if err != nil {
			require.ErrorAs(t, err, new(*Refusal))
			require.NotContains(t, err.Error(), "\x1b")
			return
		}
		require.Equal(t, o.Manifest.SnapshotSHA256, Digest(o.Snapshot))
	})
}

func FuzzManifest(f *testing.F) {
	text, err := packed(f).Manifest.encode()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(`{"format":1,"format":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decodeManifest(text)
		if err != nil {
			return
		}
		again, err := m.encode()
		require.NoError(t, err)
		back, err := decodeManifest(again)
		require.NoError(t, err)
		require.Equal(t, m.normal(), back)
	})
}
