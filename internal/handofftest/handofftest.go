// Package handofftest runs the tests that every flow behind a gate has to pass: both routes, the thirteen resume
// checks, concurrent deciding jobs, and a program that is killed at each of its steps. The flows are note_test.go's,
// which shows what a graph needs, and the ticket's.
//
// A Flow describes all that the tests know about it. Start reading there; this file opens drafts for other tests.
package handofftest

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
)

// Open opens a zip without a key.
func Open(zip []byte) (checkpoint.Draft, error) {
	parts, err := checkpoint.Unzip(zip)
	if err != nil {
		return checkpoint.Draft{}, err
	}
	return checkpoint.Protection{}.Open(parts)
}

// Sealed returns a protection with a key.
func Sealed(t *testing.T) checkpoint.Protection {
	t.Helper()
	key, err := checkpoint.ParseKey(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	require.NoError(t, err)
	return checkpoint.Protection{Trust: checkpoint.TrustSeal, Key: key}
}
