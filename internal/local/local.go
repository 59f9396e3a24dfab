// Package local makes drafts at a terminal and decides them: reviews of a change, and changes
// for a ticket. It keeps them in the local store.
//
// It neither parses the command line nor reads drafts stored on GitHub; package app does both.
// Start reading at Terminal, then Review and Implement. Every decision goes through decide.go.
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
	"github.com/org/pr-review-action/internal/render/terminal"
)

// Terminal is one invocation of a command, at a terminal or without one.
type Terminal struct {
	*driver.Front
	*Options        // the command's; nil if it has none of these
	Name     string // the program's name as it was called

	came     driver.Report // the result that was printed
	Ticketed bool          // the run is about a ticket
	About    string        // thread of the store that is decided or shown; empty until it is known
}

// Output is standard output. Err is the error of the first write that failed.
type Output struct {
	io.Writer
	Err  error
	Used bool // something was written to it
}

// Write writes to the underlying writer, even after an error.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.Err, o.Used = cmp.Or(o.Err, err), true
	return n, err
}

// columnsOf reports whether a stream is a terminal, and how many columns it has.
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

// Warn prints a warning about something that does not end the command.
func (a *Terminal) Warn(text string) { fmt.Fprintln(a.Stderr, "warning: "+guard.Text(text)) }

// Say prints a notice, unless --quiet is set.
func (a *Terminal) Say(text string) {
	if !a.Quiet {
		fmt.Fprintln(a.Stderr, guard.Text(text))
	}
}

// isDumb reports whether the terminal takes no escape sequences.
func (a *Terminal) isDumb() bool { return a.Getenv("TERM") == "dumb" }

// Look returns the width and colour for standard output.
func (a *Terminal) Look() terminal.Options {
	columns, _ := columnsOf(a.Stdout)
	return terminal.Options{Width: columns, Color: columns > 0 && !a.isDumb() && a.Getenv("NO_COLOR") == ""}
}

// Interactive reports whether a person can be asked, and sees the draft, which is on standard
// output.
func (a *Terminal) Interactive(o *Options) bool {
	_, in := columnsOf(a.Stdin)
	_, draft := columnsOf(a.Stdout)
	_, question := columnsOf(a.Stderr)
	return in && draft && question && !o.NoInput && !o.JSON
}

// Progress is one line on the terminal that shows how far the reviews are. If the output is
// not a terminal, it prints only the lines of evals, one every half minute.
type Progress struct {
	out     io.Writer
	columns int
	now     func() time.Time

	mu      sync.Mutex
	line    driver.Line // nil before there is one
	waiting string
	shown   bool
	silent  bool
	said    time.Time // when the last line was logged
}

// NewProgress returns the line of a run, which prints nothing if silent is true.
func (a *Terminal) NewProgress(silent bool) *Progress {
	p := &Progress{out: a.Stderr, now: a.Now, silent: silent, said: a.Now()}
	if columns, ok := columnsOf(a.Stderr); ok && !silent && !a.isDumb() {
		p.columns = columns
	}
	return p
}

// live redraws the line of a run.
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

// Stop removes the line, which is not drawn again.
func (p *Progress) Stop() {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.columns = 0
}

// clear removes the line, so that other text can be written.
func (p *Progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[2K")
	}
	p.shown = false
}

// Line draws a line in place of the current one. In a log it prints one every half minute.
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

// logged is the interval at which the progress of evals is logged.
const logged = 30 * time.Second
