package githubtest

import (
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

// host is a server's host with its accounts. Its URL is GITHUB_API_URL; URL+"/api/v3" works too.
type host struct {
	*fakehttp.Host
	WebURL     string // GITHUB_SERVER_URL
	PatchLines int    // changed lines from which a file has no patch

	users map[string]*user
}

type user struct {
	Login string
	ID    int64
	Type  string // User, Bot or Organization
	gone  bool   // the account was deleted
}

// actionsBot is the author of what GITHUB_TOKEN writes, actionsBotID its id at GitHub.
const (
	actionsBot   = "github-actions[bot]"
	actionsBotID = 41898282
)

// JSON returns an account for an answer.
func (u *user) JSON() object { return object{"login": u.Login, "id": u.ID, "type": u.Type} }

// User returns the account of a login. A missing one is made, as Bot if the login ends in [bot], else as User.
func (h *host) User(login string) *user {
	if u := h.users[login]; u != nil {
		return u
	}
	u := &user{Login: login, ID: h.NextID(), Type: "User"}
	if strings.HasSuffix(login, "[bot]") {
		u.Type = "Bot"
	}
	if login == actionsBot {
		u.ID = actionsBotID
	}
	if h.users == nil {
		h.users = map[string]*user{}
	}
	h.users[login] = u
	return u
}

// Find returns the account of a login or an id; nil if there is none.
func (h *host) Find(login string, id int64) *user {
	for _, u := range h.users {
		if u.Login == login || u.ID == id {
			return u
		}
	}
	return nil
}

// Author returns an account as the author in an answer: null once it was deleted.
func (h *host) Author(login string) any {
	if u := h.User(login); !u.gone {
		return u.JSON()
	}
	return nil
}

// AddUser makes an account of a type, User, Bot or Organization. Accounts that other calls name need none.
func (h *host) AddUser(login, kind string) { fakehttp.Do(h, func() { h.User(login).Type = kind }) }

// DeleteUser deletes an account. What it wrote stays, with null as author, or ghost where null is forbidden.
func (h *host) DeleteUser(login string) { fakehttp.Do(h, func() { h.User(login).gone = true }) }
