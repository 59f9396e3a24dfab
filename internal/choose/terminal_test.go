//go:build linux || darwin

package choose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// program names the variable that makes the test's binary the program under test.
const program = "CHOOSE_PROGRAM"

func TestMain(m *testing.M) {
	if kind := os.Getenv(program); kind != "" {
		os.Exit(choosing(kind))
	}
	os.Exit(m.Run())
}

// choosing runs the list on standard input and output and prints the choice.
func choosing(kind string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	signal.Ignore(syscall.SIGHUP) // or it would end the program before the list could
	o := options(twelve())
	o.In, o.Out, o.Color = os.Stdin, os.Stdout, os.Getenv("NO_COLOR") == ""
	if kind == "panic" {
		o.Preview = func(string) (string, error) { panic("a mistake of ours") }
	}
	choice, err := Run(ctx, o)
	fmt.Printf("verdict=%q text=%q failed=%t ci=%q\n", choice.Verdict, choice.Text, err != nil, os.Getenv("CI"))
	return 0
}

// screenOf is a program on a terminal of 80×24.
type screenOf struct {
	t       *testing.T
	command *exec.Cmd
	user    *os.File // what a person types and sees
	tty     *os.File
	before  *term.State

	mu   sync.Mutex
	seen bytes.Buffer
	more chan struct{}
}

func start(t *testing.T, kind string) *screenOf {
	t.Helper()
	master, tty, err := pty.Open()
	require.NoError(t, err)
	user := pollable(t, master)
	t.Cleanup(func() { user.Close(); tty.Close() })
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}))
	s := &screenOf{t: t, user: user, tty: tty, more: make(chan struct{}, 1), command: exec.Command(os.Args[0])}
	s.before, err = term.GetState(int(tty.Fd()))
	require.NoError(t, err)
	s.command.Env = []string{program + "=" + kind, "TERM=xterm-256color", "NO_COLOR=1"}
	s.command.Stdin, s.command.Stdout, s.command.Stderr = tty, tty, tty
	s.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, s.command.Start())
	t.Cleanup(func() { _ = s.command.Process.Kill() }) // it may have ended
	go s.read()
	return s
}

// pollable is the same file with reads that end when it is closed. No other
// program inherits it, or closing it here would hang up nothing.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	require.NoError(t, unix.SetNonblock(fd, true))
	require.NoError(t, f.Close())
	return os.NewFile(uintptr(fd), f.Name())
}

func (s *screenOf) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := s.user.Read(buffer)
		s.mu.Lock()
		s.seen.Write(buffer[:n])
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *screenOf) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// shows waits until something was drawn after what was seen before it.
func (s *screenOf) shows(what string) {
	s.t.Helper()
	over := time.After(2 * time.Minute)
	for !strings.Contains(s.text(), what) {
		select {
		case <-s.more:
		case <-over:
			require.FailNow(s.t, "not shown: "+what, "%q", s.text())
		}
	}
}

func (s *screenOf) press(keys string) {
	s.t.Helper()
	_, err := s.user.WriteString(keys)
	require.NoError(s.t, err)
}

// ends waits for the program and checks that the terminal is as it was.
func (s *screenOf) ends(last string) {
	s.t.Helper()
	s.shows(last)
	require.NoError(s.t, s.command.Wait())
	after, err := term.GetState(int(s.tty.Fd()))
	require.NoError(s.t, err)
	require.Equal(s.t, s.before, after, "the terminal's modes")
	all := s.text()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h",
		"\x1b[?2004h": "\x1b[?2004l"} {
		require.Contains(s.t, all, on)
		require.Greater(s.t, strings.LastIndex(all, off), strings.LastIndex(all, on), "%q", off)
	}
	for _, never := range []string{"\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1006h", "\x1b]11;?", "\x1b[6n"} {
		require.NotContains(s.t, all, never, "no mouse, and nothing is asked of the terminal")
	}
}

func TestTheListOnATerminal(t *testing.T) {
	t.Parallel()
	s := start(t, "list")
	s.shows("> F1  blocker")
	s.press("\x1b[B\x1b[Bd")
	s.shows("Why drop F3?")
	s.press("known\rm")
	s.shows("F3 is dropped")
	require.NoError(t, pty.Setsize(s.tty, &pty.Winsize{Rows: 12, Cols: 100}))
	s.shows("[u]ndo")
	s.press("\x1b[F" + "s")
	s.shows("[was nit]")
	s.press("a")
	s.shows("Post this review?")
	s.press("y")
	s.ends(`verdict="approve" text="/drop F3: known\n/severity F12 blocker\n/approve" failed=false ci=""`)
}

func TestTheTerminalIsRestoredOnEveryExit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, last string
		exit       func(s *screenOf)
	}{
		"ctrl-c":  {"list", `verdict="" text="/drop F1" failed=false`, func(s *screenOf) { s.press("\x03") }},
		"ctrl-d":  {"list", `verdict="" text="/drop F1" failed=false`, func(s *screenOf) { s.press("\x04") }},
		"later":   {"list", `verdict="" text="/drop F1" failed=false`, func(s *screenOf) { s.press("qy") }},
		"a panic": {"panic", `verdict="" text="" failed=true`, func(s *screenOf) { s.press("p") }},
		"a signal": {"list", `verdict="" text="/drop F1" failed=false`, func(s *screenOf) {
			require.NoError(s.t, s.command.Process.Signal(syscall.SIGTERM))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, c.kind)
			s.shows("> F1  blocker")
			s.press("d\r")
			s.shows("[dropped]")
			c.exit(s)
			s.ends(c.last)
		})
	}
}

func TestAHangUpEndsTheProgram(t *testing.T) {
	t.Parallel()
	s := start(t, "list")
	s.shows("> F1  blocker")
	s.tty.Close()
	s.user.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.command.Wait() }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(2 * time.Minute):
		require.FailNow(t, "still running")
	}
}

func TestTheEndOfTheInputMeansLater(t *testing.T) {
	t.Parallel()
	o := options(twelve())
	o.Out = io.Discard
	for _, end := range []error{io.EOF, errors.New("gone")} {
		o.In = io.MultiReader(strings.NewReader("d\r"), failing{end})
		choice, err := Run(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, Choice{Text: "/drop F1"}, choice)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.In = strings.NewReader("")
	choice, err := Run(ctx, o)
	require.NoError(t, err)
	require.Empty(t, choice)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
