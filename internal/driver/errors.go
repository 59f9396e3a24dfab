package driver

import (
	"errors"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

var exitCodes = map[problem.Kind]int{problem.Failed: 1, problem.Misuse: 2, problem.Refused: 3, problem.Spent: 4}

// Reported marks an error that has already been shown.
type Reported struct{ Err error }

func (r Reported) Error() string { return r.Err.Error() }

// Unwrap returns the error that was shown.
func (r Reported) Unwrap() error { return r.Err }

// ExitCode returns the process's exit code for an error: 0 for none, 1 for a failed
// run, 2 for usage or configuration, 3 for a refusal, 4 for an exhausted budget.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	return exitCodes[problem.KindOf(inUserTerms(err))]
}

// Explain returns the message for an error: what was wrong, where, and what to do
// next.
func Explain(err error) string {
	if errors.As(err, new(Reported)) {
		return err.Error() // explained when it was reported
	}
	return problem.Of(inUserTerms(err)).Error()
}

// inUserTerms puts errors of the graph into the front's words, with next steps: the
// graph knows no flags, and users know no nodes.
func inUserTerms(err error) error {
	if _, ok := errors.AsType[*graph.VersionError](err); ok {
		return problem.As(problem.Refused, err, "decide with the version that drafted, or review it again with --again")
	}
	switch step, ok := errors.AsType[*graph.NodeError](err); {
	case errors.Is(err, graph.ErrSnapshot):
		return problem.As(problem.Refused, err, "review it again with --again: what is stored of it is damaged")
	case errors.Is(err, graph.ErrAnswered):
		return problem.Refuse(13, "another process decided this draft meanwhile",
			"run the same command again: it says what was decided")
	case errors.Is(err, graph.ErrDeadline):
		return problem.As(problem.Failed, err, "raise max-time, or run it again when GitHub and the "+
			"model answer faster")
	case errors.Is(err, graph.ErrBusy):
		return problem.As(problem.Failed, err, "wait until that one has ended, or stop it; then run this again")
	case ok:
		return step.Err
	}
	return err
}

// Gist returns the first line of an error or, for a refused decision, of what it refuses.
func Gist(err error) string {
	p := problem.Of(inUserTerms(err))
	what := p.What
	if errors.As(err, new(*decision.Error)) {
		what = p.Rows[0][0] + " " + p.Rows[0][1]
	}
	return strings.Join(strings.Fields(guard.Line(what, MaxLine)), " ")
}
