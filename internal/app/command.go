package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/problem"
)

// command is one of the command line's commands, with options of its own.
type command struct {
	name, args, help string
	flags            func(*pflag.FlagSet) // nil for none
	run              func(context.Context, []string) error
	json             *bool // whether an error is printed as an object as well; nil for never
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

// flagError makes a flag's error a usage error that names the nearest flag, or the
// help, a command line, that lists them.
func flagError(err error, flags *pflag.FlagSet, help string) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError // of a boolean flag too
	switch {
	case errors.As(err, &invalid) && errors.As(err, &number):
		if errors.Is(number, strconv.ErrRange) {
			return problem.Usage(fmt.Sprintf("--%s: %.60q is out of range", invalid.GetFlag().Name, number.Num), "")
		}
		kind := map[bool]string{true: "true or false", false: "a number"}[invalid.GetFlag().Value.Type() == "bool"]
		return problem.Usage(fmt.Sprintf("--%s: %.60q is not %s", invalid.GetFlag().Name, number.Num, kind), "")
	case errors.As(err, &invalid):
		return problem.Usage(fmt.Sprintf("--%s: %v", invalid.GetFlag().Name, invalid.Unwrap()), "")
	}
	if !errors.As(err, &unknown) {
		return problem.Usage(err.Error(), help+" lists them")
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if hint := problem.Nearest(name, names); hint != "" {
		return problem.Usage(fmt.Sprintf("unknown flag --%s", name), fmt.Sprintf("did you mean --%s?", hint))
	}
	return problem.Usage(fmt.Sprintf("unknown flag --%s", name), help+" lists them")
}

func nearest(name string, known []string) string {
	if hint := problem.Nearest(name, known); hint != "" {
		return fmt.Sprintf("did you mean %q?", hint)
	}
	return ""
}

// lookup finds the command that arguments name, the arguments besides its name, and
// the name; without such a command it has no run.
func lookup(all []command, args []string) (c command, rest []string, name string) {
	at := commandAt(all, args)
	words := commandWords(args[at:])
	name = strings.Join(args[at:at+words], " ")
	for _, c := range all {
		if c.name == name {
			return c, slices.Delete(slices.Clone(args), at, at+words), name
		}
	}
	return command{}, nil, name
}

// commandAt is the index of the command's name: flags may stand before it.
func commandAt(all []command, args []string) int {
	if !strings.HasPrefix(args[0], "-") {
		return 0
	}
	known := commandNames(all)
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

func commandNames(all []command) (names []string) {
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}
