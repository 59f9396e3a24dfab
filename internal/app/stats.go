package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/stats"
	"github.com/org/pr-review-action/internal/wire"
)

// stats sums what drafts cost and took, and what approvers did with them, or proposes
// settings by that: of the store or of the folders that are named, all or those of one
// repository or whose thread begins with an argument, such as owner/repo#.
// What lies on GitHub is summed for owner/*, and where the store is not meant for any
// repository.
func (a *app) stats(ctx context.Context, args []string, o *showOptions, store bool) (err error) {
	if o.after, err = parseSince(o.since, a.Now()); err != nil {
		return err
	}
	from, of := o.sources(args)
	remote := func(name string) bool {
		_, _, notARepository := pull.ParseRepository(name)
		return strings.HasSuffix(name, "/*") || !store && notARepository == nil && !strings.HasPrefix(name, "local/")
	}
	if len(of) > 0 && o.store == "" && !slices.ContainsFunc(of, func(name string) bool { return !remote(name) }) {
		return a.remoteStats(ctx, of, o)
	}
	if len(of) > 1 {
		return problem.Usage("show --stats takes one repository or beginning of thread ids, and folders",
			a.name+" show --stats owner/repo ./drafts-a ./drafts-b")
	}
	var all []driver.Report
	for _, folder := range from {
		store, err := a.OpenStore(ctx, folder)
		if err != nil {
			return err
		}
		reports, err := a.reports(ctx, store, strings.Join(of, ""))
		if err != nil {
			return err
		}
		all = append(all, reports...)
	}
	all = slices.DeleteFunc(all, func(r driver.Report) bool { return r.State.Draft.CreatedAt.Before(o.after) })
	return a.summed(stats.Whole{Runs: runs(all)}, o)
}

// summed prints what runs came to.
func (a *app) summed(whole stats.Whole, o *showOptions) error {
	if o.propose {
		return a.propose(whole.Runs, o)
	}
	sum := whole.Sum()
	if o.json {
		return driver.PrintJSON(a.Stdout, sum)
	}
	fmt.Fprint(a.Stdout, sum.Text())
	return nil
}

// sources tells the folders among the arguments from the beginning of thread ids. A folder
// that is named as a repository is has ./ before it.
func (o *options) sources(args []string) (from, of []string) {
	for _, arg := range args {
		_, _, notARepository := pull.ParseRepository(arg)
		info, err := os.Stat(arg)
		if err == nil && info.IsDir() && (notARepository != nil || strings.HasPrefix(arg, ".")) {
			from = append(from, arg)
		} else {
			of = append(of, arg)
		}
	}
	if o.store != "" || len(from) == 0 {
		from = append(from, o.store)
	}
	return from, of
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
