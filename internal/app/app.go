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

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/trace"
)

// Process is what the program is started with.
type Process = driver.Process

// app is one invocation.
type app struct {
	*driver.Front
	*options        // the command's; nil where it has none of these
	name     string // the program's, as it was called

	came     driver.Report // what a run came to that was printed
	ticketed bool          // the run is a ticket's
	about    string        // thread of the store that is decided or shown; empty until it is known
}

// endRun ends the span of a command that reviews or decides.
func (a *app) endRun(span *trace.Span, began time.Time, err error) {
	var ref pull.Ref
	if p := a.came.State.Pull; p != nil {
		ref = p.Ref
	}
	a.EndRun(span, ref, a.came, began, err)
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

// columnsOf reports whether a stream is one, and how many columns it has.
func columnsOf(stream any) (columns int, ok bool) {
	if o, is := stream.(*output); is {
		stream = o.Writer
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

// warn tells of what does not end the command.
func (a *app) warn(text string) { fmt.Fprintln(a.Stderr, "warning: "+guard.Text(text)) }

// say tells of what goes on, unless it was to be quiet.
func (a *app) say(text string) {
	if !a.quiet {
		fmt.Fprintln(a.Stderr, guard.Text(text))
	}
}

// look is how standard output is written on.
func (a *app) look() terminal.Options {
	columns, _ := columnsOf(a.Stdout)
	return terminal.Options{Width: columns, Color: columns > 0 && a.Getenv("NO_COLOR") == ""}
}

// interactive reports whether a person can be asked: with the draft in sight,
// which is on standard output.
func (a *app) interactive(o *options) bool {
	_, in := columnsOf(a.Stdin)
	_, draft := columnsOf(a.Stdout)
	_, question := columnsOf(a.Stderr)
	return in && draft && question && !o.noInput && !o.json
}

// progress is one line on the terminal that says how far the reviews are. On
// anything but a terminal it is silent, but for the lines of evals, one each half minute.
type progress struct {
	out     io.Writer
	columns int
	now     func() time.Time

	mu      sync.Mutex
	line    driver.Line // nil before there is one
	waiting string
	shown   bool
	silent  bool
	said    time.Time // when a log was last told something
}

func (a *app) newProgress(silent bool) *progress {
	p := &progress{out: a.Stderr, now: a.Now, silent: silent, said: a.Now()}
	if columns, ok := columnsOf(a.Stderr); ok && !silent {
		p.columns = columns
	}
	return p
}

// live draws the line of a run anew.
func (p *progress) live(line driver.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line, p.waiting = line, ""
	p.draw()
}

// wait shows what a request waits for.
func (p *progress) wait(d time.Duration, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = fmt.Sprintf("%s, %d s", why, int(d.Seconds()+0.5))
	p.draw()
}

func (p *progress) draw() {
	if p.columns > 0 && p.line != nil {
		fmt.Fprint(p.out, "\r\x1b[2K"+p.line(p.waiting, p.columns-1))
		p.shown = true
	}
}

// Stop takes the line away for good.
func (p *progress) Stop() {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.columns = 0
}

// clear takes the line away, so that another can be written.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[2K")
	}
	p.shown = false
}

// Line draws any other line.
func (p *progress) Line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.columns > 0 {
		fmt.Fprintf(p.out, "\r\x1b[2K"+format, args...)
		p.shown = true
	} else if now := p.now(); !p.silent && now.Sub(p.said) >= logged {
		fmt.Fprintf(p.out, format+"\n", args...)
		p.said = now
	}
}

// logged is how often a log is told of evals.
const logged = 30 * time.Second
