package checkpoint

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/testvolume"
)

// injections are the rows of one channel of the known attacks, by id.
func injections(t *testing.T, channel string) map[string][]byte {
	t.Helper()
	rows := map[string][]byte{}
	for _, row := range llmtest.Attacks(t) {
		if row.Channel == channel {
			rows[row.ID] = []byte(row.Payload)
		}
	}
	require.NotEmpty(t, rows)
	return rows
}

// resume goes through checks 2 to 10 as a deciding job does, without 9, which looks outside.
func (p Protection) resume(z []byte, shown string) error {
	if err := CheckDigest(z, shown); err != nil {
		return err
	}
	o, err := p.open(z)
	if err != nil {
		return err
	}
	m, want := o.Manifest, manifest()
	_, settings := CheckSettings(m, Settings{Trust: p.Trust})
	for _, err := range []error{
		CheckMadeBy(m, want.RunID), CheckFormat(m, "reviewpr", 1),
		CheckTarget(m, want.Subject, "org/payments#42@docs:"+m.Subject.Head), settings,
		CheckExpiry(m, made.Add(time.Hour)),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestT19_T21_T23_T38_AttackedCheckpointsAreRefused(t *testing.T) {
	t.Parallel()
	p := Protection{TrustSeal, key(t, "k")}
	good := p.packed(t)
	require.NoError(t, p.resume(good.Zip, good.Code))
	for id, payload := range injections(t, "checkpoint") {
		z := p.attacked(t, good.Zip, payload)
		refusal(t, p.resume(z, good.Code), 2)
		err := p.resume(z, Digest(z))
		if bytes.Contains(payload, []byte(`"/findings/`)) {
			require.NoError(t, err, "who has the key writes findings; to check 2, and to rendering and anchors "+
				"behind it, they are another draft")
			continue
		}
		require.NotEqual(t, 2, check(t, err))
		t.Logf("%s: check %d", id, check(t, err))
	}
}

// attacked does to a checkpoint what an attack of the collection says; our names
// stand in for the collection's.
func (p Protection) attacked(t *testing.T, z, payload []byte) []byte {
	t.Helper()
	var a struct {
		Op       string         `json:"op"`
		Path     string         `json:"path"`
		Value    jsontext.Value `json:"value"`
		Remac    bool           `json:"remac"`
		RemacKey *string        `json:"remac_key"`
		Bytes    int            `json:"bytes"`
		Depth    int            `json:"depth"`
	}
	require.NoError(t, json.Unmarshal(payload, &a, json.RejectUnknownMembers(true)))
	entries := parts(t, z)
	seal, members, _ := bytes.Cut(entries[0].content, []byte(sealEnd))
	var m map[string]jsontext.Value
	require.NoError(t, json.Unmarshal(append([]byte("{"), members...), &m))
	ours := map[string]string{"/repo": "subject/repository", "/pr": "subject/number", "/head_sha": "subject/head_sha",
		"/base_sha": "subject/base_sha", "/diff_digest": "subject/digest", "/version": "format", "/mac": "seal",
		"/mac_alg": "seal"}
	name := strings.TrimPrefix(a.Path, "/")
	if n, ok := ours[a.Path]; ok {
		name = n
	}
	switch {
	case a.Op == "truncate":
		return z[:a.Bytes]
	case a.Op == "nest":
		entries[0].content = []byte(strings.Repeat("[", a.Depth))
	case a.Op == "raw":
		var text string
		require.NoError(t, json.Unmarshal(a.Value, &text))
		entries[0].content = []byte(text)
	case name == "seal":
		entries[0].content = append([]byte("{"), members...)
		if a.Op == "set" {
			entries[0].content = append([]byte(`{"seal":"none",`), members...)
		}
	default:
		if strings.HasPrefix(name, "findings") {
			entries[1].content = append(append([]byte(`{"findings":`), a.Value...), '}')
			m["checkpoint_sha256"] = jsontext.Value(`"` + Digest(entries[1].content) + `"`)
		} else {
			set(t, m, name, a.Value)
		}
		text, err := json.Marshal(m)
		require.NoError(t, err)
		entries[0].content = append(append(bytes.Clone(seal), sealEnd...), text[1:]...)
		if a.Remac {
			entries[0].content = p.with(t, a.RemacKey).seal(manifestLabel, text)
		}
	}
	forged, err := packZip(entries...)
	require.NoError(t, err)
	return forged
}

// set changes a member, or one of the subject.
func set(t *testing.T, m map[string]jsontext.Value, name string, value jsontext.Value) {
	t.Helper()
	outer, inner, nested := strings.Cut(name, "/")
	if !nested || m[outer] == nil {
		m[name] = value
		return
	}
	var members map[string]jsontext.Value
	require.NoError(t, json.Unmarshal(m[outer], &members))
	members[inner] = value
	text, err := json.Marshal(members)
	require.NoError(t, err)
	m[outer] = text
}

func (p Protection) with(t *testing.T, secret *string) Protection {
	t.Helper()
	if secret != nil {
		extracted, err := hkdf.Extract(sha256.New, []byte(*secret), nil)
		require.NoError(t, err)
		p.Key = Key{(*[sha256.Size]byte)(extracted)}
	}
	return p
}

func TestT22_T23_AttackedZipsAreRefused(t *testing.T) {
	t.Parallel()
	for id, payload := range injections(t, "artifact-zip") {
		var a struct {
			Entries []attackedEntry `json:"entries"`
		}
		require.NoError(t, json.Unmarshal(payload, &a, json.RejectUnknownMembers(true)), id)
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
			return flate.NewWriter(to, flate.BestSpeed)
		})
		for _, e := range a.Entries {
			e.write(t, w)
		}
		require.NoError(t, w.Close())
		var err error
		took := testvolume.Took(func() { _, err = Unzip(b.Bytes()) })
		require.Less(t, took, 2*time.Second)
		t.Logf("%s: %v", id, refusal(t, err, 3).Rows[0])
		_, err = Protection{}.OpenRecord(b.Bytes())
		require.Error(t, err)
	}
}

type attackedEntry struct {
	Name         string  `json:"name"`
	Data         string  `json:"data"`
	Symlink      string  `json:"symlink"`
	Repeat       string  `json:"repeat"`
	Mode         string  `json:"mode"`
	Size         int     `json:"size"`
	Count        int     `json:"count"`
	ZipInZip     int     `json:"zip_in_zip"`
	DeclaredSize *uint32 `json:"declared_size"`
}

// write adds the entry; one that is to be 2 GiB has 64 MiB, which is as much beyond us.
func (e attackedEntry) write(t *testing.T, w *zip.Writer) {
	t.Helper()
	data := []byte(e.Data)
	if e.Size > len(data) {
		data = make([]byte, min(e.Size, 64<<20))
	}
	if e.Symlink != "" {
		data = []byte(e.Symlink)
	}
	for range e.ZipInZip {
		var b bytes.Buffer
		inner := zip.NewWriter(&b)
		attackedEntry{Name: e.Name, Data: string(data)}.write(t, inner)
		require.NoError(t, inner.Close())
		data = b.Bytes()
	}
	for i := range max(e.Count, 1) {
		header := &zip.FileHeader{Name: e.Name, Method: zip.Deflate}
		if e.Count > 0 {
			header.Name, header.Method = fmt.Sprintf(e.Name, i), zip.Store
		}
		if e.Symlink != "" {
			header.SetMode(0o777 | os.ModeSymlink)
		}
		if e.Mode != "" {
			header.SetMode(0o755)
		}
		create := w.CreateHeader
		if e.DeclaredSize != nil {
			header.Method, header.CompressedSize64, header.UncompressedSize64 = zip.Store, uint64(len(data)),
				uint64(*e.DeclaredSize)
			create = w.CreateRaw
		}
		part, err := create(header)
		require.NoError(t, err)
		_, err = part.Write(data)
		require.NoError(t, err)
	}
}
