package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// The errors that a caller handles. Those that come from an answer wrap a
// *transport.StatusError.
var (
	ErrNotFound = problem.Sentinel("not found, or not visible to this token",
		"check the name; a private repository needs a token that may read it (github-token, GITHUB_TOKEN)")
	ErrNoAccess = problem.Sentinel("the token has no access",
		"check the token (github-token, GITHUB_TOKEN) and the job's permissions")
	ErrExpired  = errors.New("expired or deleted")
	ErrTooLarge = transport.ErrTooLarge
	ErrStale    = errors.New("what was to be changed has changed meanwhile")
	ErrDeclined = errors.New("GitHub took no part of it")
)

// Wrap adds what was being done and the sentinel for the answer's status. A rate limit is not
// ErrNoAccess. A nil error stays nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = misfit{errIncomplete, err}
	}
	var status *transport.StatusError
	if !errors.As(err, &status) {
		return fmt.Errorf("%s: %w", doing, transport.Clean(err))
	}
	if kind := sentinel(status); kind != nil {
		if kind == ErrNoAccess && status.Needs != "" {
			kind = accessError{kind, status.Needs}
		}
		return fmt.Errorf("%s: %w: %w", doing, kind, status)
	}
	return fmt.Errorf("%s: %w", doing, status)
}

// misfit is errIncomplete for an answer of another form. The cause is not shown: it names types
// of Go.
type misfit struct {
	error
	cause error
}

// Unwrap returns both.
func (m misfit) Unwrap() []error { return []error{m.error, m.cause} }

// accessError is ErrNoAccess with the permissions that GitHub named.
type accessError struct {
	error
	permissions string
}

// Unwrap returns ErrNoAccess.
func (l accessError) Unwrap() error { return l.error }

// Next tells the user which permissions to give the token.
func (l accessError) Next() string {
	return "give the token what GitHub names, in the job's permissions: { " + l.permissions + " }"
}

func sentinel(status *transport.StatusError) error {
	switch {
	case status.Limited:
		return nil
	case status.Code == http.StatusNotFound:
		return ErrNotFound
	case status.Code == http.StatusGone:
		return ErrExpired
	case status.Code == http.StatusNotAcceptable: // GitHub's answer for a diff that it does not make
		return ErrTooLarge
	case status.Code == http.StatusUnauthorized, status.Code == http.StatusForbidden:
		return ErrNoAccess
	}
	return nil
}
