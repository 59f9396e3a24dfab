// Package local makes drafts at a terminal and decides them: reviews of a change, and changes
// for a ticket, in the store of this machine.
//
// It parses no command line and reads no draft that lies on GitHub: both are room app's. Start
// reading at Terminal, then Review and Implement; decide.go is the road of every decision.
package local

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/trace"
)

// Terminal is one invocation of a command, at a terminal or without one.
type Terminal struct {
	*driver.Front
	*Options        // the command's; nil where it has none of these
	Name     string // the program's, as it was called

	came     driver.Report // what a run came to that was printed
	Ticketed bool          // the run is a ticket's
	About    string        // thread of the store that is decided or shown; empty until it is known
}

// EndRun ends the span of a command that reviews or decides.
func (a *Terminal) EndRun(span *trace.Span, began time.Time, err error) {
	var ref pull.Ref
	if p := a.came.State.Pull; p != nil {
		ref = p.Ref
	}
	a.Front.EndRun(span, ref, a.came, began, err)
}

// Output is standard output, which remembers the first write that failed.
type Output struct {
	io.Writer
	Err error
}

// Write writes on, also after an error.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.Err = cmp.Or(o.Err, err)
	return n, err
}

// columnsOf reports whether a stream is one, and how many columns it has.
func columnsOf(stream any) (columns int, ok bool) {
	if o, is := stream.(*Output); is {
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

// Warn tells of what does not end the command.
func (a *Terminal) Warn(text string) { fmt.Fprintln(a.Stderr, "warning: "+guard.Text(text)) }

// Say tells of what goes on, unless it was to be quiet.
func (a *Terminal) Say(text string) {
	if !a.Quiet {
		fmt.Fprintln(a.Stderr, guard.Text(text))
	}
}

// Look is how standard output is written on.
func (a *Terminal) Look() terminal.Options {
	columns, _ := columnsOf(a.Stdout)
	return terminal.Options{Width: columns, Color: columns > 0 && a.Getenv("NO_COLOR") == ""}
}

// Interactive reports whether a person can be asked: with the draft in sight,
// which is on standard output.
func (a *Terminal) Interactive(o *Options) bool {
	_, in := columnsOf(a.Stdin)
	_, draft := columnsOf(a.Stdout)
	_, question := columnsOf(a.Stderr)
	return in && draft && question && !o.NoInput && !o.JSON
}

// Progress is one line on the terminal that says how far the reviews are. On
// anything but a terminal it is silent, but for the lines of evals, one each half minute.
type Progress struct {
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

// NewProgress returns the line of a run, which is silent where it is to be.
func (a *Terminal) NewProgress(silent bool) *Progress {
	p := &Progress{out: a.Stderr, now: a.Now, silent: silent, said: a.Now()}
	if columns, ok := columnsOf(a.Stderr); ok && !silent {
		p.columns = columns
	}
	return p
}

// live draws the line of a run anew.
func (p *Progress) live(line driver.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line, p.waiting = line, ""
	p.draw()
}

// wait shows what a request waits for.
func (p *Progress) wait(d time.Duration, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = fmt.Sprintf("%s, %d s", why, int(d.Seconds()+0.5))
	p.draw()
}

func (p *Progress) draw() {
	if p.columns > 0 && p.line != nil {
		fmt.Fprint(p.out, "\r\x1b[2K"+p.line(p.waiting, p.columns-1))
		p.shown = true
	}
}

// Stop takes the line away for good.
func (p *Progress) Stop() {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.columns = 0
}

// clear takes the line away, so that another can be written.
func (p *Progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[2K")
	}
	p.shown = false
}

// Line draws any other line.
func (p *Progress) Line(format string, args ...any) {
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
