package mcpclient_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/mcpclient"
)

func TestAProgramGetsItsOwnVariablesAlone(t *testing.T) {
	t.Setenv("JIRA_TOKEN", "secret-token")
	t.Setenv("GITHUB_TOKEN", "secret-token")
	o := ofReference()
	o.Command = ownBinary()
	o.Environ = []string{beServer + "=answer", "OWN=mine"}
	s := open(t, o)
	page, err := s.Page(t.Context(), "65601")
	require.NoError(t, err)
	require.Contains(t, page.Description, "OWN=mine")
	require.NotContains(t, page.Description, "secret-token")
	require.NotContains(t, page.Description, "GITHUB")
}

func TestAProgramThatDoesNotWorkIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		command    []string
		mode       string
	}{
		{"absent", "could not be started", []string{"/nonexistent/server"}, ""},
		{"dies", "ended, or did not speak the protocol", ownBinary(), "die"},
		{"never answers", "did not answer in time", ownBinary(), "hang"},
		{"speaks something else", "ended, or did not speak the protocol", []string{"/bin/echo", "hello"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := ofReference()
			o.Command, o.Environ = c.command, []string{beServer + "=" + c.mode}
			limit := time.Minute // a process may take its time to start
			if c.mode == "hang" {
				limit = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			_, err := open(t, o).Ticket(ctx, "PAY-1")
			require.EqualError(t, err, c.want)
			require.Less(t, time.Since(began), 30*time.Second)
		})
	}
}

// TestAProgramEndsWithAllThatItStarted has a pipe that a server's child alone can write to: it ends with the child.
func TestAProgramEndsWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	o := ofReference()
	o.Command = []string{"/bin/sh", "-c", `/bin/sleep 60 >"$0" & wait`, pipe}
	ctx, cancel := context.WithCancel(t.Context())
	s := mcpclient.New(o)
	asked := make(chan error, 1)
	go func() {
		_, err := s.Ticket(ctx, "PAY-1")
		asked <- err
	}()
	child, err := os.Open(pipe)
	require.NoError(t, err)
	defer child.Close()
	cancel()
	require.Error(t, <-asked)
	s.Close()
	require.NoError(t, child.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, err = child.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}
