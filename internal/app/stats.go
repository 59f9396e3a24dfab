package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/stats"
)

// stats sums what approvers did with the drafts of the store: all of them, or
// those whose thread begins with the argument, such as owner/repo#.
func (a *app) stats(ctx context.Context, args []string, o *options) error {
	if len(args) > 1 {
		return problem.Usage("show --stats takes at most one beginning of thread ids",
			a.name+" show --stats owner/repo")
	}
	store, err := a.OpenStore(ctx, o.store)
	if err != nil {
		return err
	}
	ids, err := drafts(ctx, store)
	if err != nil {
		return err
	}
	sum := stats.Sum(func(yield func(stats.Decided) bool) {
		for _, id := range ids {
			if !strings.HasPrefix(id, strings.Join(args, "")) {
				continue
			}
			r, err := a.report(ctx, session{store: store, thread: id})
			if err != nil {
				a.warn(guard.Line(id, driver.MaxLine) + ": " + driver.Explain(err))
				continue
			}
			if d := r.State.Decision; d != nil && !yield(stats.Decided{Findings: r.State.Comments, Record: *d}) {
				return
			}
		}
	})
	if o.json {
		return driver.PrintJSON(a.Stdout, sum)
	}
	fmt.Fprint(a.Stdout, sum.Text())
	return nil
}
