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

// User is an account.
type User struct {
	Login string
	ID    int64
	Type  string // User, Bot or Organization
	gone  bool   // the account was deleted
}

// ActionsBot is the author of what GITHUB_TOKEN writes, actionsBotID its id at GitHub.
const (
	ActionsBot   = "github-actions[bot]"
	actionsBotID = 41898282
)

// JSON returns an account for an answer.
func (u *User) JSON() Object { return Object{"login": u.Login, "id": u.ID, "type": u.Type} }

// User returns the account of a login. A missing one is made, as Bot if the login ends in [bot], otherwise as User.
func (h *Host) User(login string) *User {
	if u := h.users[login]; u != nil {
		return u
	}
	u := &User{Login: login, ID: h.NextID(), Type: "User"}
	if strings.HasSuffix(login, "[bot]") {
		u.Type = "Bot"
	}
	if login == ActionsBot {
		u.ID = actionsBotID
	}
	if h.users == nil {
		h.users = map[string]*User{}
	}
	h.users[login] = u
	return u
}

// Find returns the account of a login or an id; nil if there is none.
func (h *Host) Find(login string, id int64) *User {
	for _, u := range h.users {
		if u.Login == login || u.ID == id {
			return u
		}
	}
	return nil
}

// Author returns an account as the author in an answer: null once it was deleted.
func (h *Host) Author(login string) any {
	if u := h.User(login); !u.gone {
		return u.JSON()
	}
	return nil
}

// AddUser makes an account of a type, User, Bot or Organization. Accounts that other calls name need none.
func (h *Host) AddUser(login, kind string) { Do(h, func() { h.User(login).Type = kind }) }

// DeleteUser deletes an account. What it wrote stays, with null as author, or ghost where null is forbidden.
func (h *Host) DeleteUser(login string) { Do(h, func() { h.User(login).gone = true }) }
