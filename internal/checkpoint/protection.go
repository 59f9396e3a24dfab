package checkpoint

import (
	"bytes"
	"cmp"
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

// The ways to protect a checkpoint beyond its digest.
const (
	TrustDigest  = "digest"  // no protection: the digest comes by a separate channel
	TrustSeal    = "seal"    // an HMAC over the manifest, which holds the hashes of the rest
	TrustEncrypt = "encrypt" // the same, and the snapshot encrypted with age
)

// Protection is how a job protects what it packs, and what it requires of what it
// opens. It comes from the job's settings, never from a draft. The zero value is
// TrustDigest.
type Protection struct {
	Trust string
	Key   Key // for TrustSeal and TrustEncrypt; ignored under TrustDigest
}

// Check refuses an unknown trust, and a seal or encryption without a key
// (ErrKey). Call it before anything is paid for.
func (p Protection) Check() error {
	if !slices.Contains(trusts(), p.trust()) {
		return fmt.Errorf("trust is %.40q; it is one of %s", p.Trust, strings.Join(trusts(), ", "))
	}
	if p.Keyed() && p.Key.secret == nil {
		return fmt.Errorf("trust: %s: %w", p.Trust, keyError("is not set or empty"))
	}
	return nil
}

func trusts() []string { return []string{TrustDigest, TrustSeal, TrustEncrypt} }

func (p Protection) trust() string { return trustOf(p.Trust) }

func trustOf(name string) string { return cmp.Or(name, TrustDigest) }

// Keyed reports whether a key is required, as under seal and encrypt.
func (p Protection) Keyed() bool { return p.trust() != TrustDigest }

// MarkerKey returns the key that seals the markers of posted reviews, nil under
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

// A sealed JSON object begins with its seal, which covers all bytes after it:
// {"seal":"hmac-sha256:<64 hex>", and then the rest.
const (
	sealAlgorithm = "hmac-sha256:"
	sealStart     = `{"seal":"` + sealAlgorithm
	sealEnd       = `",`
)

// SealBytes prepends a MAC to content that is not a checkpoint. The MAC is valid for
// one use of the key and for one name. It needs a key.
func (p Protection) SealBytes(use, name string, content []byte) []byte {
	return append([]byte(p.mac(use, append([]byte(name+"\n"), content...))), content...)
}

// OpenBytes returns the content that SealBytes sealed with the same key, use and name,
// and false for anything else.
func (p Protection) OpenBytes(use, name string, sealed []byte) ([]byte, bool) {
	const size = 2 * sha256.Size
	if !p.Keyed() || len(sealed) < size {
		return nil, false
	}
	content := sealed[size:]
	return content, hmac.Equal([]byte(p.mac(use, append([]byte(name+"\n"), content...))), sealed[:size])
}

// seal adds a seal to a non-empty JSON object. It needs a key.
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

// requireSeal is check 5 for a draft or a record: under a key, the JSON object has a
// seal made with that key. It decodes nothing, and the algorithm is fixed, whatever
// the object says.
func (p Protection) requireSeal(label, what string, object []byte) error {
	if err := p.Check(); err != nil {
		return refuse(5, "set trust and checkpoint-key as in the drafting job", what+" cannot be checked",
			row("where", "%v", err))
	}
	if !p.Keyed() {
		return nil
	}
	sum, rest, ok := cutSeal(object)
	if !ok {
		return refuse(5, "give both jobs the same trust and checkpoint-key; "+draftAnew,
			fmt.Sprintf("%s carries no seal, and this job says trust: %s", what, p.Trust))
	}
	if !hmac.Equal([]byte(p.mac(label, rest)), sum) {
		return refuseAltered(what, errors.New("the seal does not fit"))
	}
	return nil
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
// derived key of 256 bits, which stretching does not make harder to guess, and
// the limit keeps a forged header from demanding more work.
const ageWork = 1

func (p Protection) passphrase() string {
	return base64.StdEncoding.EncodeToString(p.Key.Derive(ageLabel))
}

// encrypt encrypts a snapshot with age under a passphrase derived from the key.
func (p Protection) encrypt(snapshot []byte) ([]byte, error) {
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
	_, err = w.Write(snapshot)
	if err := errors.Join(err, w.Close()); err != nil { // Close writes the last chunk
		return nil, err
	}
	return hidden.Bytes(), nil
}

// decrypt decrypts the result of encrypt. It needs a key.
func (p Protection) decrypt(hidden []byte) ([]byte, error) {
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

// ErrKey reports a checkpoint key that is missing, malformed or too short.
var ErrKey = errors.New("checkpoint-key")

// Key is the secret that drafting and deciding jobs share. The zero value is no
// key. It holds a pointer, so that printing it never shows the secret.
type Key struct{ secret *[sha256.Size]byte }

// ParseKey decodes a base64 key, padded or not, of at least 32 bytes. It ignores
// surrounding white space and line breaks. Its errors are ErrKey and contain
// nothing of the text.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, keyError("is not set or empty")
	}
	secret, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		secret, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil {
		return Key{}, keyError("is not base64")
	}
	if len(secret) < minKey {
		return Key{}, keyError(fmt.Sprintf("holds %d bytes", len(secret)))
	}
	extracted, err := hkdf.Extract(sha256.New, secret, nil)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return Key{(*[sha256.Size]byte)(extracted)}, nil
}

func keyError(what string) error {
	return fmt.Errorf("%w %s: it has to be base64 of at least %d random bytes; "+
		"make one with `openssl rand -base64 %d` and keep it as a secret", ErrKey, what, minKey, minKey)
}

// Derive returns the 32 bytes for the use of the key that label names
// (HKDF-SHA256, RFC 5869), or nil if there is no key.
func (k Key) Derive(label string) []byte {
	if k.secret == nil {
		return nil
	}
	// it fails only for a length beyond HKDF's limit
	derived, _ := hkdf.Expand(sha256.New, k.secret[:], "pr-review v1 "+label, sha256.Size)
	return derived
}
