package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
)

// action is the process as a step of a workflow.
func (a *app) action(ctx context.Context) int {
	env, err := action.ReadEnv(a.getenv)
	j := &job{app: a, Settings: settings.Defaults(), env: env, runner: action.New(env, a.Stdout), began: a.Now()}
	var r report
	if err == nil {
		r, err = j.run(ctx)
	}
	return j.end(r, err)
}

func (j *job) run(ctx context.Context) (report, error) {
	if err := j.setUp(); err != nil {
		return report{}, err
	}
	ctx, over, err := j.Traced(ctx, j.Settings, "", j.runner.Warning)
	if err != nil {
		return report{}, err
	}
	defer over()
	switch j.Mode {
	case "resume":
		return j.deciding(ctx, j.resume)
	case "record":
		return j.deciding(ctx, j.rejected)
	case "revise":
		return j.revise(ctx)
	case "mark":
		return j.waits(ctx)
	}
	ctx, span := trace.Run(ctx, "review", j.began)
	r, err := j.review(ctx)
	span.End(err)
	return r, err
}

// end writes outputs, summary and annotation, and returns the exit code.
func (j *job) end(r report, err error) int {
	if err != nil {
		r.Outcome, r.Message = outcomeOfError(err), explain(err)
	}
	if r.state.Draft.Name == "" {
		r.state.Draft.Name = j.about()
	}
	if r.Outcome != "" {
		if writeErr := errors.Join(j.runner.SetOutputs(r.outputs(j.env.RunID)), j.summarize(r)); writeErr != nil {
			err = errors.Join(err, writeErr)
		}
	}
	if err == nil {
		if err = failure(r); err == nil {
			fmt.Fprintln(j.Stdout, guard.Line(strings.Join(strings.Fields(r.Outcome+" "+r.Thread+" "+r.ReviewURL+" "+
				r.Message), " "), maxLine))
			return 0
		}
	}
	j.runner.Error(explain(err))
	return exitCode(err)
}

// summarize writes the job summary.
func (j *job) summarize(r report) error {
	if r.parked() && r.Code != "" {
		return j.runner.Summary(render.Draft(r.state.Review(), j.howToDecide(r)))
	}
	void := j.void
	if r.Outcome == refused && len(void) == 1 {
		void = nil // it is the reason
	}
	end := render.Ending{Outcome: r.Outcome, Reason: r.Message, Page: r.ReviewURL, Record: r.state.Decision,
		Changes: r.changes, Counts: j.Summary == "counts", Reuses: j.Protection.Keyed(), Void: void}
	if r.Outcome == expired {
		end.Restart = dispatch(j.DraftWorkflow, j.ref, j.ref.Number)
	}
	return j.runner.Summary(render.End(r.state.Review(), end))
}

// howToDecide says how the draft is decided, for the job summary.
func (j *job) howToDecide(r report) render.Decide {
	d := render.Decide{
		Code: r.Code, Expires: r.packed.Manifest.ExpiresAt, Artifact: r.Artifact, Elapsed: j.Now().Sub(j.began),
		RetainedUntil: r.retained, Kept: r.Outcome == kept, Trust: j.Protection.Trust, Counts: j.Summary == "counts",
		Show:      fmt.Sprintf("pr-review-action show %s", quoted(j.ref.String())),
		Withdraws: r.withdrew, Extra: r.Usage.Cost - r.before,
	}
	if d.RetainedUntil.IsZero() {
		d.RetainedUntil = j.began.UTC().AddDate(0, 0, j.Retention)
	}
	if !r.state.Draft.Rules && len(r.state.Rounds) < gate.MaxRounds {
		d.Revise = j.revising(r.Code, "WHAT TO DO DIFFERENTLY")
	}
	if j.Environment != "" && r.Outcome == paused {
		d.Environment = j.Environment
		if !j.AllowDispatch {
			return d
		}
	}
	decide := fmt.Sprintf("%s -f code=%s -f checkpoint-digest=%s -f decision=",
		dispatch(j.DecideWorkflow, j.ref, j.ref.Number), r.Code, r.Digest)
	d.Dispatch, d.DispatchAbort = decide+"approve", decide+"abort"
	return d
}
