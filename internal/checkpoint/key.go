package checkpoint

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

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
	return fmt.Errorf("%w %s: it is base64 of at least %d random bytes; make one with `openssl rand -base64 %d` and "+
		"keep it as a secret",
		ErrKey, what, minKey, minKey)
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
