//go:build unix

package ingest_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/ingest"
)

// TestACheckEndsWithAllThatItStarted has a pipe that a command's child alone can write to: it ends with the child.
func TestACheckEndsWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"passed":    "sleep 60 >pipe 2>&1 &",
		"cancelled": "sleep 60 >pipe 2>&1 & wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "pipe")
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, _, err := ingest.Shell(ctx, dir, command, os.Environ())
				ended <- err
			}()
			child, err := os.Open(pipe)
			require.NoError(t, err)
			defer child.Close()
			if name == "cancelled" {
				cancel()
				require.ErrorIs(t, <-ended, context.Canceled)
			} else {
				require.NoError(t, <-ended)
			}
			require.NoError(t, child.SetReadDeadline(time.Now().Add(20*time.Second)))
			_, err = child.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestT9_TheEndOfAChecksOutputBeginsWithALine(t *testing.T) {
	t.Parallel()
	passed, output, err := ingest.Shell(t.Context(), t.TempDir(),
		"sleep 60 & printf 'first '; seq 9999999 | head -c 16380; echo last", os.Environ())
	require.NoError(t, err)
	require.True(t, passed, "what it left running may still hold its output")
	require.Regexp(t, `(?s)^2\n3\n.*last\n$`, output)
}

func TestTheEndOfALongLastLineOfAChecksOutputIsKept(t *testing.T) {
	t.Parallel()
	passed, output, err := ingest.Shell(t.Context(), t.TempDir(), "echo first; seq -s ' ' 9999 | tr -d '\\n'; "+
		"echo ' last'; exit 3", os.Environ())
	require.NoError(t, err)
	require.False(t, passed, "its code says so")
	require.Regexp(t, `^ [0-9]+ .* 9999 last\n$`, output)
	require.Greater(t, len(output), 16000)
}
