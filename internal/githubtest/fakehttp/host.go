package fakehttp

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Host is what all parts of a fake server share: its requests, its storage, its clock, its ids.
type Host struct {
	*Front
	Storage *Storage
	URL     string // of the interface, without trailing slash
	// artifacts that have expired are not listed, as since 24 September 2026:
	// https://github.blog/changelog/2026-09-24-expired-github-actions-artifacts-no-longer-shown-in-ui-and-api
	HidesExpired bool

	clock  func() time.Time
	key    string // secret of all tokens and signatures
	offset time.Duration
	lastID int64
	users  map[string]*User
}

// NewHost returns a host with an empty storage; violated, which may be nil, receives what the description forbids.
// Their addresses are set once they are known.
func NewHost(violated func(reason string), clock func() time.Time) *Host {
	h := &Host{Front: &Front{violated: violated}, clock: clock, key: rand.Text()}
	h.Storage = &Storage{Now: h.Now, Key: []byte(h.key)}
	return h
}

// Now returns the server's time, in whole seconds like the API.
func (h *Host) Now() time.Time { return h.clock().Add(h.offset).UTC().Truncate(time.Second) }

// Advance moves the server's clock for a test: artifacts and signed addresses expire by it.
func (h *Host) Advance(d time.Duration) { Do(h, func() { h.offset += d }) }

// NextID returns an unused id.
func (h *Host) NextID() int64 {
	h.lastID++
	return 1000 + h.lastID
}

// Digest returns a hash of its parts that only this server can make, 64 hexadecimal digits.
func (h *Host) Digest(parts ...string) string {
	sum := sha256.Sum256([]byte(h.key + strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Token returns the token that a request brings; "" for none.
func Token(r *http.Request) string {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token)
}
