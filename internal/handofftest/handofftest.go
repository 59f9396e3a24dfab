// Package handofftest puts a flow's drafts to the tests that every flow behind a gate has
// to pass: both routes, the thirteen resume checks, jobs that decide at the same time, and
// a program that is killed at each of its steps.
//
// It knows a flow by what Flow says of it, and imports none. Start reading at Flow.
package handofftest

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
)

// Flow is a flow under test; S is the state of its graph.
type Flow[S any] struct {
	Graph   string // by name, in this version
	Version int
	Names   handoff.Names
	Subject handoff.Subject[S]
	About   checkpoint.Subject // of the drafts, in the repository o/r, at no head
	Thread  func(head string) string
	Items   func(S) []decision.Item     // of a draft, as commands name them; nil for none
	Begin   func(checkpoint.Manifest) S // what a thread begins with
	Build   func(World) (*graph.Flow[S], error)
	Text    string // what an approved draft leaves in the folder
}

// World is what a flow under test is built with.
type World struct {
	Store graph.Store
	Paid  func(answer string) // is told of each answer that is paid for, by a name without spaces
	Out   Out                 // where an approved draft goes
}

// Made is when drafts are made.
var Made = time.Date(2026, 11, 21, 14, 10, 0, 0, time.UTC)

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
