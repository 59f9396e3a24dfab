package graph

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A sealed snapshot begins with its seal, which covers every byte behind it:
//
//	{"seal":"hmac-sha256:<64 hex digits>",<the other members>}
//
// Which kind it has to be follows from whether there is a key, never from the
// snapshot.
const (
	plain    = `{"seal":"sha256:`
	keyed    = `{"seal":"hmac-sha256:`
	unsealed = `{"format":1,` // how snapshots began before there were seals
)

// seal is what a snapshot begins with that goes on with rest: HMAC-SHA256 under
// a key, SHA-256 without one.
func seal(key, rest []byte) []byte {
	start, h := plain, sha256.New()
	if key != nil {
		start, h = keyed, hmac.New(sha256.New, key)
	}
	h.Write(rest)
	return fmt.Appendf(nil, `%s%x",`, start, h.Sum(nil))
}

// checkSeal refuses a snapshot of which a byte is not as it was sealed, and one
// whose seal is not of the kind that is wanted. It decodes nothing.
func checkSeal(key, snapshot []byte) error {
	size := len(seal(key, nil))
	switch {
	case len(snapshot) > maxBytes:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrSnapshot, len(snapshot), maxBytes)
	case key == nil && bytes.HasPrefix(snapshot, []byte(unsealed)):
		return nil
	case key == nil && isKeyed(snapshot):
		return fmt.Errorf("%w: it is under a key, and there is none here to check it with", ErrSeal)
	case key != nil && !isKeyed(snapshot):
		return fmt.Errorf("%w: there is a key, and no seal under it", ErrSeal)
	case len(snapshot) < size, !hmac.Equal(seal(key, snapshot[size:]), snapshot[:size]):
		return fmt.Errorf("%w: it was changed or cut, or sealed under another key", ErrSeal)
	}
	return nil
}

func isKeyed(snapshot []byte) bool { return bytes.HasPrefix(snapshot, []byte(keyed)) }

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, data := range parts {
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
