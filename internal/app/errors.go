package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/evalcmd"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/transport"
)

// The exit codes.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3
	exitSpent   = 4
)

// reported marks an error that was shown already.
type reported struct{ error }

func (r reported) Unwrap() error { return r.error }

// usage is an error of the command line or of the settings.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// spent is an error of a run that ended for money.
type spent struct{ error }

func (s spent) Unwrap() error { return s.error }

// usageError is a mistake in flags, inputs or settings. next says what to do,
// or is empty.
func usageError(what, next string) error { return usage{problem(what, "", next)} }

// problem is an error of three parts: what was wrong, where, what to do next.
// The last two may be empty.
func problem(what, where, next string) error {
	return &render.Problem{What: what, Rows: rows(where, next)}
}

// refusal is the no of a resume check, of the same three parts.
func refusal(check int, what, where, next string) *checkpoint.Refusal {
	return &checkpoint.Refusal{Check: check, What: what, Rows: rows(where, next)}
}

func rows(where, next string) [][2]string {
	return slices.DeleteFunc([][2]string{{"where", where}, {"next", next}}, func(row [2]string) bool { return row[1] == "" })
}

// draftAnew is what to do about a draft that cannot be used.
const draftAnew = "start a new draft: run the review workflow again"

// exitCode is the process's exit code for an error.
func exitCode(err error) int {
	var refusal *checkpoint.Refusal
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(usage)), errors.As(err, new(evalcmd.UsageError)), errors.As(err, new(*config.Error)):
		return exitUsage
	case errors.As(err, &refusal), errors.As(err, new(*decision.Error)), errors.Is(err, graph.ErrSnapshot), errors.As(err, new(*graph.VersionError)):
		return exitRefused
	case errors.As(err, new(spent)), errors.As(err, new(evalcmd.SpentError)):
		return exitSpent
	}
	return exitFailed
}

// explain turns an error into what a person reads: what was wrong, where, and
// what to do next.
func explain(err error) string {
	shown, ok := errors.AsType[*render.Problem](err)
	if !ok {
		if text, own := ownText(err); own {
			return text
		}
		shown = worded(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(shown.Text(), "error: "))
}

// gist is what an error says first: of a decision that was refused, its first line.
func gist(err error) string {
	lines := strings.Split(explain(err), "\n")
	if errors.As(err, new(*decision.Error)) {
		lines = lines[min(1, len(lines)-1):]
	}
	return strings.Join(strings.Fields(lines[0]), " ")
}

// ownText is the message of an error that is made for reading.
func ownText(err error) (string, bool) {
	var refusal *checkpoint.Refusal
	var refused *decision.Error
	var settings *config.Error
	var cases *dataset.Problems
	switch {
	case errors.As(err, new(reported)):
		return err.Error(), true // explained when it was reported
	case errors.As(err, &cases):
		return render.Count(len(cases.List), "mistake") + " in the cases, so nothing was run\n" + cases.Error(), true
	case errors.As(err, &refusal):
		return refusal.Error(), true
	case errors.As(err, &settings):
		return settings.Error(), true
	case errors.As(err, &refused):
		return refused.Error(), true
	}
	return "", false
}

// worded makes three parts of any other error.
func worded(err error) *render.Problem {
	if step, ok := errors.AsType[*graph.NodeError](err); ok {
		err = step.Err // the step's own words: nobody here knows the graph
	}
	what, where := err.Error(), ""
	if status, ok := errors.AsType[*transport.StatusError](err); ok {
		if rest, cut := strings.CutSuffix(what, ": "+status.Error()); cut {
			what, where = rest, status.Error()
		}
	}
	return &render.Problem{What: what, Rows: rows(where, nextStep(err))}
}

// nextStep says what to do about an error of a known kind.
func nextStep(err error) string {
	var version *graph.VersionError
	var own interface{ Next() string }
	status, _ := errors.AsType[*transport.StatusError](err)
	switch {
	case errors.As(err, &own):
		return own.Next()
	case errors.Is(err, github.ErrNotFound):
		return "check the name; a private repository needs a token that may read it (github-token, GITHUB_TOKEN)"
	case errors.Is(err, write.ErrNoPermission):
		return "the token needs pull-requests: write; then decide the same again, the draft still waits"
	case errors.Is(err, write.ErrUnknown):
		return "run it again: it looks for the review before it writes"
	case errors.Is(err, github.ErrNoAccess):
		return "check the token (github-token, GITHUB_TOKEN) and the job's permissions"
	case errors.Is(err, transport.ErrForbidden):
		return "name the address of the service itself"
	case status != nil && status.Limited:
		return "GitHub limits this token's requests; wait and run it again"
	case status != nil && status.Code >= 500:
		return "the server is failing; run it again later"
	case errors.Is(err, transport.ErrInsecure):
		return "use https, or set allow-http: true (--allow-http), which sends key and code in the clear"
	case errors.Is(err, ingest.ErrNoRange):
		return "name two commits of this clone, such as main...HEAD; a shallow clone may need git fetch --unshallow"
	case errors.Is(err, ingest.ErrNoClone), errors.Is(err, ingest.ErrNoGit):
		return "go into the clone, or pass a pull request's address or a diff's file"
	case errors.Is(err, graph.ErrSnapshot):
		return "review it anew with --again: what is stored of it is damaged"
	case errors.Is(err, graph.ErrBusy):
		return "wait until that one has ended, or stop it; then run this again"
	case errors.Is(err, syscall.ENOSPC):
		return "make room there, then run it again: what was finished is kept"
	case errors.Is(err, artifact.ErrNoRuntime):
		return "run it as a step of a workflow's job (uses: org/pr-review-action@v1), or set checkpoint-dir"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "check who may write there, or choose another folder with --store"
	case errors.As(err, &version):
		return "decide with the version that drafted, or review it anew with --again"
	case errors.Is(err, context.Canceled):
		return "run it again: what was finished is kept"
	}
	return ""
}

// flagError makes a flag's error a usage error that names the nearest flag.
func flagError(err error, flags *pflag.FlagSet) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usageError(fmt.Sprintf("--%s: %v", invalid.GetFlag().Name, invalid.Unwrap()), "")
	}
	if !errors.As(err, &unknown) {
		return usageError(err.Error(), "")
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if hint := config.Nearest(name, names); hint != "" {
		return usageError(fmt.Sprintf("unknown flag --%s", name), fmt.Sprintf("did you mean --%s?", hint))
	}
	return usageError(fmt.Sprintf("unknown flag --%s", name), "")
}

func nearest(name string, known []string) string {
	if hint := config.Nearest(name, known); hint != "" {
		return fmt.Sprintf("did you mean %q?", hint)
	}
	return ""
}
