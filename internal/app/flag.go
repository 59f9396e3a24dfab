package app

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
)

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
