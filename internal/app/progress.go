package app

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/driver"
)

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
