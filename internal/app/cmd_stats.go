package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/local"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

func statsFlags(o *local.Options, f *pflag.FlagSet) {
	f.BoolVar(&o.Propose, "propose", false, "print the guidelines, ignored files and rules that approvers' habits ask "+
		"for, as a diff of the settings file")
	f.StringVar(&o.Since, "since", "", "count drafts of that `day` and later: 2026-11-01, or 30d")
}

// stats sums up what drafts cost, how long they took and what approvers did with them, or
// proposes settings from that. It reads the store or the named folders: all drafts, or those
// of one repository or thread. Without --store it reads GitHub for owner/*, and for owner/repo
// too unless it is show --stats.
func (a *app) stats(ctx context.Context, args []string) error {
	after, err := parseSince(a.Since, a.Now())
	if err != nil {
		return err
	}
	wanted := reviewed("")
	switch {
	case !a.Stats || len(args) != 1 || !namesThread(args[0]):
	case pull.LooksLikeRef(args[0]): // all that the store has of a pull request
		ref, err := a.ParseRef(args[0])
		if err != nil {
			return err
		}
		wanted, args = func(id string) bool {
			of, _, _ := pull.OfThread(id)
			return strings.EqualFold(of, fmt.Sprintf("%s#%d", ref.FullName(), ref.Number))
		}, nil
	default:
		s, err := a.NamedThread(ctx, args, "show")
		if err != nil {
			return err
		}
		wanted, args = func(id string) bool { return id == s.Thread }, nil
	}
	folders, names, err := splitSources(args)
	if err != nil {
		return err
	}
	here := a.Stats || len(folders) > 0 || len(names) == 0 || strings.HasPrefix(names[0], "local/")
	if a.Store == "" && (!here || len(names) > 0 && strings.HasSuffix(names[0], "/*")) {
		return a.remoteStats(ctx, names, after)
	}
	if len(names) > 1 {
		return problem.Usage("show --stats takes one repository, and folders",
			a.Name+" show --stats owner/repo ./drafts-a ./drafts-b")
	}
	if len(names) == 1 {
		wanted = reviewed(names[0])
	}
	if a.Store != "" || len(folders) == 0 {
		folders = append(folders, a.Store)
	}
	var all []driver.Report
	for _, folder := range folders {
		store, err := a.OpenStore(ctx, folder)
		if err != nil {
			return err
		}
		reports, err := a.reports(ctx, store, wanted)
		if err != nil {
			return err
		}
		all = append(all, reports...)
	}
	all = slices.DeleteFunc(all, func(r driver.Report) bool { return r.State.Draft.CreatedAt.Before(after) })
	return a.printSums(statsRuns(all), nil)
}

// hash matches the beginning of a thread id's last part.
var hash = pattern.Lazy(fmt.Sprintf(`^[0-9a-f]{%d,64}$`, pull.MinPrefix))

// namesThread reports whether an argument names a thread and not a repository or a folder.
func namesThread(arg string) bool {
	_, absent := os.Stat(arg)
	return absent != nil && (strings.ContainsAny(arg, "#:~") || hash().MatchString(arg))
}

// splitSources separates the arguments into folders, and names of repositories or owners. A folder
// with the name of a repository needs a ./ in front.
func splitSources(args []string) (folders, names []string, err error) {
	for _, arg := range args {
		_, _, notARepository := pull.ParseRepository(arg)
		info, absent := os.Stat(arg)
		switch {
		case !strings.HasPrefix(arg, ".") && (notARepository == nil || strings.HasSuffix(arg, "/*")):
			names = append(names, arg)
		case absent == nil && info.IsDir():
			folders = append(folders, arg)
		default:
			return nil, nil, problem.Usage(fmt.Sprintf("there is no folder %.200q", arg),
				"name a folder of drafts, owner/repo, or all of an owner: 'owner/*'")
		}
	}
	return folders, names, nil
}
