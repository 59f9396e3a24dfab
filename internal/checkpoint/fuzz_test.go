package checkpoint

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/problem"
)

func FuzzOpen(f *testing.F) {
	for _, p := range protections(f) {
		z := p.packed(f).Zip
		f.Add(z)
		f.Add(z[:len(z)-1])
		f.Add(append([]byte("x"), z...))
	}
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	all := protections(f)
	all[1].Key, all[2].Key = key(f, "f"), key(f, "f") // with which no seed was made
	f.Fuzz(func(t *testing.T, z []byte) {
		for _, p := range all {
			o, err := p.open(z)
			if err != nil {
				require.ErrorAs(t, err, new(*problem.Error))
				require.NotContains(t, err.Error(), "\x1b")
				continue
			}
			require.False(t, p.Keyed(), "nobody can make a seal without the key")
			require.Equal(t, o.Manifest.SnapshotSHA256, Digest(o.Snapshot))
		}
	})
}

func FuzzManifest(f *testing.F) {
	for _, p := range protections(f) {
		f.Add(parts(f, p.packed(f).Zip)[0].content)
	}
	f.Add([]byte(`{"format":3}`))
	f.Add([]byte(`{"format":3,"format":3}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decodeManifest(text)
		if err != nil {
			return
		}
		m.Approvals = append([]string{}, m.Approvals...) // an absent list reads as an empty one when written
		again, err := json.Marshal(m)
		require.NoError(t, err)
		back, err := decodeManifest(again)
		require.NoError(t, err)
		require.Equal(t, m, back)
	})
}

func FuzzRecord(f *testing.F) {
	for _, p := range protections(f) {
		z, err := p.PackRecord(record())
		require.NoError(f, err)
		contents, err := readZip(z, 1, recordEntry)
		require.NoError(f, err)
		f.Add(contents[0])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		z, err := packZip(entry{recordEntry, text})
		require.NoError(t, err)
		_, err = Protection{TrustSeal, key(t, "f")}.OpenRecord(z)
		require.Error(t, err)
		r, err := Protection{}.OpenRecord(z)
		if err != nil {
			return
		}
		require.NotEmpty(t, r.Thread)
		if again, err := (Protection{}).PackRecord(r); err == nil {
			back, err := Protection{}.OpenRecord(again)
			require.NoError(t, err)
			require.Equal(t, r.Decision, back.Decision)
		}
	})
}

func FuzzSaved(f *testing.F) {
	for _, s := range []graph.Saved{{Snapshot: []byte("{}")},
		{Snapshot: []byte(`{"a":[1]}`), Journal: [][]byte{[]byte(`{"b":"\u00e9"}`), []byte("{}")}}} {
		text, err := EncodeSaved(s)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(` { "snapshot" : { } , "journal" : [ { } ] } `))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := DecodeSaved(text)
		if err != nil {
			return
		}
		again, err := EncodeSaved(s)
		require.NoError(t, err)
		back, err := DecodeSaved(again)
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}
