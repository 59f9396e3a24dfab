package app_test

import (
	"archive/zip"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/testvolume"
)

// route brings a decision to a draft of a digest, by a person who may.
type route func(s *stage, digest string) *job

// routes are the two ways to decide on GitHub.
func routes() map[string]route {
	all := map[string]route{
		"route A": func(s *stage, digest string) *job { s.approved(""); return s.postJob(digest) },
		"route B": func(s *stage, digest string) *job { return s.decideJob(checkpoint.Code(digest), "approve") },
	}
	if testvolume.Raced && !testvolume.Full() {
		delete(all, "route B") // its job runs the same code, and has its own tests
	}
	return all
}

// overRoutes runs an attack over both routes: a draft, something done to it or
// to the job that decides it, and the refusal that a person reads.
func overRoutes(t *testing.T, sc scene, attack func(s *stage, drafted ended, decide route) *job, says ...string) {
	for name, decide := range routes() {
		t.Run(name, func(t *testing.T) {
			s := setUp(t, sc)
			s.refused(attack(s, s.parked(), decide).start(), says...)
		})
	}
}

// refused is a deciding job that a check has ended: what was wrong and what to
// do next are said, and nothing is written.
func (s *stage) refused(e ended, says ...string) {
	s.t.Helper()
	e.is(3, "REFUSED").says(append(says, "::error::",
		"next")...).shows("The decision on #42 was refused, nothing was posted")
	require.Empty(s.t, e.outputs["review-url"])
	s.untouched()
}

// entry is a file of a draft's zip.
type entry struct {
	name    string
	content []byte
}

// entries takes a zip apart.
func entries(t *testing.T, z []byte) (all []entry) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
	require.NoError(t, err)
	for _, f := range r.File {
		open, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(open)
		require.NoError(t, err)
		all = append(all, entry{f.Name, content})
	}
	return all
}

// zipped lays entries out as the product does it, so that the layout is no
// reason to refuse them.
func zipped(t *testing.T, all []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range all {
		size := uint64(len(e.content))
		part, err := w.CreateRaw(&zip.FileHeader{
			//lint:ignore SA1019 Modified would write an extra field
			Name: e.name, Method: zip.Store, ModifiedDate: 1<<5 | 1,
			CRC32: crc32.ChecksumIEEE(e.content), CompressedSize64: size, UncompressedSize64: size,
		})
		require.NoError(t, err)
		_, err = part.Write(e.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// stored puts a zip into the draft's run under the name that it would have, and
// gives its digest.
func (s *stage) stored(z []byte) (digest string) {
	digest = checkpoint.Digest(z)
	s.run.AddArtifact(reviewpr.Names.Draft(checkpoint.Subject{Number: 42}, digest), z)
	return digest
}

// altered is a draft with another first entry, stored in its run.
func (s *stage) altered(drafted ended, change func(manifest string) string) (digest string) {
	s.t.Helper()
	all := entries(s.t, s.draftArtifact(drafted).Zip())
	before := string(all[0].content)
	after := change(before)
	require.NotEqual(s.t, before, after)
	all[0].content = []byte(after)
	return s.stored(zipped(s.t, all))
}

var sealMember = regexp.MustCompile(`^\{"seal":"hmac-sha256:[0-9a-f]{64}",`)

// resealed gives a manifest the seal that somebody would make who has another
// key, without HKDF in front of it.
func resealed(manifest string, key []byte) string {
	rest := sealMember.ReplaceAllString(manifest, "")
	h := hmac.New(sha256.New, key)
	h.Write([]byte(rest))
	return fmt.Sprintf(`{"seal":"hmac-sha256:%x",%s`, h.Sum(nil), rest)
}

// words are the texts of the story's findings and the paths they are about,
// none of which a draft that is hidden may show.
func words() []string {
	return []string{
		"Moves money", "Logs and goes on", "not awaited", "Says too little", "never emptied", "Because of",
		"Nothing calls", "fixed()",
		"ledger/", "transfer.go", "cart.ts", "ops/run.sh", "move(a, b)", "DEFECT",
	}
}

func holdsNone(t *testing.T, where, text string, secret ...string) {
	t.Helper()
	for _, word := range secret {
		require.False(t, strings.Contains(text, word), "%s holds %q", where, word)
	}
}
