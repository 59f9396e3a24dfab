// Package checkpoint packs a parked draft into the file that travels between
// jobs, and holds the checks of that file before a resume trusts it.
//
// It fetches nothing, posts nothing and never writes an entry of a zip to
// disk: bytes and facts come in, values and refusals go out. Start reading at
// Protection.Pack and Open; the checks have numbers, in the order in which a
// resume goes through them: CheckFound (1), CheckReported and CheckDigest (2),
// Unzip (3), CheckRun (4), CheckSeal (5), Open, CheckMadeBy (4), CheckFormat (6),
// CheckTarget (7), CheckSettings (8), CheckExpiry (10). Check 9 looks at what the
// draft is about, so it is the subject's.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/org/pr-review-action/internal/problem"
)

// The entries of a checkpoint's zip, in their order.
const (
	manifestEntry = "manifest.json"
	snapshotEntry = "checkpoint.json"
	reviewEntry   = "review.md"
	patchEntry    = "change.patch"
)

// MaxZip bounds a checkpoint's zip, in bytes. What Pack makes, Open takes.
const MaxZip = 48 << 20

const maxManifest = 256 << 10

// Draft is a checkpoint, packed to leave or opened. Layout, seal, manifest and hashes
// are sound; that it is the expected one is for the checks to say. Digest is the
// SHA-256 of the zip in 64 hex digits, Code its first 16. Snapshot is not decoded yet;
// of a partial checkpoint it is for DecodeSaved.
type Draft struct {
	Manifest     Manifest
	Snapshot     []byte
	Shown        // none of an encrypted or a partial one
	Digest, Code string
	Zip          []byte // as packed; nil of one that was opened
}

// Shown is what an approver can read in a draft's zip: untrusted text, which nothing is
// carried out from.
type Shown struct {
	Review string // the draft as Markdown
	Patch  string // its change for git apply; empty where it proposes none
}

// Pack puts a manifest, a graph's snapshot and what the draft shows into a
// zip. The last is left out of an encrypted checkpoint and of a partial one,
// whose snapshot is what EncodeSaved gives. Times of the manifest are cut to UTC
// seconds; format, trust, seal and hashes are filled in. Equal input gives equal
// bytes, except where encrypted; what Open would refuse is an error.
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
		if snapshot, err = p.hide(snapshot); err != nil {
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
	m, text, err := p.sealed(m.normal())
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

// sealed gives the manifest as it is stored, and with its seal.
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

// Zip is a checkpoint whose layout is sound. Nothing of it is decoded.
type Zip struct {
	digest string
	parts  [][]byte // manifest, snapshot and, where there are such, review and patch
}

// Digest is the zip's SHA-256 in hex.
func (z Zip) Digest() string { return z.digest }

// Unzip is check 3: a checkpoint's zip must be laid out exactly as Pack does it.
func Unzip(z []byte) (Zip, error) {
	parts, err := contentsOf(z, 2, manifestEntry, snapshotEntry, reviewEntry, patchEntry)
	if err != nil {
		return Zip{}, damaged(err)
	}
	return Zip{Digest(z), parts}, nil
}

// CheckSeal is check 5: where there is a key, the manifest has a seal made with
// it. Under digest there is nothing to check; that a draft has a seal there is
// for check 8 to say.
func (p Protection) CheckSeal(z Zip) error {
	return p.demandSeal(manifestLabel, "the draft", z.parts[0])
}

// Open goes through check 5 again, reads the manifest strictly, holds the other
// entries to the hashes in it and decrypts the snapshot. The error is a *problem.Error:
// of check 6 where the format is not known, of 8 where the draft is encrypted and
// there is no key, of 5 or, without a key, 3 where something was changed.
func (p Protection) Open(z Zip) (Draft, error) {
	if err := p.CheckSeal(z); err != nil {
		return Draft{}, err
	}
	m, err := z.Manifest()
	if err != nil {
		return Draft{}, err
	}
	if err := z.agrees(m); err != nil {
		if p.Keyed() {
			return Draft{}, altered("the draft", err)
		}
		return Draft{}, damaged(err)
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
		return Draft{}, anotherTrust(m, p.Trust)
	}
	if o.Snapshot, err = p.reveal(z.parts[1]); err != nil {
		return Draft{}, altered("the draft", err)
	}
	return o, nil
}

// agrees holds the entries to what the manifest says of them.
func (z Zip) agrees(m Manifest) error {
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

// Digest is the SHA-256 of b in 64 hex digits.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Code is the short form of a digest, its first 16 digits.
func Code(digest string) string { return digest[:min(len(digest), 16)] }

// refuse makes a refusal whose last row is what to do next.
func refuse(check int, next, what string, rows ...[2]string) *problem.Error {
	return problem.Refuse(check, what, next, rows...)
}

func row(label, format string, args ...any) [2]string {
	return [2]string{label, fmt.Sprintf(format, args...)}
}

const draftAnew = "start a new draft: run the workflow that drafts again"

// damaged turns an error of reading a checkpoint into check 3's refusal. A
// refusal of another check stays what it is.
func damaged(err error) error {
	if problem.Check(err) > 0 {
		return err
	}
	return refuse(3, draftAnew, "the checkpoint cannot be read", row("where", "%v", err))
}

// altered is check 5's refusal of what a seal or age does not vouch for. Which
// of the two it is cannot be told.
func altered(what string, err error) *problem.Error {
	return refuse(5, "give both jobs the same checkpoint-key, find out who changed it; "+draftAnew,
		"the key is not the one that sealed "+what+", or it was changed", row("where", "%v", err))
}

func unknownFormat(format int) *problem.Error {
	return refuse(6, "decide with the version that drafted, or "+draftAnew,
		"the checkpoint has a format that this version does not know",
		row("draft", "format %d", format), row("known", "format %d", Format))
}
