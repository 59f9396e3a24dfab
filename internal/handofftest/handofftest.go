// Package handofftest puts the drafts of flows to the tests that every flow behind a gate has to pass: both routes, the
// thirteen resume checks, jobs that decide at the same time, and a program that is killed at each of its steps. The
// flows are note_test.go's, which shows what a graph needs, and the ticket's.
//
// It knows a flow by what Flow says of it. Start reading there; what is here opens drafts for other tests.
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

// Sealed is a protection by a key.
func Sealed(t *testing.T) checkpoint.Protection {
	t.Helper()
	key, err := checkpoint.ParseKey(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	require.NoError(t, err)
	return checkpoint.Protection{Trust: checkpoint.TrustSeal, Key: key}
}
