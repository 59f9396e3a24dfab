// Package checkpoint packs a parked draft into the file that travels between
// jobs, and checks that file before a resume trusts it.
//
// It fetches nothing, posts nothing and never writes an entry of a zip to disk:
// bytes and facts come in, values and refusals go out. Start reading at
// Protection.Pack and Open. The checks are numbered; a resume runs them in this
// order: CheckFound (1), CheckReported and CheckDigest (2), Unzip (3), CheckRun
// (4), CheckSeal (5), Open, CheckMadeBy (4), CheckFormat (6), CheckTarget (7),
// CheckSettings (8), CheckExpiry (10). Check 9 depends on what the draft is
// about, so the subject implements it.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
)

// The entries of a checkpoint's zip, in order.
const (
	manifestEntry = "manifest.json"
	snapshotEntry = "checkpoint.json"
	reviewEntry   = "review.md"
	patchEntry    = "change.patch"
)

// MaxZip bounds a checkpoint's zip, in bytes. Open accepts everything that Pack produces.
const MaxZip = 48 << 20

const maxManifest = 256 << 10

// Draft is a checkpoint that was packed or opened. Its layout, seal, manifest and
// hashes are valid; whether it is the expected draft is up to the checks. Digest is
// the SHA-256 of the zip in 64 hex digits, Code its first 16. Snapshot is not decoded;
// for a partial checkpoint it is input to DecodeSaved.
type Draft struct {
	Manifest     Manifest
	Snapshot     []byte
	Shown        // empty if encrypted or partial
	Digest, Code string
	Zip          []byte // as packed; nil for an opened draft
}

// Record returns a decision record with who decides the draft, when and how; With adds the decision.
func (d Draft) Record(by string, at time.Time, via decision.Via) decision.Record {
	return decision.Record{Thread: d.Manifest.Thread, Digest: d.Digest, Code: d.Code, By: by, At: at, Via: via}
}

// Shown is what an approver can read in a draft's zip. It is untrusted text that is
// never acted on.
type Shown struct {
	Review string // the draft as Markdown
	Patch  string // its change for git apply; empty if it proposes none
}

// Pack packs a manifest, a graph's snapshot and what the draft shows into a zip.
// It omits shown from an encrypted or partial checkpoint; for the latter,
// snapshot is the result of EncodeSaved. It truncates the manifest's times to UTC
// seconds and fills in format, trust, seal and hashes. Equal input produces equal
// bytes unless encrypted; input that Open would refuse is an error.
func (p Protection) Pack(m Manifest, snapshot []byte, shown Shown) (Draft, error) {
	packed, err := p.pack(m, snapshot, shown)
	if err != nil {
		return Draft{}, fmt.Errorf("packing checkpoint: %w", err)
	}
	return packed, nil
}

func (p Protection) pack(m Manifest, snapshot []byte, shown Shown) (Draft, error) {
	if err := p.Check(); err != nil {
		return Draft{}, err
	}
	m.Format, m.Trust = Format, p.trust()
	if m.Trust == TrustEncrypt {
		var err error
		if snapshot, err = p.encrypt(snapshot); err != nil {
			return Draft{}, fmt.Errorf("encrypting: %w", err)
		}
	}
	m.SnapshotSHA256, m.ReviewSHA256, m.PatchSHA256 = Digest(snapshot), "", ""
	entries := []entry{{manifestEntry, nil}, {snapshotEntry, snapshot}}
	if m.showsReview() {
		m.ReviewSHA256 = Digest([]byte(shown.Review))
		entries = append(entries, entry{reviewEntry, []byte(shown.Review)})
	}
	if m.showsReview() && shown.Patch != "" {
		m.PatchSHA256 = Digest([]byte(shown.Patch))
		entries = append(entries, entry{patchEntry, []byte(shown.Patch)})
	}
	m.CreatedAt, m.ExpiresAt = m.CreatedAt.UTC().Truncate(time.Second), m.ExpiresAt.UTC().Truncate(time.Second)
	m, text, err := p.sealed(m)
	if err != nil {
		return Draft{}, fmt.Errorf("writing manifest: %w", err)
	}
	entries[0].content = text
	z, err := packZip(entries...)
	if err != nil {
		return Draft{}, err
	}
	digest := Digest(z)
	return Draft{Manifest: m, Digest: digest, Code: Code(digest), Zip: z}, nil
}

// sealed returns the manifest with its seal, and its stored form.
func (p Protection) sealed(m Manifest) (Manifest, []byte, error) {
	m.Seal = ""
	text, err := m.encode()
	if err != nil || !p.Keyed() {
		return m, text, err
	}
	text = p.seal(manifestLabel, text)
	sum, _, _ := cutSeal(text)
	m.Seal = sealAlgorithm + string(sum)
	return m, text, nil
}

// Zip is a checkpoint with a valid layout. None of it is decoded.
type Zip struct {
	digest string
	parts  [][]byte // manifest, snapshot and, if present, review and patch
}

// Digest returns the zip's SHA-256 in hex.
func (z Zip) Digest() string { return z.digest }

// Unzip is check 3: the zip must be laid out exactly as Pack writes it.
func Unzip(z []byte) (Zip, error) {
	parts, err := readZip(z, 2, manifestEntry, snapshotEntry, reviewEntry, patchEntry)
	if err != nil {
		return Zip{}, refuseDamaged(err)
	}
	return Zip{Digest(z), parts}, nil
}

// CheckSeal is check 5: under a key, the manifest has a seal made with that key.
// Under digest there is nothing to check; a draft that has a seal anyway is
// refused by check 8.
func (p Protection) CheckSeal(z Zip) error {
	return p.requireSeal(manifestLabel, "the draft", z.parts[0])
}

// Open repeats check 5, decodes the manifest strictly, compares the other entries with
// its hashes and decrypts the snapshot. The error is a *problem.Error: of check 6 for
// an unknown format, of 8 for an encrypted draft without a key, and for a modified one
// of 5, or of 3 if there is no key.
func (p Protection) Open(z Zip) (Draft, error) {
	if err := p.CheckSeal(z); err != nil {
		return Draft{}, err
	}
	m, err := z.Manifest()
	if err != nil {
		return Draft{}, err
	}
	if err := z.checkHashes(m); err != nil {
		if p.Keyed() {
			return Draft{}, refuseAltered("the draft", err)
		}
		return Draft{}, refuseDamaged(err)
	}
	o := Draft{Manifest: m, Snapshot: z.parts[1], Digest: z.digest, Code: Code(z.digest)}
	if m.showsReview() {
		o.Review = string(z.parts[2])
	}
	if m.PatchSHA256 != "" {
		o.Patch = string(z.parts[3])
	}
	if m.Trust != TrustEncrypt {
		return o, nil
	}
	if !p.Keyed() {
		return Draft{}, refuseTrust(m, p.Trust)
	}
	if o.Snapshot, err = p.decrypt(z.parts[1]); err != nil {
		return Draft{}, refuseAltered("the draft", err)
	}
	return o, nil
}

// checkHashes compares the entries with the manifest's hashes.
func (z Zip) checkHashes(m Manifest) error {
	names := []string{snapshotEntry, reviewEntry, patchEntry}
	for i, digest := range []string{m.SnapshotSHA256, m.ReviewSHA256, m.PatchSHA256} {
		switch there := i+1 < len(z.parts); {
		case there != (digest != ""):
			return fmt.Errorf("%s is there and should not be, or the other way round", names[i])
		case there && Digest(z.parts[i+1]) != digest:
			return fmt.Errorf("%s is not the one that %s names", names[i], manifestEntry)
		}
	}
	return nil
}

// Digest returns the SHA-256 of b in 64 hex digits.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Code returns the short form of a digest, its first 16 digits.
func Code(digest string) string { return digest[:min(len(digest), 16)] }

// refuse returns a refusal whose last row is what to do next.
func refuse(check int, next, what string, rows ...[2]string) *problem.Error {
	return problem.Refuse(check, what, next, rows...)
}

func row(label, format string, args ...any) [2]string {
	return [2]string{label, fmt.Sprintf(format, args...)}
}

const draftAnew = "start a new draft: review it again, or run the workflow that drafts again"

// refuseDamaged turns an error of reading a checkpoint into check 3's refusal. It
// returns the refusal of another check unchanged.
func refuseDamaged(err error) error {
	if problem.Check(err) > 0 {
		return err
	}
	return refuse(3, draftAnew, "the checkpoint cannot be read", row("where", "%v", err))
}

// refuseAltered returns check 5's refusal of content with a wrong seal or failed
// decryption. A wrong key and modified content cannot be told apart.
func refuseAltered(what string, err error) *problem.Error {
	return refuse(5, "give both jobs the same checkpoint-key, find out who changed it; "+draftAnew,
		"the key is not the one that sealed "+what+", or it was changed", row("where", "%v", err))
}

func refuseFormat(format int) *problem.Error {
	return refuse(6, "decide with the version that drafted, or "+draftAnew,
		"the checkpoint has a format that this version does not know",
		row("draft", "format %d", format), row("known", "format %d", Format))
}
