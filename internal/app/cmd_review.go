package app

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
)

// reviewOptions are the flags of review.
type reviewOptions struct {
	options
	admit bool // whatever the admission rules say
}

func (a *app) reviewCommand() command {
	o := &reviewOptions{options: newOptions()}
	return command{
		"review", "[url | owner/repo#n | n | base..head | base...head | revision | - | FILE.diff | demo]",
		"review a change, by default of the work tree, and stop for a decision", o.flags,
		func(ctx context.Context, args []string) error { return a.review(ctx, args, o) }, &o.json,
	}
}

func (o *reviewOptions) flags(f *pflag.FlagSet) {
	o.Flags(f, "review")
	o.decisionFlags(f)
	f.BoolVar(&o.admit, "admit", false, "review although the repository's admission rules would skip it")
	f.BoolVar(&o.untracked, "untracked", false, "review the work tree's untracked files too, without asking")
	f.BoolVar(&o.noInput, "no-input", false, "never ask: leave the draft waiting")
	o.traceFlag(f)
	o.outputFlags(f)
}

// review reviews what the argument names, up to the decision.
func (a *app) review(ctx context.Context, args []string, o *reviewOptions) (err error) {
	a.options = &o.options
	given, err := o.verdict()
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return problem.Usage("review takes one change",
			a.name+" review demo, or a pull request, a range such as main...HEAD, a diff's file, or -; "+
				"nothing for the work tree")
	}
	o.Expires = cmp.Or(o.Expires, settings.DefaultExpires)
	ctx, over, err := a.Traced(ctx, o.Settings, o.trace, a.warn)
	if err != nil {
		return err
	}
	defer over()
	began := a.Now()
	ctx, span := trace.Run(ctx, "review", began)
	defer func() { a.endRun(span, began, err) }()
	r, err := a.local(ctx, strings.Join(args, ""), o.admit)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.change.Objects) // nothing where it is empty
	result, err := r.run(ctx)
	if err != nil {
		return err
	}
	if !result.Revising() && result.State.Decision != nil && o.Anew && !o.quiet {
		a.warn("this commit was posted before, and a commit is reviewed once: push another for a new review")
	}
	return r.goFrom(ctx, result, given)
}
