package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render"
)

// The exit codes.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3
	exitSpent   = 4
)

var exitCodes = map[problem.Kind]int{
	problem.Failed: exitFailed, problem.Misuse: exitUsage, problem.Refused: exitRefused, problem.Spent: exitSpent,
}

// reported marks an error that was shown already.
type reported struct{ error }

func (r reported) Unwrap() error { return r.error }

// exitCode is the process's exit code for an error.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	return exitCodes[problem.KindOf(told(err))]
}

// explain turns an error into what a person reads: what was wrong, where, and
// what to do next.
func explain(err error) string {
	if errors.As(err, new(reported)) {
		return err.Error() // explained when it was reported
	}
	if cases, ok := errors.AsType[*dataset.Problems](err); ok {
		return render.Count(len(cases.List), "mistake") + " in the cases, so nothing was run\n" + cases.Error()
	}
	return problem.Of(told(err)).Error()
}

// told gives errors of the graph the front's words and next steps: the graph
// knows no flag, and a person knows no node.
func told(err error) error {
	if _, ok := errors.AsType[*graph.VersionError](err); ok {
		return problem.As(problem.Refused, err, "decide with the version that drafted, or review it anew with --again")
	}
	switch step, ok := errors.AsType[*graph.NodeError](err); {
	case errors.Is(err, graph.ErrSnapshot):
		return problem.As(problem.Refused, err, "review it anew with --again: what is stored of it is damaged")
	case errors.Is(err, graph.ErrBusy):
		return problem.As(problem.Failed, err, "wait until that one has ended, or stop it; then run this again")
	case ok:
		return step.Err
	}
	return err
}

// gist is what an error says first: of a decision that was refused, its first line.
func gist(err error) string {
	p := problem.Of(told(err))
	what := p.What
	if errors.As(err, new(*decision.Error)) {
		what = p.Rows[0][0] + " " + p.Rows[0][1]
	}
	return strings.Join(strings.Fields(guard.Line(what, maxLine)), " ")
}

// flagError makes a flag's error a usage error that names the nearest flag.
func flagError(err error, flags *pflag.FlagSet) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return problem.Usage(fmt.Sprintf("--%s: %v", invalid.GetFlag().Name, invalid.Unwrap()), "")
	}
	if !errors.As(err, &unknown) {
		return problem.Usage(err.Error(), "")
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if hint := config.Nearest(name, names); hint != "" {
		return problem.Usage(fmt.Sprintf("unknown flag --%s", name), fmt.Sprintf("did you mean --%s?", hint))
	}
	return problem.Usage(fmt.Sprintf("unknown flag --%s", name), "")
}

func nearest(name string, known []string) string {
	if hint := config.Nearest(name, known); hint != "" {
		return fmt.Sprintf("did you mean %q?", hint)
	}
	return ""
}
