package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/configcmd"
	"github.com/org/pr-review-action/internal/evalcmd"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/local"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/searchcmd"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/setup"
	"github.com/org/pr-review-action/internal/wire"
)

// commands returns all commands, in the order in which help lists them. What other packages carry
// out is in this file, the rest in the cmd_ files.
func (a *app) commands() []command {
	all := []command{
		a.draftCommand("review", "[url | owner/repo#n | n | base..head | base...head | revision | - | FILE.diff "+
			"| demo]", "review a change, by default of the work tree, and stop for a decision",
			(*local.Options).ReviewFlags, a.Review),
		a.draftCommand("implement", "<FILE.md | KEY | owner/repo#n>",
			"write the change that a ticket asks for, and stop for a decision before it is committed",
			(*local.Options).ImplementFlags, a.Implement),
		a.draftCommand("resume", "<thread | owner/repo#n>", "decide a waiting draft, in the store or on GitHub",
			resumeFlags, a.resume),
		a.draftCommand("show", "<thread | owner/repo#n>", "print a waiting draft", showFlags, a.show),
		a.draftCommand("threads", "[owner/repo]",
			"list waiting drafts, in the store or of a repository on GitHub",
			func(o *local.Options, f *pflag.FlagSet) { o.ListFlags(f, "threads") }, a.threads),
		a.draftCommand("stats", "[owner/repo | 'owner/*' | FOLDER]…",
			"add up what drafts cost, how long they took, and what approvers changed",
			func(o *local.Options, f *pflag.FlagSet) { statsFlags(o, f); o.ListFlags(f, "stats") }, a.stats),
	}
	all = append(all, a.evalCommands()...)
	all = append(all, a.searchCommands()...)
	return append(all,
		a.draftCommand("context", "<url | owner/repo#n | n>",
			"show which tickets and pages a review would read, and what it would understand",
			func(o *local.Options, f *pflag.FlagSet) {
				o.Flags(f, "context")
				f.BoolVar(&o.JSON, "json", false, "print one JSON object")
			}, a.context),
		a.initCommand(), a.configCommand(),
		command{name: "graph", args: "[reviewpr | ticketpr]", help: "print the built graph as Mermaid", run: a.graph},
		a.completionCommand(a.commands),
		command{name: "version", help: "print the version", run: func(context.Context, []string) error {
			fmt.Fprintln(a.Stdout, "pr-review-action", wire.Version())
			return nil
		}})
}

// draftCommand returns a command about drafts, which runs with its own options.
func (a *app) draftCommand(name, args, help string, flags func(*local.Options, *pflag.FlagSet),
	run func(context.Context, []string) error) command {
	o := &local.Options{Settings: settings.Defaults()}
	return command{
		name, args, help, func(f *pflag.FlagSet) { flags(o, f) },
		func(ctx context.Context, args []string) error {
			a.Options = o
			return run(ctx, args)
		},
	}
}

// evalCommands returns the commands of package evalcmd.
func (a *app) evalCommands() (all []command) {
	p := evalcmd.Program{Front: a.Front, Name: a.Name, NoModel: local.NoModelNotice,
		Progress: func(silent bool) evalcmd.Progress { return a.NewProgress(silent) }}
	for _, c := range evalcmd.Commands() {
		o := evalcmd.Options{Settings: settings.Defaults()}
		all = append(all, command{
			name: c.Name, args: c.Args, help: c.Help,
			flags: func(f *pflag.FlagSet) {
				o.Settings.Flags(f, c.Name)
				c.Flags(f, &o)
			},
			run: func(ctx context.Context, args []string) error { return c.Run(ctx, p, args, &o) },
		})
	}
	return all
}

// searchCommands returns the commands that index and search code.
func (a *app) searchCommands() []command {
	o := &searchcmd.Options{Settings: settings.Defaults()}
	do := func(run func(searchcmd.Program, context.Context, []string, *searchcmd.Options) error) func(context.Context,
		[]string) error {
		return func(ctx context.Context, args []string) error {
			look := a.Look()
			p := searchcmd.Program{Front: a.Front, Width: look.Width, Color: look.Color, Warn: a.Warn}
			return run(p, ctx, args, o)
		}
	}
	return []command{{name: "index", help: "build the index that search and reviews use", flags: o.IndexFlags,
		run: do(searchcmd.Program.Index)},
		{name: "search", args: `"<question, name or diff hunk>"`, help: "find the code that answers a question",
			flags: o.Flags, run: do(searchcmd.Program.Run)}}
}

// initCommand writes the workflows and the settings file into a clone.
func (a *app) initCommand() command {
	o := &local.Options{Settings: settings.Defaults()}
	c := &setup.Command{Front: a.Front, Name: a.Name}
	return command{
		name: "init", args: "[--apply | --check] [--org ORG --repos FILE]",
		help: "set up reviews in this clone's repository, or by pull requests in those of a list: workflows, " +
			"settings, and what they need on GitHub",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&c.Apply, "apply", false, "make environments and label on GitHub, and have gh ask for the key")
			f.BoolVar(&c.Check, "check", false, "write nothing: check files, environments, secret, label, key "+
				"and model")
			f.Func("route", "`approval|dispatch`: how a person decides; by default what the repository's "+
				"plan allows", c.SetRoute)
			f.StringSliceVar(&c.Reviewers, "reviewer", nil, "who approves: a `login` or org/team; may be repeated")
			f.BoolVar(&c.Force, "force", false, "replace workflows and environments that are there and differ")
			f.StringVar(&c.Org, "org", "", "open a pull request in each listed repository of this `organization`")
			f.StringVar(&c.Repos, "repos", "", "with --org: `file` with a repository's name on each line, or -")
			o.Flags(f, "init")
			f.BoolVar(&c.JSON, "json", false, "print one JSON object")
			f.BoolVar(&o.NoInput, "no-input", false, "ask nothing")
		},
		run: func(ctx context.Context, args []string) error {
			o.JSON = c.JSON
			c.Settings, c.Asks = o.Settings, a.Interactive(o)
			return c.Run(ctx, args)
		},
	}
}

// configCommand returns the command for config check and config print.
func (a *app) configCommand() command {
	c := &configcmd.Command{Front: a.Front, Name: a.Name, Typed: map[string]string{}}
	s := settings.Defaults()
	return command{
		name: "config", args: "check | print [FILE | -]",
		help: "check the settings file, or print every setting with where it came from",
		flags: func(f *pflag.FlagSet) {
			s.PrintFlags(f, c.Typed)
			f.BoolVar(&c.Online, "online", false, "check: also ask each model for a tiny answer, and GitHub "+
				"what the token may do")
			f.BoolVar(&c.JSON, "json", false, "print one JSON object")
		},
		run: c.Run,
	}
}

// graph prints the built graph as Mermaid.
func (a *app) graph(_ context.Context, args []string) error {
	var flow interface{ Mermaid() string }
	var err error
	switch strings.Join(args, " ") {
	case "", reviewpr.Name:
		flow, err = reviewpr.New(reviewpr.Steps{}, graph.NewMemory())
	case ticketpr.Name:
		flow, err = ticketpr.New(ticketpr.Steps{}, graph.NewMemory())
	default:
		err = problem.Usage(fmt.Sprintf("unknown graph %q", strings.Join(args, " ")),
			"the graphs are "+reviewpr.Name+" and "+ticketpr.Name)
	}
	if err == nil {
		fmt.Fprint(a.Stdout, flow.Mermaid())
	}
	return err
}
