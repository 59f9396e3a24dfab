// Package checkpoint packs a parked draft into the file that travels between
// jobs, and holds the checks of that file before a resume trusts it.
//
// It fetches nothing, posts nothing and never writes an entry of a zip to
// disk: bytes and facts come in, values and refusals go out. Start reading at
// Pack and Open; the checks have numbers, in the order in which a resume goes
// through them: CheckFound, CheckDigest, Open, CheckRun, CheckFormat,
// CheckTarget, CheckHead, CheckExpiry.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// The entries of a checkpoint's zip, in their order.
const (
	manifestEntry = "manifest.json"
	snapshotEntry = "checkpoint.json"
	reviewEntry   = "review.md"
)

// MaxZip bounds a checkpoint's zip, in bytes. What Pack makes, Open takes.
const MaxZip = 48 << 20

const maxManifest = 256 << 10

// Packed is a checkpoint ready to leave. Digest is the SHA-256 of Zip in 64
// hex digits, Code its first 16.
type Packed struct {
	Zip          []byte
	Digest, Code string
	Manifest     Manifest
}

// Pack puts a manifest, a graph's snapshot and the draft as Markdown into a
// zip. Times of the manifest are cut to UTC seconds and its SnapshotSHA256 is
// filled in. Equal input gives equal bytes; what Open would refuse is an error.
func Pack(m Manifest, snapshot []byte, review string) (Packed, error) {
	m.Format = Format
	m.SnapshotSHA256 = Digest(snapshot)
	m = m.normal()
	text, err := m.encode()
	if err != nil {
		return Packed{}, fmt.Errorf("writing manifest: %w", err)
	}
	z, err := zipOf(entry{manifestEntry, text}, entry{snapshotEntry, snapshot}, entry{reviewEntry, []byte(review)})
	if err != nil {
		return Packed{}, fmt.Errorf("packing checkpoint: %w", err)
	}
	digest := Digest(z)
	return Packed{Zip: z, Digest: digest, Code: Code(digest), Manifest: m}, nil
}

// Opened is a checkpoint whose zip, manifest and snapshot hash are sound. That
// it is the expected one is for the other checks to say. Review is untrusted
// text, Snapshot is not decoded yet.
type Opened struct {
	Manifest     Manifest
	Snapshot     []byte
	Review       string
	Digest, Code string
}

// Open is check 3: it reads a checkpoint's zip, which must be laid out exactly
// as Pack does it. The error is a *Refusal, of check 6 where the manifest has
// a format that this version does not know.
func Open(z []byte) (Opened, error) {
	contents, err := contentsOf(z, manifestEntry, snapshotEntry, reviewEntry)
	if err != nil {
		return Opened{}, damaged(err)
	}
	m, err := decodeManifest(contents[0])
	if err != nil {
		return Opened{}, damaged(fmt.Errorf("reading manifest: %w", err))
	}
	if Digest(contents[1]) != m.SnapshotSHA256 {
		return Opened{}, damaged(fmt.Errorf("%s is not the one that %s names", snapshotEntry, manifestEntry))
	}
	digest := Digest(z)
	return Opened{Manifest: m, Snapshot: contents[1], Review: string(contents[2]), Digest: digest, Code: Code(digest)}, nil
}

// Digest is the SHA-256 of b in 64 hex digits.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Code is the short form of a digest, its first 16 digits.
func Code(digest string) string { return digest[:min(len(digest), 16)] }

// ArtifactName is the name under which a draft is kept:
// pr-review-42-3f9c2a71be04d855, or pr-review-42-docs-3f9c2a71be04d855.
func ArtifactName(pull int, instance, code string) string {
	if instance != "" {
		instance += "-"
	}
	return fmt.Sprintf("pr-review-%d-%s%s", pull, instance, code)
}

// DecisionArtifactName is the name under which the decision on a draft is kept.
func DecisionArtifactName(code string) string { return "pr-review-decision-" + code }
