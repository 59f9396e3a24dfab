package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/wire"
)

// revise is the drafting job once more: it has the model revise the draft as the feedback
// asks, and stores the new draft in its place. It cannot post.
func (j *job) revise(ctx context.Context) (driver.Report, error) {
	if err := j.checkFeedback(); err != nil {
		return driver.Report{}, err
	}
	reviewer, err := j.NewReviewer(j.Settings, nil)
	if err != nil {
		return driver.Report{}, err
	}
	approvals, err := j.gateRules(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	g, err := j.reviewed(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	return g.revise(ctx, func(s reviewpr.State) error {
		return cmp.Or(driver.MayRevise(reviewer, s.Draft), gate.CheckRounds(len(s.Rounds)))
	}, func(ctx context.Context, o *handoff.Draft[reviewpr.State], answer decision.Answer) (driver.Report, error) {
		change, before, err := j.unchanged(ctx, o)
		if err == nil {
			err = j.chooseEnvironment(ctx, change)
		}
		if err != nil {
			return driver.Report{}, err
		}
		r, err := j.redraft(ctx, o, change, before, reviewer, approvals, answer)
		r.Changes = g.changes
		return r, err
	})
}

func (j *job) checkFeedback() error {
	// It is kept with the draft, so it holds no credential.
	j.Feedback = strings.TrimSpace(strings.TrimPrefix(decision.ReviseCommand(secret.Redact(j.Feedback)), "/revise"))
	switch {
	case j.Digest == "" && j.Code == "":
		return problem.Usage("the input code is missing",
			"pass the code of the draft that is to be revised, from its summary")
	case j.Digest != "" && j.Code != "" && !strings.HasPrefix(j.Digest, j.Code):
		return problem.Usage("code and checkpoint-digest name different drafts", "pass one of them")
	case j.Feedback == "":
		return problem.Usage("the input feedback is missing", "say what the next draft should do differently")
	case len(j.Feedback) > decision.MaxFeedback:
		return problem.Usage(fmt.Sprintf("the feedback has %d bytes, more than %d", len(j.Feedback),
			decision.MaxFeedback), "say it shorter")
	case j.Decision != "" || strings.TrimSpace(j.Commands) != "":
		return problem.Usage("decision and commands have no place in mode revise",
			"decide about the new draft, by its own code")
	case j.Anew:
		return problem.Usage("again: true drafts without the draft that is to be revised",
			"leave one of again and feedback out")
	case j.event.Name != "workflow_dispatch":
		return problem.Usage("feedback comes by workflow_dispatch alone",
			"dispatch the review workflow with pull-request, code and feedback")
	}
	return nil
}

// unchanged reads the change again, with what the model may look at, and what was
// paid for. It refuses a commit that was decided, and a change that has moved.
func (j *job) unchanged(ctx context.Context, p *handoff.Draft[reviewpr.State]) (ingest.Change, before, error) {
	change, err := ingest.Pull(ctx, j.api, j.ref, ingest.PullOptions{Instance: j.Instance, Config: j.File()})
	if err == nil {
		err = post.CheckHead(p.Manifest.Subject, p.Code, driver.PullNow(change))
	}
	if err != nil {
		return ingest.Change{}, before{}, err
	}
	b, err := j.before(ctx, change)
	if err == nil && b.done.Outcome != "" {
		err = problem.Refuse(13, "this commit was decided before, so nothing is left to revise",
			"push a commit for a new review", problem.At(cmp.Or(b.done.ReviewURL, p.Manifest.Thread)))
	}
	b.drafts = []checkpoint.Draft{p.Draft}
	return change, b, err
}

// redraft runs the graph from the answer to the next gate, and stores what it
// parked there. Progress is carried off as a first draft's is.
func (j *job) redraft(ctx context.Context, p *handoff.Draft[reviewpr.State], change ingest.Change, before before,
	r *wire.Reviewer, approvals []string, answer decision.Answer) (driver.Report, error) {
	r.Named(change.Config)
	store := j.carried(change)
	if err := store.Prime(ctx, change.Thread, graph.Saved{Snapshot: p.Snapshot}, 0, ""); err != nil {
		return driver.Report{}, err
	}
	b := j.brief(change, before.paid)
	b.Revises = &p.State.Usage
	after, err := j.driver(store, change.Thread, r).Revise(ctx, b, reviewpr.Steps{
		Concurrency: j.Concurrency, Deadline: j.Deadline(j.Settings),
		Revised: func(d reviewpr.Draft) reviewpr.Draft {
			d = driver.Redrafted(r, d, j.Facts(ctx, j.Settings, r), p.State.Usage)
			d.RunID, d.RunAttempt, d.WorkflowRef, d.Approvals = j.env.RunID, j.env.RunAttempt, j.env.WorkflowRef,
				approvals
			d.Environment, d.Dispatch = j.Environment, j.AllowDispatch
			return d
		},
	}, driver.AnswerTo(p.Manifest, answer))
	if err == nil && after.Artifact == "" {
		err = errors.New("storing the draft: the revision came to no draft")
	}
	if err == nil {
		err = j.put(ctx, after)
	}
	if err != nil {
		return driver.Report{}, j.cutOff(ctx, store, err)
	}
	after.Before = p.State.Usage.Cost
	j.stored(ctx, &after, store, before)
	return after, nil
}
