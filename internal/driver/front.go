package driver

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// Process holds what the program is started with.
type Process struct {
	Args           []string // the program's name first
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time  // time.Now if nil
	Workflows      map[string]string // the product's own workflow files, by path in its repository
}

// Front is the process with its connections to the outside world.
type Front struct {
	Process
	wire.Wire
	Spent cost.Usage // by this process; cost and unpriced calls are reported
}

// NewFront returns the front of a process.
func NewFront(p Process) *Front {
	if p.Now == nil {
		p.Now = time.Now
	}
	p.Stdout, p.Stderr = serialized(p.Stdout), serialized(p.Stderr)
	f := &Front{Process: p}
	f.Wire = wire.New(f.Getenv, p.Now, f.Debug())
	return f
}

// serialWriter serializes writes, since warnings, progress and retries are written from
// separate goroutines.
type serialWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *serialWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(text)
}

// serialized makes writes to w sequential. A file is returned as is: it serializes writes, and may be a terminal.
func serialized(w io.Writer) io.Writer {
	if _, file := w.(*os.File); file || w == nil {
		return w
	}
	return &serialWriter{out: w}
}

// Getenv returns a variable of the process, or "". On Windows the case of its name does not matter.
func (f *Front) Getenv(name string) string {
	return variable(f.Environ, name, runtime.GOOS == "windows")
}

func variable(environ []string, name string, anyCase bool) string {
	for _, v := range slices.Backward(environ) {
		if given, value, _ := strings.Cut(v, "="); given == name || anyCase && strings.EqualFold(given, name) {
			return value
		}
	}
	return ""
}

// Repository parses the name of a repository on the server that the environment names.
func (f *Front) Repository(name string) (pull.Ref, error) {
	owner, repo, err := pull.ParseRepository(name)
	return pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: repo}.On(f.Getenv("GITHUB_SERVER_URL")), err
}

// Debug returns a function that writes a line about each attempt and the stack of a
// panic, if RUNNER_DEBUG is 1, as in a job re-run with debug logging; nil otherwise.
func (f *Front) Debug() func(string) {
	out, prefix := f.Stderr, ""
	if f.Getenv("GITHUB_ACTIONS") == "true" {
		out, prefix = f.Stdout, "::debug::"
	}
	if f.Getenv("RUNNER_DEBUG") != "1" {
		return nil
	}
	return func(line string) { fmt.Fprintln(out, prefix+guard.Line(line, MaxLine)) }
}

// MaxLine bounds a printed line, in characters.
const MaxLine = 1000

// Clock returns the creation time of a thread, in UTC and whole seconds.
func (f *Front) Clock() time.Time { return f.Now().UTC().Truncate(time.Second) }

// Deadline returns the time after which no file is started; zero if there is no limit.
func (f *Front) Deadline(s settings.Settings) time.Time {
	if s.MaxTime == 0 {
		return time.Time{}
	}
	return f.Now().Add(s.MaxTime)
}
