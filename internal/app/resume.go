package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
)

// resume decides a parked draft of the local store.
func (a *app) resume(ctx context.Context, args []string, o *options) (err error) {
	if repository := o.next; repository != "" {
		o.next = ""
		return a.resumeNext(ctx, repository, args, o)
	}
	given, err := o.verdict()
	if err != nil {
		return err
	}
	began := a.Now()
	s, r, err := a.stored(ctx, args, "resume", o)
	if err != nil {
		return err
	}
	ctx, over, err := a.Traced(ctx, o.Settings, o.trace, a.warn)
	if err != nil {
		return err
	}
	defer over()
	ctx, span := trace.Run(trace.Continue(ctx, r.state.Draft.Trace), "resume", began)
	defer func() { span.End(err) }()
	switch {
	case r.revising():
		return a.finishRevision(ctx, s, r, given, o)
	case r.state.Decision != nil:
		return a.again(ctx, s, r, given, o)
	case r.parked():
		return a.decide(ctx, s, r, given, o)
	}
	return a.finish(r, o)
}

// again reports a decision that was taken before, and posts what it had
// approved where that did not happen. Another decision is refused.
func (a *app) again(ctx context.Context, s session, r report, given decision.Verdict, o *options) error {
	taken := r.state.Decision
	if (given != "" || o.text() != "") && differs(*taken, cmp.Or(given, decision.Approve), o.text(), r.state.Comments) {
		return problem.Refuse(13, "this draft was decided otherwise before", "a draft is decided once; push a new commit, or review this one anew with --again", problem.At(fmt.Sprintf("%s: %s by %s on %s", r.Thread, taken.Decision, taken.By, taken.At.Format("2 January 2006, 15:04 MST"))))
	}
	flow, err := reviewpr.New(a.posting(s, o), s.store)
	if err != nil {
		return err
	}
	if _, err := flow.Continue(ctx, s.thread); err != nil {
		return err
	}
	after, err := reportOf(context.WithoutCancel(ctx), flow, s.store, s.thread, checkpoint.Protection{})
	if err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintln(a.Stderr, guard.Text(handoff.DecidedFirst(*taken)))
	}
	return a.decided(after, o)
}

// differs reports whether a decision is another than the one that was taken.
func differs(taken decision.Record, given decision.Verdict, text string, comments []finding.Finding) bool {
	d, err := decision.Parse(text)
	if err == nil {
		d, err = d.Check(slices.DeleteFunc(slices.Clone(comments), func(f finding.Finding) bool { return f.Filtered != "" && f.Filtered != finding.Dropped }))
	}
	if err != nil || given != taken.Decision {
		return true
	}
	d.Verdict = given
	return !taken.Same(taken.With(d))
}

// graph prints the built graph as Mermaid.
func (a *app) graph(_ context.Context, args []string, _ *options) error {
	if len(args) > 1 || len(args) == 1 && args[0] != reviewpr.Name {
		return problem.Usage(fmt.Sprintf("unknown graph %q", strings.Join(args, " ")), "the graph is "+reviewpr.Name)
	}
	flow, err := reviewpr.New(reviewpr.Steps{}, graph.NewMemory())
	if err != nil {
		return err
	}
	fmt.Fprint(a.Stdout, flow.Mermaid())
	return nil
}

func (a *app) version(context.Context, []string, *options) error {
	fmt.Fprintln(a.Stdout, "pr-review-action", wire.Version())
	return nil
}
