package checkpoint

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
)

// What protects a checkpoint beyond its digest.
const (
	TrustDigest  = "digest"  // nothing: the digest comes by another way
	TrustSeal    = "seal"    // an HMAC over the manifest, which names the rest
	TrustEncrypt = "encrypt" // that, and the snapshot hidden by age
)

// Protection is how a job protects what it packs, and what it demands of what
// it opens. It comes from the job's settings, never from a draft. The zero
// Protection is TrustDigest.
type Protection struct {
	Trust string
	Key   Key // of TrustSeal and TrustEncrypt; not used under TrustDigest
}

// Check refuses an unknown trust, and a seal or encryption without a key
// (ErrKey). It belongs in front of anything that is paid.
func (p Protection) Check() error {
	if !slices.Contains(trusts(), p.trust()) {
		return fmt.Errorf("trust is %.40q; it is one of %s", p.Trust, strings.Join(trusts(), ", "))
	}
	if p.Keyed() && p.Key.secret == nil {
		return fmt.Errorf("trust: %s: %w", p.Trust, badKey("is not set or empty"))
	}
	return nil
}

func trusts() []string { return []string{TrustDigest, TrustSeal, TrustEncrypt} }

func (p Protection) trust() string { return trustOf(p.Trust) }

func trustOf(name string) string {
	if name == "" {
		return TrustDigest
	}
	return name
}

// Keyed reports whether a key is demanded: under seal and encrypt.
func (p Protection) Keyed() bool { return p.trust() != TrustDigest }

// MarkerKey is what the markers of posted reviews are sealed with, nil under
// TrustDigest.
func (p Protection) MarkerKey() []byte {
	if !p.Keyed() {
		return nil
	}
	return p.Key.Derive(markerLabel)
}

// The uses of the key.
const (
	manifestLabel = "manifest seal"
	recordLabel   = "record seal"
	markerLabel   = "marker"
	ageLabel      = "age"
)

// A sealed JSON object begins with its seal, which is over all bytes behind it:
// {"seal":"hmac-sha256:<64 hex>", and then the rest.
const (
	sealAlgorithm = "hmac-sha256:"
	sealStart     = `{"seal":"` + sealAlgorithm
	sealEnd       = `",`
)

var (
	errNoSeal  = errors.New("no seal")
	errBadSeal = errors.New("the seal does not fit")
)

// SealBytes puts a MAC ahead of content that is no checkpoint: for one use of the key,
// and as what is named. It needs a key.
func (p Protection) SealBytes(use, name string, content []byte) []byte {
	return append([]byte(p.mac(use, append([]byte(name+"\n"), content...))), content...)
}

// OpenBytes gives back what SealBytes sealed with the same key for that use, as what is
// named; false for anything else.
func (p Protection) OpenBytes(use, name string, sealed []byte) ([]byte, bool) {
	const size = 2 * sha256.Size
	if !p.Keyed() || len(sealed) < size {
		return nil, false
	}
	content := sealed[size:]
	return content, hmac.Equal([]byte(p.mac(use, append([]byte(name+"\n"), content...))), sealed[:size])
}

// seal puts the seal into a JSON object that is not empty. It needs a key.
func (p Protection) seal(label string, object []byte) []byte {
	rest := object[1:]
	out := make([]byte, 0, len(sealStart)+2*sha256.Size+len(sealEnd)+len(rest))
	out = append(out, sealStart...)
	out = append(out, p.mac(label, rest)...)
	out = append(out, sealEnd...)
	return append(out, rest...)
}

func (p Protection) mac(label string, rest []byte) string {
	h := hmac.New(sha256.New, p.Key.Derive(label))
	h.Write(rest)
	return hex.EncodeToString(h.Sum(nil))
}

// checkSeal looks at the seal of a JSON object before anything is decoded. The
// algorithm is the one above, whatever the object says.
func (p Protection) checkSeal(label string, object []byte) error {
	sum, rest, ok := cutSeal(object)
	if !ok {
		return errNoSeal
	}
	if !hmac.Equal([]byte(p.mac(label, rest)), sum) {
		return errBadSeal
	}
	return nil
}

// demandSeal is check 5 for a draft or a record: where there is a key, the
// object has a seal made with it.
func (p Protection) demandSeal(label, what string, object []byte) error {
	if err := p.Check(); err != nil {
		return refuse(5, "set trust and checkpoint-key as in the drafting job", what+" cannot be checked",
			row("where", "%v", err))
	}
	if !p.Keyed() {
		return nil
	}
	switch err := p.checkSeal(label, object); err {
	case nil:
		return nil
	case errNoSeal:
		return refuse(5, "give both jobs the same trust and checkpoint-key; "+draftAnew,
			fmt.Sprintf("%s carries no seal, and this job says trust: %s", what, p.Trust))
	default:
		return altered(what, err)
	}
}

func cutSeal(object []byte) (sum, rest []byte, ok bool) {
	const digits = 2 * sha256.Size
	behind, ok := bytes.CutPrefix(object, []byte(sealStart))
	if !ok || len(behind) < digits || !bytes.HasPrefix(behind[digits:], []byte(sealEnd)) {
		return nil, object, false
	}
	return behind[:digits], behind[digits+len(sealEnd):], true
}

// ageWork is age's scrypt work factor, as a power of two. The passphrase is a
// derived key of 256 bits, which stretching does not make harder to guess; and
// a forged header cannot demand more work than this.
const ageWork = 1

func (p Protection) passphrase() string {
	return base64.StdEncoding.EncodeToString(p.Key.Derive(ageLabel))
}

// hide encrypts a snapshot with age under a passphrase that the key gives.
func (p Protection) hide(snapshot []byte) ([]byte, error) {
	to, err := age.NewScryptRecipient(p.passphrase())
	if err != nil {
		return nil, err
	}
	to.SetWorkFactor(ageWork)
	var hidden bytes.Buffer
	hidden.Grow(len(snapshot) + len(snapshot)>>11 + 1<<10) // 16 bytes for each 64 KiB, and the header
	w, err := age.Encrypt(&hidden, to)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(snapshot); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil { // writes the last part
		return nil, err
	}
	return hidden.Bytes(), nil
}

// hidden reports whether bytes are what hide makes.
func hidden(b []byte) bool { return bytes.HasPrefix(b, []byte("age-encryption.org/")) }

// reveal undoes hide. It needs a key.
func (p Protection) reveal(hidden []byte) ([]byte, error) {
	by, err := age.NewScryptIdentity(p.passphrase())
	if err != nil {
		return nil, err
	}
	by.SetMaxWorkFactor(ageWork)
	r, err := age.Decrypt(bytes.NewReader(hidden), by)
	if err != nil {
		return nil, err
	}
	var snapshot bytes.Buffer
	snapshot.Grow(len(hidden) + bytes.MinRead)
	_, err = io.Copy(&snapshot, r)
	return snapshot.Bytes(), err
}

const minKey = 32 // bytes

// ErrKey is a checkpoint key that is missing, malformed or short.
var ErrKey = errors.New("checkpoint-key")

// Key is the secret that drafting and deciding jobs share. The zero Key is
// none. It holds a pointer, so that no way of printing it shows the secret.
type Key struct{ secret *[sha256.Size]byte }

// ParseKey reads base64, padded or not, of at least 32 bytes. White space
// around it and line breaks in it do not count. Its errors are ErrKey and hold
// nothing of the text.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, badKey("is not set or empty")
	}
	secret, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		secret, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil {
		return Key{}, badKey("is not base64")
	}
	if len(secret) < minKey {
		return Key{}, badKey(fmt.Sprintf("holds %d bytes", len(secret)))
	}
	extracted, err := hkdf.Extract(sha256.New, secret, nil)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return Key{(*[sha256.Size]byte)(extracted)}, nil
}

func badKey(what string) error {
	return fmt.Errorf("%w %s: it has to be base64 of at least %d random bytes; "+
		"make one with `openssl rand -base64 %d` and keep it as a secret", ErrKey, what, minKey, minKey)
}

// Derive returns the 32 bytes for one use of the key, which label names
// (HKDF-SHA256, RFC 5869), or nil of no key.
func (k Key) Derive(label string) []byte {
	if k.secret == nil {
		return nil
	}
	derived, err := hkdf.Expand(sha256.New, k.secret[:], "pr-review v1 "+label, sha256.Size)
	if err != nil {
		return nil // only of a length beyond HKDF's
	}
	return derived
}
