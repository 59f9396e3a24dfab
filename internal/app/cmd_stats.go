package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"

	"github.com/org/pr-review-action/internal/local"
)

// statsOptions holds the flags of stats, which show has too.
type statsOptions struct {
	local.Options
	since   string
	after   time.Time // parsed from since; zero for no limit
	propose bool      // print the settings that approvers' habits suggest
}

func (a *app) statsCommand() command {
	o := &statsOptions{Options: local.NewOptions()}
	return command{
		"stats", "[owner/repo | 'owner/*' | FOLDER]…",
		"sum what drafts cost and took, and what approvers made of them",
		func(f *pflag.FlagSet) { o.flags(f); o.ListFlags(f, "stats") },
		func(ctx context.Context, args []string) error {
			a.Options = &o.Options
			return a.stats(ctx, args, o, false)
		}, &o.JSON,
	}
}

func (o *statsOptions) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.propose, "propose", false, "print the guidelines, ignored files and rules that approvers' habits ask "+
		"for, as a diff of the settings file")
	f.StringVar(&o.since, "since", "", "count drafts of that `day` and later: 2026-11-01, or 30d")
}

// stats sums up what drafts cost, how long they took and what approvers did with them, or
// proposes settings from that. It reads the store or the named folders: all drafts, or those
// of one repository or whose thread begins with an argument, such as owner/repo#. Without
// --store it reads GitHub for owner/*, and for owner/repo too unless store is set.
func (a *app) stats(ctx context.Context, args []string, o *statsOptions, store bool) (err error) {
	if o.after, err = parseSince(o.since, a.Now()); err != nil {
		return err
	}
	from, of := o.sources(args)
	if store && len(of) == 1 && hash().MatchString(of[0]) {
		named, err := a.NamedThread(ctx, of, "show")
		if err != nil {
			return err
		}
		of[0] = named.Thread
	}
	remote := func(name string) bool {
		_, _, notARepository := pull.ParseRepository(name)
		return strings.HasSuffix(name, "/*") || !store && notARepository == nil && !strings.HasPrefix(name, "local/")
	}
	if len(of) > 0 && o.Store == "" && !slices.ContainsFunc(of, func(name string) bool { return !remote(name) }) {
		return a.remoteStats(ctx, of, o)
	}
	for _, name := range of {
		_, _, notARepository := pull.ParseRepository(name)
		if notARepository != nil && !strings.ContainsAny(name, "#*~") && !strings.HasPrefix(name, "local/") {
			return problem.Usage(fmt.Sprintf("there is no folder %.200q", name),
				"name a folder of drafts, owner/repo, or how a thread begins: owner/repo#")
		}
	}
	if len(of) > 1 {
		return problem.Usage("show --stats takes one repository or beginning of thread ids, and folders",
			a.Name+" show --stats owner/repo ./drafts-a ./drafts-b")
	}
	var all []driver.Report
	for _, folder := range from {
		store, err := a.OpenStore(ctx, folder)
		if err != nil {
			return err
		}
		reports, err := a.reports(ctx, store, reviewed(strings.Join(of, "")))
		if err != nil {
			return err
		}
		all = append(all, reports...)
	}
	all = slices.DeleteFunc(all, func(r driver.Report) bool { return r.State.Draft.CreatedAt.Before(o.after) })
	return a.printSums(statsRuns(all), nil, o)
}

// hash matches the beginning of a thread id's last part.
var hash = pattern.Lazy(fmt.Sprintf(`^[0-9a-f]{%d,64}$`, pull.MinPrefix))

// sources separates the arguments into folders and prefixes of thread ids. A folder with the
// name of a repository needs a ./ in front.
func (o *statsOptions) sources(args []string) (from, of []string) {
	for _, arg := range args {
		_, _, notARepository := pull.ParseRepository(arg)
		info, err := os.Stat(arg)
		if err == nil && info.IsDir() && (notARepository != nil || strings.HasPrefix(arg, ".")) {
			from = append(from, arg)
		} else {
			of = append(of, arg)
		}
	}
	if o.Store != "" || len(from) == 0 {
		from = append(from, o.Store)
	}
	return from, of
}
