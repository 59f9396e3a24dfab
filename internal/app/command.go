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

// lookup finds the command that arguments name, the arguments besides its name, and
// the name; without such a command it has no run.
func lookup(all []command, args []string) (c command, rest []string, name string) {
	at, words := 0, 1
	if strings.HasPrefix(args[0], "-") { // flags may stand before it
		at = max(0, slices.IndexFunc(args, func(arg string) bool {
			return slices.ContainsFunc(all, func(c command) bool { return strings.HasPrefix(c.name+" ", arg+" ") })
		}))
	}
	if args[at] == "eval" && len(args) > at+1 && !strings.HasPrefix(args[at+1], "-") {
		words = 2
	}
	name = strings.Join(args[at:at+words], " ")
	for _, c := range all {
		if c.name == name {
			return c, slices.Delete(slices.Clone(args), at, at+words), name
		}
	}
	return command{}, nil, name
}

func commandNames(all []command) (names []string) {
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}
