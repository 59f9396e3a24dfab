package app

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/setup"

	"github.com/org/pr-review-action/internal/local"
)

// initCommand writes the workflows and the settings file into a clone.
func (a *app) initCommand() command {
	o := local.NewOptions()
	c := &setup.Command{Front: a.Front, Name: a.Name}
	return command{
		name: "init", args: "[--apply | --check] [--org ORG --repos FILE]",
		help: "bring reviews into this clone's repository, or by pull requests into those of a list: workflows, " +
			"settings, what they need on GitHub",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&c.Apply, "apply", false, "make environments and label on GitHub, and have gh ask for the key")
			f.BoolVar(&c.Check, "check", false, "write nothing: check files, environments, secret, label, key "+
				"and model")
			f.Func("route", "`approval|dispatch`: how a person decides; chosen by what the repository can have where "+
				"not given", c.SetRoute)
			f.StringSliceVar(&c.Reviewers, "reviewer", nil, "who approves: a `login` or org/team; may be repeated")
			f.BoolVar(&c.Force, "force", false, "replace workflows and environments that are there and differ")
			f.StringVar(&c.Org, "org", "", "a pull request in each repository of a list: of this `organization`")
			f.StringVar(&c.Repos, "repos", "", "with --org: `file` with a repository's name on each line, or -")
			o.Flags(f, "init")
			f.BoolVar(&c.JSON, "json", false, "print one JSON object")
			f.BoolVar(&o.NoInput, "no-input", false, "ask nothing")
		},
		run: func(ctx context.Context, args []string) error {
			o.JSON = c.JSON
			c.Settings, c.Asks = o.Settings, a.Interactive(&o)
			return c.Run(ctx, args)
		},
		json: &c.JSON,
	}
}
