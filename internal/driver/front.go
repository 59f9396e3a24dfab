package driver

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// Process is what the program is started with.
type Process struct {
	Args           []string // the program's name first
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time  // time.Now where nil
	Workflows      map[string]string // the product's own workflow files, by their paths in its repository
}

// Front is the process, and what it talks to the world with.
type Front struct {
	Process
	wire.Wire
	Spent cost.Usage // by this process, of which cost and calls without a price are told
}

// NewFront wires a process.
func NewFront(p Process) *Front {
	if p.Now == nil {
		p.Now = time.Now
	}
	p.Stdout, p.Stderr = oneByOne(p.Stdout), oneByOne(p.Stderr)
	f := &Front{Process: p}
	f.Wire = wire.New(f.Getenv, p.Now, f.Debug())
	return f
}

// turns is a writer of one write after the other: warnings, what is under way and tries
// come from goroutines of their own.
type turns struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *turns) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(text)
}

// oneByOne leaves a file as it is: it takes its writes so, and may be a terminal.
func oneByOne(w io.Writer) io.Writer {
	if _, file := w.(*os.File); file || w == nil {
		return w
	}
	return &turns{out: w}
}

// Getenv returns a variable of the process, or "".
func (f *Front) Getenv(name string) string {
	for i := len(f.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(f.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// Debug returns what takes a line about each try and the stack of a panic, where a
// re-run of the job asks for debug logging or RUNNER_DEBUG is 1; nil otherwise.
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

// MaxLine bounds a line of what is printed, in characters.
const MaxLine = 1000

// Clock gives the time that a thread is said to be made at, in UTC and whole seconds.
func (f *Front) Clock() time.Time { return f.Now().UTC().Truncate(time.Second) }

// Deadline is when no further file is begun; zero without a limit.
func (f *Front) Deadline(s settings.Settings) time.Time {
	if s.MaxTime == 0 {
		return time.Time{}
	}
	return f.Now().Add(s.MaxTime)
}
