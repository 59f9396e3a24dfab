package local

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/spf13/pflag"
)

// ReviewFlags adds the flags of review to f.
func (o *Options) ReviewFlags(f *pflag.FlagSet) {
	o.Flags(f, "review")
	o.DecisionFlags(f)
	f.BoolVar(&o.admit, "admit", false, "review although the repository's admission rules would skip it")
	f.BoolVar(&o.untracked, "untracked", false, "review the work tree's untracked files too, without asking")
	f.BoolVar(&o.NoInput, "no-input", false, "never ask: leave the draft waiting")
	o.TraceFlag(f)
	o.OutputFlags(f)
}

// Review reviews what the argument names, up to the decision.
func (a *Terminal) Review(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return problem.Usage("review takes one change",
			a.Name+" review demo, or a pull request, a range such as main...HEAD, a diff's file, or -; "+
				"nothing for the work tree")
	}
	return a.runDrafting(ctx, "review", func(ctx context.Context, given decision.Verdict) error {
		r, err := a.local(ctx, strings.Join(args, ""))
		if err != nil {
			return err
		}
		defer os.RemoveAll(r.change.Objects) // does nothing if it is empty
		if err := r.checkMayPost(given); err != nil {
			return err
		}
		result, err := r.run(ctx)
		if err != nil {
			return err
		}
		if !result.Revising() && result.State.Decision != nil && a.Anew && !a.Quiet {
			a.Warn("this commit was posted before, and a commit is reviewed once: push another for a new review")
		}
		return r.GoFrom(ctx, result, given)
	})
}

// runDrafting calls do with the verdict in the flags of a command that drafts, in a span of its
// own.
func (a *Terminal) runDrafting(ctx context.Context, command string,
	do func(context.Context, decision.Verdict) error) error {
	given, err := a.Verdict()
	if err != nil {
		return err
	}
	return a.Traced(ctx, command, func(ctx context.Context) error { return do(ctx, given) })
}

// Traced calls do in a span of a command that reviews or decides.
func (a *Terminal) Traced(ctx context.Context, command string, do func(context.Context) error) (err error) {
	ctx, over, err := a.StartTrace(ctx, a.Settings, a.Options.Trace, a.Warn)
	if err != nil {
		return err
	}
	defer over()
	began := a.Now()
	ctx, span := trace.Run(ctx, command, began)
	defer func() {
		var ref pull.Ref
		if p := a.came.State.Pull; p != nil {
			ref = p.Ref
		}
		a.EndRun(span, ref, a.came, began, err)
	}()
	return do(ctx)
}

// revise revises a draft of the local store in place, as the answer asks or, if that is nil,
// as an earlier run was asked and did not finish. It returns the report on the new draft.
func (r *Run) revise(ctx context.Context, was driver.Report, answer *decision.Answer) (driver.Report, error) {
	var asked *graph.Answer
	if answer != nil {
		if err := gate.CheckRounds(len(was.State.Rounds)); err != nil {
			return driver.Report{}, err
		}
		asked = driver.AnswerTo(was.Packed.Manifest, *answer)
	}
	err := r.chooseReviewer()
	if err == nil {
		err = driver.MayRevise(r.reviewer, was.State.Draft)
	}
	if err == nil {
		r.change, err = r.changeOf(ctx, was.State)
	}
	if err != nil {
		return driver.Report{}, err
	}
	r.reviewer.NameModel(r.change.Config)
	paid, err := r.paid(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	// whose review it is, and from which severity it asks a person, do not change
	s := r.Settings
	s.Expires = cmp.Or(s.Expires, was.State.Draft.ExpiresAt.Sub(was.State.Draft.CreatedAt))
	b := wire.Brief{Change: r.change, Paid: paid, API: r.API, Workspace: ".", Revises: &was.State.Usage}
	defer r.progress.Stop()
	return r.driver().Revise(ctx, b, reviewpr.Steps{
		Concurrency: r.Concurrency, Deadline: r.Deadline(r.Settings),
		Revised: func(d reviewpr.Draft) reviewpr.Draft {
			return driver.Redrafted(r.reviewer, d, r.Facts(ctx, s, r.reviewer), was.State.Usage)
		},
	}, asked)
}

// changeOf reads the change of a draft again. It refuses a change that differs from the
// drafted one, as resume check 9 does. A diff comes from the draft itself.
func (r *Run) changeOf(ctx context.Context, state reviewpr.State) (c ingest.Change, err error) {
	d := state.Draft
	switch {
	case state.Pull != nil:
		if err := r.InRepository(); err != nil {
			return c, err
		}
		c, err = ingest.Pull(ctx, r.API, state.Pull.Ref,
			ingest.PullOptions{Instance: d.Subject.Instance, Config: r.File()})
		if err != nil {
			return c, err
		}
		drafted := checkpoint.Subject{Number: state.Pull.Number, Head: d.Subject.Head, Digest: d.Subject.Digest}
		return c, post.CheckHead(drafted, d.Thread, r.againCommand(state.Pull.Ref), driver.PullNow(c))
	case d.Subject.Head == "":
		return r.withConfig(ingest.Change{Name: d.Name, Thread: d.Thread, Files: state.Files, Config: d.Config}, nil)
	}
	if c, err = r.readRange(ctx, d.Name); err != nil {
		return c, err
	}
	if c.Thread != d.Thread || c.Digest() != d.Subject.Digest {
		return c, problem.Refuse(9, "the range has changed since this draft was made",
			"revise in the clone and at the commits of the draft, or review the range again", problem.At(d.Name))
	}
	return c, nil
}
