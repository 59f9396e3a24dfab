package local

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
)

// ReviewOptions are the flags of review.
type ReviewOptions struct {
	Options
	admit bool // ignore the admission rules
}

// AddFlags adds the flags to f.
func (o *ReviewOptions) AddFlags(f *pflag.FlagSet) {
	o.Flags(f, "review")
	o.DecisionFlags(f)
	f.BoolVar(&o.admit, "admit", false, "review although the repository's admission rules would skip it")
	f.BoolVar(&o.untracked, "untracked", false, "review the work tree's untracked files too, without asking")
	f.BoolVar(&o.NoInput, "no-input", false, "never ask: leave the draft waiting")
	o.TraceFlag(f)
	o.OutputFlags(f)
}

// Review reviews what the argument names, up to the decision.
func (a *Terminal) Review(ctx context.Context, args []string, o *ReviewOptions) error {
	if len(args) > 1 {
		return problem.Usage("review takes one change",
			a.Name+" review demo, or a pull request, a range such as main...HEAD, a diff's file, or -; "+
				"nothing for the work tree")
	}
	return a.drafting(ctx, "review", &o.Options, func(ctx context.Context, given decision.Verdict) error {
		r, err := a.local(ctx, strings.Join(args, ""), o.admit)
		if err != nil {
			return err
		}
		defer os.RemoveAll(r.change.Objects) // does nothing if it is empty
		if err := r.mayPost(given); err != nil {
			return err
		}
		result, err := r.run(ctx)
		if err != nil {
			return err
		}
		if !result.Revising() && result.State.Decision != nil && o.Anew && !o.Quiet {
			a.Warn("this commit was posted before, and a commit is reviewed once: push another for a new review")
		}
		return r.GoFrom(ctx, result, given)
	})
}

// drafting calls do with the verdict in the flags of a command that drafts, in a span of its
// own.
func (a *Terminal) drafting(ctx context.Context, command string, o *Options,
	do func(context.Context, decision.Verdict) error) (err error) {
	a.Options = o
	given, err := o.Verdict()
	if err != nil {
		return err
	}
	o.Expires = cmp.Or(o.Expires, settings.DefaultExpires)
	ctx, over, err := a.StartTrace(ctx, o.Settings, o.Trace, a.Warn)
	if err != nil {
		return err
	}
	defer over()
	began := a.Now()
	ctx, span := trace.Run(ctx, command, began)
	defer func() { a.EndRun(span, began, err) }()
	return do(ctx, given)
}
