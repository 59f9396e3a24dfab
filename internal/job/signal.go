package job

import (
	"context"
	"errors"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
)

// deciding takes a decision on a review, and tells machines of it.
func (j *job) deciding(ctx context.Context) (driver.Report, error) {
	r, err := decides(ctx, j, j.reviewed)
	if err == nil && r.State.Decision != nil {
		j.closed(ctx, &r)
		j.signal(ctx, &r)
	}
	if check := problem.Check(err); j.Mark && (check == 11 || check == 12 || errors.As(err, new(*decision.Error))) {
		j.remark(ctx, err)
	}
	if j.Mark && driver.OutcomeOf(err) == driver.Expired {
		j.lapse(ctx)
	}
	return r, err
}

// closed looks whose threads were closed since the draft was made, or since the decision
// was carried out before: what they are about stands no more.
func (j *job) closed(ctx context.Context, r *driver.Report) {
	if len(r.Standing) == 0 && j.FailOn == "" {
		return
	}
	earlier, err := j.recall(nil)(ctx, ingest.Change{Pull: r.State.Pull, Files: r.State.Files,
		Unlisted: r.State.Draft.Unlisted})
	if r.CloseThreads(earlier); err != nil {
		j.warning("threads that were closed since the draft was made count as open", err)
	}
}

// signal tells machines what a decision kept: a SARIF file, a check run, the end
// of the mark that a draft waits. The decision is carried out by then, so what
// fails here is a warning; but for the file, which a later step reads: without it
// the job fails, posted or not.
func (j *job) signal(ctx context.Context, r *driver.Report) {
	ref, head := j.ref, r.State.Draft.Head
	if j.CheckRun && r.Outcome == reviewpr.Posted {
		_, err := write.New(j.api).CheckRun(ctx, ref, write.Check{
			Head: head, Instance: j.Instance, Thread: r.Thread, Digest: r.Digest, Review: r.ReviewURL,
			Findings: r.OpenFindings(), Covered: r.State.Covered(), FailOn: j.FailOn,
		})
		if err != nil {
			j.runner.Warning(driver.Explain(err))
		}
	}
	if j.Mark {
		if err := j.unmark(ctx, head, r.Outcome == reviewpr.Posted, r.ReviewURL); err != nil {
			j.warning("the mark that a draft waits could not be cleared", err)
		}
	}
	driver.Signal(j.Settings, r, j.Getenv("GITHUB_WORKSPACE"), j.runner.Warning)
}
