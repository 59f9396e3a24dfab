package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/post"
)

// resume is the deciding job: it finds the draft, proves that it is the one
// that was shown, takes the decision and posts.
func (j *job) resume(ctx context.Context) (report, error) {
	if err := j.checkRoute(); err != nil {
		return report{}, err
	}
	if err := j.probe(ctx); err != nil {
		return report{}, err
	}
	opened, err := j.verify(ctx)
	if err != nil {
		return report{}, err
	}
	store := graph.NewMemory()
	if err := store.Save(ctx, opened.Manifest.Thread, opened.Snapshot); err != nil {
		return report{}, err
	}
	flow, err := reviewpr.New(reviewpr.Steps{Post: func(ctx context.Context, s reviewpr.State) (post.Posted, error) {
		return post.Review(ctx, j.api, write.New(j.api), request(s))
	}}, store)
	if err != nil {
		return report{}, err
	}
	answer, err := j.decide(ctx, flow, opened)
	if err != nil {
		return report{}, err
	}
	if err := j.checkRecords(ctx, opened, answer.Decision.Verdict); err != nil {
		return report{}, err
	}
	if _, err := flow.Resume(ctx, opened.Manifest.Thread, graph.Answer{Gate: opened.Manifest.GateID, Value: answer}); err != nil {
		return report{}, err
	}
	if err := j.record(ctx, answer.Record); err != nil {
		j.runner.Warning("the decision's record could not be stored: " + explain(err))
	}
	return reportOf(ctx, flow, store, opened.Manifest.Thread)
}

// routeA reports whether the decision is an environment's approval in this run;
// else it came by dispatch. Naming an environment is what asks for its
// approval, whatever else names the draft.
func (j *job) routeA() bool { return j.environment != "" }

func (j *job) checkRoute() error {
	switch {
	case j.digest != "" && j.code != "" && !strings.HasPrefix(j.digest, j.code):
		return usageError("code and checkpoint-digest name different drafts", "pass one of them")
	case j.digest == "" && j.code == "":
		return usageError("neither checkpoint-digest nor code says which draft is decided", "pass checkpoint-digest from the draft job's outputs, or code from the draft's summary")
	case j.routeA():
		return nil
	case j.event.Name != "workflow_dispatch":
		return usageError("the input environment is missing",
			"name the environment of this job, whose approval is the decision; without one a decision comes by workflow_dispatch alone")
	case j.decision == "":
		return usageError("the input decision is missing", "pass approve or abort")
	}
	return nil
}

// probe refuses a token that can be known to be unable to post.
func (j *job) probe(ctx context.Context) error {
	known, ok, err := j.api.CanWritePulls(ctx, j.ref.Owner, j.ref.Repo)
	if err != nil {
		return err
	}
	if known && !ok && j.decision != decision.Abort {
		return usage{problem("the token may not write reviews", j.ref.FullName(), "give the job pull-requests: write; the draft still waits")}
	}
	return nil
}

// decide takes the decision: the environment's approval, or the dispatch.
func (j *job) decide(ctx context.Context, flow *graph.Flow[reviewpr.State], o checkpoint.Opened) (gate.Answer, error) {
	view, err := flow.Inspect(ctx, o.Manifest.Thread)
	if err != nil {
		return gate.Answer{}, err
	}
	record := decision.Record{
		Thread: o.Manifest.Thread, Digest: o.Digest, Code: o.Code, At: j.Now().UTC().Truncate(time.Second),
		By: cmp.Or(j.env.TriggeringActor, j.env.Actor), Via: decision.ByDispatch,
	}
	text, fallback := j.commands, decision.Verdict("")
	approvals, err := j.approvals(ctx, o.Manifest.RunID)
	if err == nil {
		err = gate.Rejected(approvals, o.Manifest.Approvals, j.environment)
	}
	if err != nil {
		return gate.Answer{}, err
	}
	if j.routeA() {
		approval, err := gate.Approved(approvals, o.Manifest.Approvals, j.environment)
		if err != nil {
			return gate.Answer{}, err
		}
		text, fallback = strings.TrimSpace(approval.Comment+"\n"+j.commands), decision.Approve
		record.By, record.Via = approval.User, decision.ByApproval
	}
	d, err := gate.Decide(text, j.decision, fallback, gate.IDs(finding.Kept(view.State.Comments)), o.Manifest.ExpiresAt)
	return gate.Answer{Decision: d, Record: record.With(d)}, err
}

// approvals reads how the environments of the run that matters were answered:
// of this run where its approval is the decision, else of the one that made
// the draft.
func (j *job) approvals(ctx context.Context, made int64) ([]github.Approval, error) {
	if j.routeA() {
		made = j.env.RunID
	}
	approvals, err := j.api.Approvals(ctx, j.ref.Owner, j.ref.Repo, made)
	return approvals, needsActionsRead(err, "the run's approvals cannot be read")
}

// record keeps the decision as an artifact of the deciding run.
func (j *job) record(ctx context.Context, r decision.Record) error {
	if j.store == nil {
		return artifact.ErrNoRuntime
	}
	zip, err := checkpoint.PackRecord(r)
	if err != nil {
		return err
	}
	if _, err := j.store.Upload(ctx, checkpoint.DecisionArtifactName(r.Code), zip, j.retention); err != nil && !errors.Is(err, artifact.ErrExists) {
		return fmt.Errorf("storing the decision: %w", err)
	}
	return nil
}
