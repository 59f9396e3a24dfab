package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/problem"
)

// command is one of the command line's commands, with options of its own.
type command struct {
	name, args, help string
	flags            func(*pflag.FlagSet) // nil for none
	run              func(context.Context, []string) error
	json             *bool // whether an error is printed as an object as well; nil for never
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
		return errors.Join(err, a.jsonError(err, c.reports()))
	}
	return err
}

// parse reads a command's flags; what is left are its arguments.
func (c command) parse(args []string) (*pflag.FlagSet, error) {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.SortFlags = false
	if c.flags != nil {
		c.flags(flags)
	}
	return flags, flags.Parse(args)
}

// reports says whether the command's object is that of a run on a change or a ticket.
func (c command) reports() bool {
	return slices.Contains([]string{"review", "resume", "show", "implement"}, c.name)
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
		return driver.PrintJSON(a.Stdout, struct {
			Outcome string          `json:"outcome"`
			Status  reviewpr.Status `json:"status"`
			Message string          `json:"message"`
			Error   string          `json:"error"`
		}{outcome, reviewpr.InError, why, why})
	}
	if a.ticketed {
		return driver.Proposal{Outcome: outcome, Status: ticketpr.StatusAt(err), Error: why}.Print(a.Stdout)
	}
	return driver.Report{Outcome: outcome, Message: why, Status: reviewpr.StatusAt(err), Error: why}.Print(a.Stdout)
}

// flagError makes a flag's error a usage error that names the nearest flag, or the
// help, a command line, that lists them.
func flagError(err error, flags *pflag.FlagSet, help string) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return problem.Usage(fmt.Sprintf("--%s: %v", invalid.GetFlag().Name, invalid.Unwrap()), "")
	}
	if !errors.As(err, &unknown) {
		return problem.Usage(err.Error(), help+" lists them")
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if hint := config.Nearest(name, names); hint != "" {
		return problem.Usage(fmt.Sprintf("unknown flag --%s", name), fmt.Sprintf("did you mean --%s?", hint))
	}
	return problem.Usage(fmt.Sprintf("unknown flag --%s", name), help+" lists them")
}

func nearest(name string, known []string) string {
	if hint := config.Nearest(name, known); hint != "" {
		return fmt.Sprintf("did you mean %q?", hint)
	}
	return ""
}
