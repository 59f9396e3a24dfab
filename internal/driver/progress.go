package driver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/transport"
)

// pulse is the interval at which a run that writes to a log or a pipe reports its progress.
const pulse = 30 * time.Second

// Beat reports every half minute what is under way, so that a run with a quiet log is
// not mistaken for a hanging one; line receives the elapsed time. stop ends the
// reports, and returns after the last one. If tell is nil, Beat does nothing.
func Beat(ctx context.Context, tell func(string), line func(time.Duration) string) (stop func()) {
	if tell == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := time.Duration(1); transport.Sleep(ctx, pulse) == nil; n++ {
			tell(line(n * pulse))
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// Deciding returns the progress line of a decision that waits for its turn, or for GitHub.
func Deciding(elapsed time.Duration) string {
	return fmt.Sprintf("deciding, and waiting where somebody else decides the same draft · %d s",
		int(elapsed.Seconds()))
}

// progress is the progress of a run; live is called at each change.
type progress struct {
	soFar func() (findings int, used cost.Usage, limit cost.MicroUSD)
	live  func(*progress)

	mu       sync.Mutex
	last     graph.Event // of the reviews
	statuses []reviewpr.Status
}

func (f *progress) observe(e graph.Event) {
	if e.Kind == graph.StepStarted {
		f.setStatuses([]reviewpr.Status{reviewpr.StatusOf(e.Node)})
	}
	if e.Node == "review" || e.Node == "redraft" {
		f.mu.Lock()
		f.last = e
		f.mu.Unlock()
		f.live(f)
	}
}

func (f *progress) setStatuses(under []reviewpr.Status) {
	f.mu.Lock()
	f.statuses = under
	f.mu.Unlock()
	f.live(f)
}

// line returns what is under way and waited for in one line; for reviews also how many have
// ended, and their cost.
func (f *progress) line(elapsed time.Duration, waiting string, columns int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := terminal.Running{Status: Statuses(f.statuses), Elapsed: elapsed, Waiting: waiting}
	if f.statuses[0] == reviewpr.AnalyzeCode {
		r.Done, r.Total = f.last.Done, f.last.Total
		r.Findings, r.Used, r.Limit = f.soFar()
	}
	return terminal.Progress(r, columns)
}
