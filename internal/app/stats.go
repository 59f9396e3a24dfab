package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/stats"
	"github.com/org/pr-review-action/internal/wire"
)

// summed prints what runs came to.
func (a *app) summed(all []stats.Run, unread []stats.Unread, o *statsOptions) error {
	if o.propose {
		return a.propose(all, o)
	}
	sum := stats.Sum(all, unread)
	if o.json {
		return driver.PrintJSON(a.Stdout, sum)
	}
	fmt.Fprint(a.Stdout, sum.Text())
	return nil
}

// reports are the drafts of a store whose threads begin so. One that cannot be read is a
// warning.
func (a *app) reports(ctx context.Context, store wire.Store, begin string) (all []driver.Report, err error) {
	_, _, notARepository := pull.ParseRepository(begin)
	ids, err := drafts(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		rest, ok := strings.CutPrefix(id, begin)
		if !ok || notARepository == nil && !strings.ContainsAny(rest[:min(len(rest), 1)], "#:") {
			continue // owner/repo2 is another repository
		}
		r, err := a.report(ctx, session{store: store, thread: id})
		if err != nil {
			a.warn(guard.Line(id, driver.MaxLine) + ": " + driver.Explain(err))
			continue
		}
		all = append(all, r)
	}
	return all, nil
}

// runs are the drafts of a store, each once: two folders may hold the same. Decisions of
// earlier versions kept nothing of their drafts.
func runs(all []driver.Report) (runs []stats.Run) {
	seen := map[string]bool{}
	for _, r := range all {
		of := r.Thread[:max(0, strings.LastIndexByte(r.Thread, ':'))]
		if r.State.Pull != nil {
			of = fmt.Sprintf("%s#%d", r.State.Pull.FullName(), r.State.Pull.Number) // whichever instance
		}
		if of == "" || seen[r.Digest] {
			continue
		}
		seen[r.Digest] = r.Digest != ""
		runs = append(runs, run(r, of))
	}
	return runs
}

func run(r driver.Report, of string) stats.Run {
	one := stats.Run{Repository: repositoryOf(r.Thread), Pull: of, Outcome: r.Outcome, Usage: r.Usage,
		Seconds: r.State.Draft.Seconds, Record: r.State.Decision}
	if d := one.Record; d != nil && d.Drafting == nil {
		with := r.State.OnRecord(*d)
		one.Record = &with
	}
	return one
}
