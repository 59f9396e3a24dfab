// Package app is the command line, and where the program begins. It speaks to people;
// the work is done further down, and a step of a workflow is room job's.
//
// Start reading at Run, then a cmd_ file for a command.
package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/job"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wire"
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
	all := a.commands()
	c, rest, name := lookup(all, args)
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
	next := a.name + " help lists them"
	if hint := problem.Nearest(name, commandNames(all)); hint != "" {
		next = fmt.Sprintf("did you mean %q?", hint)
	}
	return problem.Usage(fmt.Sprintf("unknown command %q", name), next)
}

func (a *app) version(context.Context, []string) error {
	fmt.Fprintln(a.Stdout, "pr-review-action", wire.Version())
	return nil
}

func (a *app) run(ctx context.Context, c command, args []string) error {
	flags, err := c.parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		a.help(a.Stdout, c, flags)
		return nil
	}
	if err != nil {
		return flagError(err, flags, a.name+" "+c.name+" --help")
	}
	err = c.run(ctx, flags.Args())
	if err != nil && c.json != nil && *c.json {
		reports := slices.Contains([]string{"review", "resume", "show", "implement"}, c.name)
		return errors.Join(err, a.jsonError(err, reports))
	}
	return err
}

// jsonError prints the object of a run that an error ended. Wrong usage has no
// outcome and so no object. That of a ticket's run has other keys, and commands that run
// no graph say only what happened.
func (a *app) jsonError(err error, reports bool) error {
	outcome := driver.OutcomeOf(err)
	if outcome == "" || errors.As(err, new(driver.Reported)) {
		return nil
	}
	why := driver.Explain(err)
	if !reports {
		return driver.PrintJSON(a.Stdout, map[string]any{"outcome": outcome, "status": reviewpr.InError, "message": why,
			"error": why})
	}
	if a.ticketed {
		return driver.Proposal{Thread: a.about, Outcome: outcome, Status: ticketpr.StatusAt(err),
			Error: why}.Print(a.Stdout)
	}
	return driver.Report{
		Thread: a.about, Outcome: outcome, Message: why, Status: reviewpr.StatusAt(err), Error: why,
	}.Print(a.Stdout)
}
