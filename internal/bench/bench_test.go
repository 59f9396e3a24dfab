package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded are the SHA-256 of the bodies on which every implementation of the
// workload agrees.
var recorded = map[int]string{
	10:  "cc4fb06cb6f11361ee30bde2983300c5a643d2b5a5e0b7b1a9ed0a54d5612d42",
	100: "00cef6f0899e6967a0a62a6cfe212623973e24a1ef61bc8b0832bc1b85a33bf4",
}

// act runs one command and returns its line.
func act(t *testing.T, args ...string) line {
	t.Helper()
	var out, trouble bytes.Buffer
	require.Zero(t, run(t.Context(), args, &out, &trouble), trouble.String())
	var l line
	require.NoError(t, json.Unmarshal(out.Bytes(), &l), "one line, and nothing else")
	return l
}

func TestBothWaysPostTheRecordedBody(t *testing.T) {
	t.Parallel()
	for n, want := range recorded {
		for _, prefix := range []string{"", "floor-"} {
			dir := filepath.Join(t.TempDir(), "a")
			require.NoError(t, os.Mkdir(dir, 0o700))
			paused := act(t, prefix+"pause", "--dir", dir, "--n", strconv.Itoa(n), "--concurrency", "3")
			require.EqualValues(t, n, paused.Tasks)
			require.NoFileExists(t, filepath.Join(dir, "body.md"))
			require.NoError(t, os.Rename(dir, dir+"b"))

			done := act(t, prefix+"resume", "--dir", dir+"b", "--decision", "approve")
			body, err := os.ReadFile(filepath.Join(dir+"b", "body.md"))
			require.NoError(t, err)
			require.Equal(t, len(body), *done.BodyBytes)
			sum := sha256.Sum256(body)
			require.Equal(t, want, hex.EncodeToString(sum[:]))
		}
	}
}

func TestARejectedRunPostsNothing(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "floor-"} {
		dir := t.TempDir()
		act(t, prefix+"pause", "--dir", dir, "--n", "3")
		done := act(t, prefix+"resume", "--dir", dir, "--decision", "reject")
		require.False(t, *done.Posted)
		require.Zero(t, *done.BodyBytes)
		require.NoFileExists(t, filepath.Join(dir, "body.md"))
	}
}

func TestACheckpointStaysBelow13OfTheState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	act(t, "pause", "--dir", dir, "--n", "100")
	act(t, "floor-pause", "--dir", dir, "--n", "100")
	state, err := os.Stat(filepath.Join(dir, "checkpoint", "state.json"))
	require.NoError(t, err)
	all, err := dirSize(filepath.Join(dir, "checkpoint"))
	require.NoError(t, err)
	require.Less(t, float64(all-state.Size()), 1.3*float64(state.Size()))
}

func TestWhatIsNotUnderstoodExits2(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{
		{}, {"fly"}, {"pause"}, {"pause", "--dir", dir, "--n", "0"}, {"pause", "--dir", dir, "--help"},
		{"pause", "--dir", dir, "more"},
		{"resume", "--dir", dir}, {"resume", "--dir", dir, "--decision", "later"}, {"compare", "--sizes", "x"},
		{"compare", "--repeats", "0"},
		{"compare", "--image", "x"}, {"start", "--sizes", "3"}, {"all", "--sizes", "3"}, {"all", "--checked"},
		{"memory", "3"}, {"watch"}, {"hold"},
	} {
		var out, trouble bytes.Buffer
		require.Equal(t, 2, run(t.Context(), args, &out, &trouble), args)
		require.Empty(t, out.String())
		require.Contains(t, trouble.String(), "usage: bench")
	}
	var out, trouble bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"resume", "--dir", dir, "--decision", "approve"}, &out, &trouble),
		"nothing is parked there")
}
