package graph

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// A sealed snapshot begins with its seal, which covers every byte behind it:
//
//	{"seal":"hmac-sha256:<64 hex digits>",<the other members>}
//
// Which kind it has to be follows from whether there is a key, never from the
// snapshot.
const (
	sealStart = `{"seal":"`
	sealEnd   = `",`
	plain     = "sha256:"
	keyed     = "hmac-sha256:"
	unsealed  = `{"format":1,` // how snapshots began before there were seals
)

// sealer makes and checks seals: HMAC-SHA256 under a key, SHA-256 without one.
type sealer struct{ key []byte }

func (s sealer) start() string {
	if s.key != nil {
		return sealStart + keyed
	}
	return sealStart + plain
}

// blank is where set will put the seal.
func (s sealer) blank() string {
	return s.start() + fmt.Sprintf("%0*d", hex.EncodedLen(sha256.Size), 0) + sealEnd
}

// set seals a snapshot that begins with blank.
func (s sealer) set(snapshot []byte) {
	copy(snapshot[len(s.start()):], s.sum(snapshot[len(s.blank()):]))
}

func (s sealer) sum(rest []byte) []byte {
	var h hash.Hash = sha256.New()
	if s.key != nil {
		h = hmac.New(sha256.New, s.key)
	}
	h.Write(rest)
	return hex.AppendEncode(nil, h.Sum(nil))
}

// check refuses a snapshot of which a byte is not as it was sealed, and one
// whose seal is not of the kind that is wanted. It decodes nothing.
func (s sealer) check(snapshot []byte) error {
	if len(snapshot) > maxBytes {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrSnapshot, len(snapshot), maxBytes)
	}
	start, size := len(s.start()), len(s.blank())
	switch {
	case s.key == nil && bytes.HasPrefix(snapshot, []byte(unsealed)):
		return nil
	case s.key == nil && isKeyed(snapshot):
		return fmt.Errorf("%w: it is under a key, and there is none here to check it with", ErrSeal)
	case !bytes.HasPrefix(snapshot, []byte(s.start())) && s.key != nil:
		return fmt.Errorf("%w: there is a key, and no seal under it", ErrSeal)
	case !bytes.HasPrefix(snapshot, []byte(s.start())), len(snapshot) < size, string(snapshot[size-len(sealEnd):size]) != sealEnd,
		!hmac.Equal(s.sum(snapshot[size:]), snapshot[start:size-len(sealEnd)]):
		return fmt.Errorf("%w: it was changed or cut, or sealed under another key", ErrSeal)
	}
	return nil
}

func isKeyed(snapshot []byte) bool { return bytes.HasPrefix(snapshot, []byte(sealStart+keyed)) }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
