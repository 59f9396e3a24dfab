package job

import (
	"context"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/trace"
)

// rejected is the job behind a deciding job that did not run: it notes who rejected
// the draft in the environment's dialog, and why. Where nobody did, the draft is
// as it was: a push withdrew it, or the deciding job's log says more.
func (j *job) rejected(ctx context.Context) (r driver.Report, err error) {
	approvals, err := j.answers(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	if _, any := gate.Rejection(approvals, nil, j.Environment); !any {
		return driver.Report{Outcome: driver.Paused, Message: undecidedYet}, nil
	}
	draft, err := j.verify(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	rejection, ok := gate.Rejection(approvals, draft.Manifest.Approvals, j.Environment)
	if !ok { // it was there before the draft
		return driver.Report{Outcome: driver.Paused, Message: undecidedYet}, nil
	}
	p, err := j.open(ctx, draft)
	if err != nil {
		return driver.Report{}, err
	}
	ctx, span := trace.Run(trace.Continue(ctx, p.state.Draft.Trace), "record", j.began)
	defer func() { j.EndRun(span, j.ref, r, j.began, err) }()
	_, gated := trace.Gate(ctx)
	gated.Decided(string(decision.Abort), nil)
	return j.carryOut(ctx, p, j.rejection(draft.Draft, rejection))
}

// answers are how people answered in this run for the environments that it waited for.
func (j *job) answers(ctx context.Context) ([]github.Approval, error) {
	if !j.routeA() {
		return nil, problem.Usage("the input environment is missing",
			"mode record notes how that environment answered; a dispatch is on record by itself")
	}
	if err := j.checkRoute(); err != nil {
		return nil, err
	}
	return j.approvals(ctx, j.env.RunID)
}

// rejection is what goes on record of a draft that somebody rejected.
func (j *job) rejection(o checkpoint.Draft, by github.Approval) decision.Answer {
	d := decision.Decision{Verdict: decision.Abort, Note: by.Comment}
	record := decision.Record{Thread: o.Manifest.Thread, Digest: o.Digest, Code: o.Code, At: j.Clock(),
		By: by.User, Via: decision.ByApproval}
	return decision.Answer{Decision: d, Record: record.With(d)}
}

const undecidedYet = "nobody has rejected this draft: a push withdrew it, or the log of the deciding job says why " +
	"it is not posted"
