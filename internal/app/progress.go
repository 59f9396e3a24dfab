package app

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/render/terminal"
)

// progress is one line on the terminal that says how far the reviews are. On
// anything but a terminal it is silent, but for the lines of evals, one each half minute.
type progress struct {
	out     io.Writer
	columns int
	now     func() time.Time
	soFar   func() (findings int, used cost.Usage, limit cost.MicroUSD)

	mu      sync.Mutex
	since   time.Time
	last    graph.Event
	waiting string
	shown   bool
	silent  bool
	said    time.Time // when a log was last told something
}

func (a *app) newProgress(silent bool) *progress {
	p := &progress{out: a.Stderr, now: a.Now, since: a.Now(), silent: silent, said: a.Now()}
	if columns, ok := columnsOf(a.Stderr); ok && !silent {
		p.columns = columns
	}
	return p
}

func (p *progress) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = p.now()
}

// observe draws the line anew for each review that ends, and names the status of a run
// that does something else.
func (p *progress) observe(e graph.Event) {
	if e.Kind == graph.StepStarted && p.soFar != nil {
		p.stage([]reviewpr.Status{reviewpr.StatusOf(e.Node)})
	}
	if e.Node != "review" && e.Node != "redraft" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = e
	if e.Kind == graph.TaskDone {
		p.waiting = ""
	}
	p.draw()
}

// stage names the statuses of a run that has no files under review.
func (p *progress) stage(under []reviewpr.Status) {
	if s := under[0]; p.columns > 0 && s != reviewpr.AnalyzeCode && s != reviewpr.AtGate && s != reviewpr.PostReview {
		p.Line("%s", driver.Statuses(under))
	}
}

// wait shows what a request waits for.
func (p *progress) wait(d time.Duration, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = fmt.Sprintf("%s, %d s", why, int(d.Seconds()+0.5))
	p.draw()
}

func (p *progress) draw() {
	if p.columns == 0 || p.last.Total == 0 || p.soFar == nil {
		return
	}
	r := terminal.Running{Done: p.last.Done, Total: p.last.Total, Waiting: p.waiting, Elapsed: p.now().Sub(p.since)}
	r.Findings, r.Used, r.Limit = p.soFar()
	line := terminal.Progress(r, p.columns-1)
	fmt.Fprint(p.out, "\r\x1b[2K"+line)
	p.shown = true
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
