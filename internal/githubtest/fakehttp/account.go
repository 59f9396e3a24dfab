package fakehttp

import "strings"

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

// User returns the account of a login. A missing one is made, as Bot if the login ends in [bot], else as User.
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
