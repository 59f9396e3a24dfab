// Package app is the command line, and where the program begins. It speaks to people;
// the work is done further down, and a step of a workflow is room job's.
//
// Start reading at Run, then a cmd_ file for a command.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/job"
	"github.com/org/pr-review-action/internal/problem"
)

// Run is the program: it returns the exit code. 0 is done or paused, 1 a run
// that failed, 2 usage or configuration, 3 a refused resume.
func Run(ctx context.Context, p Process) int {
	front := driver.NewFront(p)
	if len(p.Args) == 1 && front.Getenv("GITHUB_ACTIONS") == "true" {
		return job.Run(ctx, front)
	}
	a := &app{Front: front, name: called(p.Args[0])}
	out := &output{Writer: front.Stdout}
	a.Stdout = out
	err := a.command(ctx, p.Args[1:])
	if out.err != nil && (err == nil || errors.Is(err, out.err) || errors.As(err, new(driver.Reported))) {
		err = problem.New("the result could not be written", out.err.Error(),
			"run the same command again: what was done is kept")
	}
	if err != nil && !errors.As(err, new(driver.Reported)) {
		fmt.Fprintln(front.Stderr, "error: "+guard.Text(driver.Explain(err)))
	}
	return driver.ExitCode(err)
}

func (a *app) commands() []command {
	all := []command{a.reviewCommand(), a.implementCommand(), a.resumeCommand(), a.showCommand(), a.threadsCommand(),
		a.statsCommand()}
	all = append(all, a.evalCommands()...)
	return append(all, a.indexCommand(), a.searchCommand(), a.contextCommand(), a.initCommand(), a.configCommand(),
		a.graphCommand(), a.completionCommand(), a.versionCommand())
}

func (a *app) command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		a.usage(a.Stderr)
		return problem.Usage("no command was given", a.name+" review demo is a first one")
	}
	switch {
	case args[0] == "help" && len(args) > 1:
		args = append(args[1:], "--help")
	case args[0] == "help" || args[0] == "--help" || args[0] == "-h":
		a.usage(a.Stdout)
		return nil
	case args[0] == "--version":
		return a.version(ctx, nil)
	}
	c, rest, name := a.lookup(args)
	if c.run != nil {
		return a.run(ctx, c, rest)
	}
	if name == "eval" && slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" }) {
		a.summaries(a.Stdout, "eval ")
		return nil
	}
	if name == "eval" {
		a.summaries(a.Stderr, "eval ")
		return problem.Usage("eval needs a command of its own", a.name+" eval run starter is a first one")
	}
	return problem.Usage(fmt.Sprintf("unknown command %q", name),
		cmp.Or(nearest(name, a.commandNames()), a.name+" help lists them"))
}

// lookup finds the command that arguments name, the arguments besides its name, and
// the name; without such a command it has no run.
func (a *app) lookup(args []string) (c command, rest []string, name string) {
	at := a.commandAt(args)
	words := commandWords(args[at:])
	name = strings.Join(args[at:at+words], " ")
	for _, c := range a.commands() {
		if c.name == name {
			return c, slices.Delete(slices.Clone(args), at, at+words), name
		}
	}
	return command{}, nil, name
}

// commandAt is the index of the command's name: flags may stand before it.
func (a *app) commandAt(args []string) int {
	if !strings.HasPrefix(args[0], "-") {
		return 0
	}
	known := a.commandNames()
	return max(0, slices.IndexFunc(args, func(arg string) bool {
		return slices.ContainsFunc(known, func(name string) bool {
			first, _, _ := strings.Cut(name, " ")
			return first == arg
		})
	}))
}

// commandWords is how many words name the command: those of eval are two.
func commandWords(args []string) int {
	if args[0] == "eval" && len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		return 2
	}
	return 1
}

func (a *app) commandNames() []string {
	var names []string
	for _, c := range a.commands() {
		names = append(names, c.name)
	}
	return names
}
