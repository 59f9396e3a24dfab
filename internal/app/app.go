package app

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// Process is what the program is started with.
type Process struct {
	Args           []string // the program's name first
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time // time.Now where nil
}

// app is one invocation.
type app struct {
	Process
	wire.Wire
	name string // the program's, as it was called
}

func (a *app) getenv(name string) string {
	for i := len(a.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// output is standard output, which remembers the first write that failed.
type output struct {
	io.Writer
	err error
}

// Write writes on, also after an error.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// called is the program's name for messages. What go run builds is gone when it
// has ended, so it is called as it was.
func called(path string) string {
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "go run ."
	}
	return filepath.Base(path)
}

// debug takes a line about each try and the stack of a panic, where a re-run of
// the job asks for debug logging or RUNNER_DEBUG is 1; nil otherwise.
func (a *app) debug() func(string) {
	out, prefix := a.Stderr, ""
	if a.getenv("GITHUB_ACTIONS") == "true" {
		out, prefix = a.Stdout, "::debug::"
	}
	if a.getenv("RUNNER_DEBUG") != "1" {
		return nil
	}
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, prefix+guard.Line(line, maxLine))
	}
}

// streamOf is what an output writes to.
func streamOf(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.Writer
	}
	return w
}

// terminal reports whether a stream is one, and how many columns it has.
func terminal(stream any) (columns int, ok bool) {
	if w, ok := stream.(io.Writer); ok {
		stream = streamOf(w)
	}
	f, isFile := stream.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 80, true
	}
	return columns, true
}

const maxLine = 1000 // characters of the log's last line

// warn tells of what does not end the command.
func (a *app) warn(text string) { fmt.Fprintln(a.Stderr, "warning: "+guard.Text(text)) }

// clock gives the time that a thread is said to be made at.
func (a *app) clock() time.Time { return a.Now().UTC().Truncate(time.Second) }

// deadline is when no further file is begun; zero without a limit.
func (a *app) deadline(s settings.Settings) time.Time {
	if s.MaxTime == 0 {
		return time.Time{}
	}
	return a.Now().Add(s.MaxTime)
}

func (a *app) look(columns int) render.TerminalOptions {
	return render.TerminalOptions{Width: columns, Color: columns > 0 && a.getenv("NO_COLOR") == ""}
}
