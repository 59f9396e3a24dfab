package checkpoint

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/testvolume"
)

// masks flip a low bit, a letter's case and the top bit.
var masks = []byte{1, 0x20, 0x80}

func TestT20_T21_EveryFlippedByteIsRefused(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	for _, p := range protections(t) {
		z := p.packed(t)
		flipped := bytes.Clone(z.Zip)
		for i := range z.Zip {
			for _, mask := range masks {
				flipped[i] ^= mask
				refusal(t, CheckDigest(flipped, z.Code), 2)
				_, err := p.open(flipped) // whoever flipped it adjusted the digest too
				refusal(t, err, 3)
				flipped[i] ^= mask
			}
		}
	}
}

// TestT21_EveryFlippedByteOfAnEntryIsRefused lays the zip out again around the
// flipped byte, so that only what is inside can tell.
func TestT21_EveryFlippedByteOfAnEntryIsRefused(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	for _, p := range protections(t) {
		z := p.packed(t)
		for e := range parts(t, z.Zip) {
			count := 0
			for i := range parts(t, z.Zip)[e].content {
				for _, mask := range masks {
					entries := parts(t, z.Zip)
					entries[e].content[i] ^= mask
					forged, err := packZip(entries...)
					require.NoError(t, err)
					o, err := p.open(forged)
					switch {
					case p.Keyed():
						refusal(t, err, 5)
					case err == nil:
						require.Equal(t, manifestEntry, entries[e].name,
							"without a key another manifest is another draft")
						require.NotEqual(t, z.Manifest, o.Manifest)
						count++
					default:
						require.Contains(t, []int{3, 6}, check(t, err))
					}
					refusal(t, CheckDigest(forged, z.Code), 2)
				}
			}
			t.Logf("%s, %s: %d flips of %d bytes gave another draft, all refused by check 2", z.Manifest.Trust,
				parts(t, z.Zip)[e].name, count, len(parts(t, z.Zip)[e].content))
		}
	}
}

func check(t *testing.T, err error) int {
	t.Helper()
	var r *problem.Error
	require.ErrorAs(t, err, &r)
	return r.Check
}

// parts are copies of a checkpoint's entries.
func parts(t testing.TB, z []byte) []entry {
	t.Helper()
	contents, err := readZip(z, 2, manifestEntry, snapshotEntry, reviewEntry, patchEntry)
	require.NoError(t, err)
	var list []entry
	for i, name := range []string{manifestEntry, snapshotEntry, reviewEntry, patchEntry}[:len(contents)] {
		list = append(list, entry{name, bytes.Clone(contents[i])})
	}
	return list
}

func TestT21_EveryTruncationIsRefused(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	for _, p := range protections(t) {
		z := p.packed(t).Zip
		for i := range z {
			_, err := p.open(z[:i])
			refusal(t, err, 3)
			refusal(t, CheckDigest(z[:i], Digest(z)), 2)
		}
		for e, part := range parts(t, z) { // cut inside an entry, the zip laid out around it
			for i := range part.content {
				entries := parts(t, z)
				entries[e].content = part.content[:i]
				forged, err := packZip(entries...)
				require.NoError(t, err)
				refusal(t, CheckDigest(forged, Digest(z)), 2)
				_, err = p.open(forged)
				if e == 0 && i == len(part.content)-1 && !p.Keyed() {
					require.NoError(t, err, "the line feed behind the manifest says nothing")
					continue
				}
				refusal(t, err, map[bool]int{true: 5, false: 3}[p.Keyed()])
			}
		}
	}
}

func TestCheck3_T22_EntriesOfOursRenamedDoubledAddedReordered(t *testing.T) {
	t.Parallel()
	for _, p := range protections(t) {
		good := p.packed(t).Zip
		for name, change := range map[string]func([]entry) []entry{
			"renamed":   func(e []entry) []entry { e[1].name = "state.json"; return e },
			"doubled":   func(e []entry) []entry { return append(e, e[1]) },
			"added":     func(e []entry) []entry { return append(e, entry{"run.sh", []byte("id")}) },
			"reordered": func(e []entry) []entry { e[0], e[1] = e[1], e[0]; return e },
			"removed":   func(e []entry) []entry { return e[:1] },
			"none":      func([]entry) []entry { return nil },
			"reversed":  func(e []entry) []entry { slices.Reverse(e); return e },
		} {
			z, err := packZip(change(parts(t, good))...)
			require.NoError(t, err)
			_, err = Unzip(z)
			refusal(t, err, 3)
			require.ErrorContains(t, err, "next", name)
		}
	}
}

func TestCheck3_ReviewAndPatchAreThereWhereTheyBelong(t *testing.T) {
	t.Parallel()
	for _, p := range protections(t) {
		for n := 2; n <= 4; n++ {
			entries := parts(t, p.packed(t).Zip)
			if n == len(entries) {
				continue
			}
			for _, name := range []string{reviewEntry, patchEntry}[len(entries)-2:] {
				entries = append(entries, entry{name, []byte("what nobody sealed")})
			}
			z, err := packZip(entries[:n]...)
			require.NoError(t, err)
			_, err = p.open(z)
			refusal(t, err, map[bool]int{true: 5, false: 3}[p.Keyed()])
		}
	}
}

func TestCheck3_TheEntriesAreTheOnesNamed(t *testing.T) {
	t.Parallel()
	for e, want := range []string{1: "checkpoint.json is not the one that manifest.json names",
		2: "review.md is not the one that manifest.json names",
		3: "change.patch is not the one that manifest.json names"} {
		if e == 0 {
			continue
		}
		entries := parts(t, packed(t).Zip)
		entries[e].content = []byte("{}")
		z, err := packZip(entries...)
		require.NoError(t, err)
		_, err = Protection{}.open(z)
		require.ErrorContains(t, refusal(t, err, 3), want)
	}
}

// TestCheck3_ADraftShowsWhatItAsks leaves the review out of the zip and out of the manifest.
func TestCheck3_ADraftShowsWhatItAsks(t *testing.T) {
	t.Parallel()
	entries := parts(t, packed(t).Zip)[:2]
	hashes := regexp.MustCompile(`,\s*"(review|patch)_sha256": "[0-9a-f]+"`)
	entries[0].content = hashes.ReplaceAll(entries[0].content, nil)
	z, err := packZip(entries...)
	require.NoError(t, err)
	_, err = Protection{}.open(z)
	require.ErrorContains(t, refusal(t, err, 3), "review_sha256 is missing")
}

func TestT21_TheManifestIsReadStrictly(t *testing.T) {
	t.Parallel()
	text := string(parts(t, packed(t).Zip)[0].content)
	body := strings.TrimSuffix(text, "\n}\n")
	for name, c := range map[string]struct {
		text  string
		check int
	}{
		"unknown member":  {body + `,"mac":"x"}`, 3},
		"repeated":        {body + `,"thread":"x"}`, 3},
		"other case":      {body + `,"THREAD":"x"}`, 3},
		"two documents":   {text + "{}", 3},
		"bad UTF-8":       {strings.Replace(text, "v1.0.0", "v\xff", 1), 3},
		"lone surrogate":  {strings.Replace(text, "v1.0.0", `v\ud800`, 1), 3},
		"nested":          {strings.Repeat("[", 100_000), 3},
		"nested inside":   {body + `,"mac":` + strings.Repeat("[", 100_000), 3},
		"odd commit":      {strings.Replace(text, `"head_sha": "`+head, `"head_sha": "HEAD`, 1), 3},
		"text for number": {strings.Replace(text, `"number": 42`, `"number": "42"`, 1), 3},
		"number too big":  {strings.Replace(text, `"number": 42`, `"number": 99999999999999999999`, 1), 3},
		"odd trust":       {strings.Replace(text, `"trust": "digest"`, `"trust": "none"`, 1), 3},
		"no trust":        {strings.Replace(text, `"trust": "digest"`, `"trust": ""`, 1), 3},
		"own seal":        {`{"seal":"hmac-sha256:` + diff + `",` + text[1:], 3},
		"the one before":  {strings.Replace(text, `"format": 3`, `"format": 2`, 1), 6},
		"empty":           {"", 3},
		"null":            {"null", 6},
		"no format":       {`{}`, 6},
		"old format":      {strings.Replace(text, `"format": 3`, `"format": 0`, 1), 6},
		"newer format":    {`{"format":4,"seals":["x"]}`, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotEqual(t, text, c.text)
			entries := parts(t, packed(t).Zip)
			entries[0].content = []byte(c.text)
			z, err := packZip(entries...)
			require.NoError(t, err)
			_, err = Protection{}.open(z)
			refusal(t, err, c.check)
		})
	}
}
