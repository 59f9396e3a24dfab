// Package app is the command line and the program's entry point: it parses commands and flags,
// and shows and decides drafts that are stored on GitHub. Drafts on this machine belong to
// package local, and workflow steps to package job.
//
// Start reading at Run, then commands.go or a cmd_ file for a command.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/job"
	"github.com/org/pr-review-action/internal/problem"

	"github.com/org/pr-review-action/internal/local"
)

// Process holds the arguments, environment and streams that the program starts with.
type Process = driver.Process

// app is one invocation of the program.
type app struct{ *local.Terminal }

// Run runs the program and returns its exit code: 0 for done or paused, 1 for a run that
// failed, 2 for wrong usage or settings, 3 for a refusal, 4 for a cost cap that was reached.
func Run(ctx context.Context, p Process) int {
	ctx, over := context.WithCancel(ctx) // closes what stays open while a command runs
	defer over()
	front := driver.NewFront(p)
	if len(p.Args) == 1 && front.Getenv("GITHUB_ACTIONS") == "true" {
		return job.Run(ctx, front)
	}
	a := &app{&local.Terminal{Front: front, Name: programName(p.Args[0])}}
	out := &local.Output{Writer: front.Stdout}
	a.Stdout = out
	err := a.execute(ctx, p.Args[1:])
	if out.Err != nil && (err == nil || errors.Is(err, out.Err) || errors.As(err, new(driver.Reported))) {
		err = problem.New("the result could not be written", out.Err.Error(),
			"run the same command again: what was done is kept")
	}
	if err != nil && !errors.As(err, new(driver.Reported)) {
		fmt.Fprintln(front.Stderr, "error: "+guard.Text(driver.Explain(err)))
	}
	return driver.ExitCode(err)
}

// programName returns the program's name for messages. A binary built by go run is gone after
// it ends, so its name is the command that started it.
func programName(path string) string {
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "go run ."
	}
	return filepath.Base(path)
}

func (a *app) execute(ctx context.Context, args []string) error {
	if len(args) == 0 {
		a.printUsage(a.Stderr)
		return problem.Usage("no command was given", a.Name+" review demo is a first one")
	}
	switch {
	case args[0] == "help" && len(args) > 1 && !strings.HasPrefix(args[1], "-"):
		args = append(args[1:], "--help")
	case args[0] == "help" || args[0] == "--help" || args[0] == "-h":
		a.printUsage(a.Stdout)
		return nil
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	all := a.commands()
	c, rest, name := lookup(all, args)
	if c.run != nil {
		return a.run(ctx, c, rest)
	}
	if name == "eval" && slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "-h" }) {
		a.printSummaries(a.Stdout, "eval ")
		return nil
	}
	if name == "eval" {
		a.printSummaries(a.Stderr, "eval ")
		return problem.Usage("eval needs a subcommand", a.Name+" eval run starter is a first one")
	}
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	next := a.Name + " help lists them"
	if hint := problem.Nearest(name, names); hint != "" {
		next = fmt.Sprintf("did you mean %q?", hint)
	}
	return problem.Usage(fmt.Sprintf("unknown command %q", name), next)
}

func (a *app) run(ctx context.Context, c command, args []string) error {
	flags, err := c.parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		a.printHelp(a.Stdout, c, flags)
		return nil
	}
	f := flags.Lookup("json")
	asJSON := f != nil && (f.Value.String() == "true" || slices.Contains(args, "--json")) // a wrong flag ends parsing
	switch {
	case err != nil:
		err = flagError(err, flags, a.Name+" "+c.name+" --help")
	case c.args == "" && flags.NArg() > 0:
		err = problem.Usage(c.name+" takes no argument", a.Name+" "+c.name+" --help says what it takes")
	default:
		err = c.run(ctx, flags.Args())
	}
	if why := context.Cause(ctx); err != nil && why != nil && !errors.Is(err, why) &&
		(problem.KindOf(err) == problem.Failed || errors.Is(err, context.Canceled)) {
		err = problem.New(why.Error(), "", "run it again: what was finished is kept") // not what it broke in us
	}
	if err != nil && asJSON {
		a.Ticketed = a.Ticketed || c.name == "implement"
		reports := slices.Contains([]string{"review", "resume", "show", "implement"}, c.name)
		return errors.Join(err, a.jsonError(err, reports))
	}
	outcome := driver.OutcomeOf(err)
	out, _ := a.Stdout.(*local.Output)
	if c.name == "resume" && err != nil && outcome != "" && (outcome != reviewpr.Failed || out != nil && !out.Used) {
		fmt.Fprintln(a.Stdout, outcome, guard.Line(cmp.Or(a.About, strings.Join(flags.Args(), " "), "--next"), 0))
	}
	return err
}

// jsonError prints the JSON object of a run that ended with an error, unless its object is
// printed already. The outcome of wrong usage is empty. The object of a ticket's run has other
// keys, and commands that run no graph report only what happened.
func (a *app) jsonError(err error, reports bool) error {
	if out, ok := a.Stdout.(*local.Output); ok && out.Used {
		return nil
	}
	outcome, why := driver.OutcomeOf(err), driver.Explain(err)
	if !reports {
		return driver.PrintJSON(a.Stdout, map[string]any{"outcome": outcome, "status": reviewpr.InError, "message": why,
			"error": why})
	}
	if a.Ticketed {
		return driver.Proposal{Report: driver.Report{Thread: a.About, Outcome: outcome, Message: why},
			Node: ticketpr.StatusAt(err)}.Print(a.Stdout)
	}
	return driver.Report{
		Thread: a.About, Outcome: outcome, Message: why, Status: reviewpr.StatusAt(err), Error: why,
	}.Print(a.Stdout)
}

// command is one command of the command line, with its own options.
type command struct {
	name, args, help string
	flags            func(*pflag.FlagSet) // nil for none
	run              func(context.Context, []string) error
}

// parse parses a command's flags. The returned set holds the remaining arguments.
func (c command) parse(args []string) (*pflag.FlagSet, error) {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.SortFlags = false
	if c.flags != nil {
		c.flags(flags)
	}
	return flags, cmp.Or(flagAsValue(flags, args), flags.Parse(args))
}

// flagAsValue returns an error if a flag without its value is before another flag, which the parser would take for
// that value: "--store --json" would keep drafts in a folder named "--json".
func flagAsValue(flags *pflag.FlagSet, args []string) error {
	lookup := func(arg string) *pflag.Flag {
		name, found := strings.CutPrefix(arg, "--")
		if name, _, _ = strings.Cut(name, "="); !found || name == "" {
			return nil
		}
		return flags.Lookup(name)
	}
	for i, arg := range args[:max(0, len(args)-1)] {
		if arg == "--" {
			return nil
		}
		f, next := lookup(arg), lookup(args[i+1])
		if f != nil && next != nil && f.NoOptDefVal == "" && !strings.Contains(arg, "=") {
			return fmt.Errorf("flag needs an argument: --%s, and --%s is a flag", f.Name, next.Name)
		}
	}
	return nil
}

// flagError turns a flag's error into a usage error that suggests the nearest flag, or help,
// the command line that lists them.
func flagError(err error, flags *pflag.FlagSet, help string) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		what := strings.TrimPrefix(invalid.Unwrap().Error(), invalid.GetFlag().Name+" ")
		if number, ok := errors.AsType[*strconv.NumError](err); ok { // boolean flags return it too
			what = fmt.Sprintf("%.60q is not a number", number.Num)
			if invalid.GetFlag().Value.Type() == "bool" {
				what = fmt.Sprintf("%.60q is not true or false", number.Num)
			}
			if errors.Is(number, strconv.ErrRange) {
				what = fmt.Sprintf("%.60q is out of range", number.Num)
			}
		}
		return problem.Usage(fmt.Sprintf("--%s: %s", invalid.GetFlag().Name, what), "")
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return problem.Usage(err.Error(), help+" lists them")
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name, dashes := unknown.GetSpecifiedName(), "--"
	if after := unknown.GetSpecifiedShortnames(); after != "" { // what follows a single dash
		name, dashes = after, "-"
	}
	next := help + " lists them"
	if hint := problem.Nearest(name, names); hint != "" {
		next = fmt.Sprintf("did you mean --%s?", hint)
	}
	return problem.Usage("unknown flag "+dashes+name, next)
}

// lookup returns the command that the arguments name, the other arguments, and the name. The
// command has no run function if there is none of that name.
func lookup(all []command, args []string) (c command, rest []string, name string) {
	at, words := 0, 1
	if strings.HasPrefix(args[0], "-") { // flags may precede the command
		at = max(0, slices.IndexFunc(args, func(arg string) bool {
			return slices.ContainsFunc(all, func(c command) bool { return strings.HasPrefix(c.name+" ", arg+" ") })
		}))
	}
	if args[at] == "eval" && len(args) > at+1 && !strings.HasPrefix(args[at+1], "-") {
		words = 2
	}
	name = strings.Join(args[at:at+words], " ")
	if i := slices.IndexFunc(all, func(c command) bool { return c.name == name }); i >= 0 {
		c, rest = all[i], slices.Delete(slices.Clone(args), at, at+words)
	}
	if _, err := c.parse(rest); at > 0 && errors.As(err, new(*pflag.NotExistError)) { // perhaps a flag's value
		if next, others, word := lookup(all, append([]string{"-"}, args[at+1:]...)); next.run != nil {
			return next, slices.Concat(args[:at+1], others[1:]), word
		}
	}
	return c, rest, name
}
