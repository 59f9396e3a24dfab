package app

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/artifact"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
)

// job is one run of the action.
type job struct {
	*app
	settings.Settings
	env    action.Env
	event  action.Event
	runner *action.Runner
	ref    pull.Ref
	api    *github.Client
	store  *artifact.Client // nil where the runner gives none
	began  time.Time

	runs *handoff.Runs
	ours *ours
	void []string // approvals that decided nothing: who, and why
}

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

// setUp reads inputs and event and makes the clients. Nothing is sent yet.
func (j *job) setUp() error {
	given, err := action.Inputs(j.Environ, settings.Names(), config.Nearest)
	if err != nil {
		return problem.As(problem.Misuse, err, "")
	}
	for _, secret := range []string{given["github-token"], given["api-key"], given["checkpoint-key"], j.getenv("OPENAI_API_KEY"), j.env.RuntimeToken} {
		j.runner.Mask(secret)
	}
	if err := errors.Join(j.Apply(given), j.InRepository()); err != nil {
		return err
	}
	if err := errors.Join(j.Settle(j.env.RetentionDays), j.Protection.Check()); err != nil {
		return problem.As(problem.Misuse, err, "")
	}
	if _, given := given["checkpoint-key"]; given && !j.Protection.Keyed() {
		j.runner.Warning("checkpoint-key is set and trust is digest, so the key protects nothing: set trust: seal or encrypt in both jobs")
	}
	if j.Sarif != "" && !filepath.IsLocal(j.Sarif) {
		return problem.Usage(fmt.Sprintf("sarif: %q is not a file in the workspace", j.Sarif), "name it from the workspace's top, such as results.sarif")
	}
	if j.event, err = action.ReadEvent(j.env); err != nil {
		return problem.As(problem.Misuse, err, "")
	}
	if err := j.setRef(); err != nil {
		return err
	}
	return j.connect()
}

// setRef finds which pull request the job is about: the input, else the event.
func (j *job) setRef() error {
	owner, repo, err := pull.ParseRepository(j.env.Repository)
	if err != nil {
		return problem.As(problem.Misuse, fmt.Errorf("GITHUB_REPOSITORY: %w", err), "")
	}
	j.ref = pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: repo, Number: j.PullRequest}.On(j.env.ServerURL)
	if j.ref.Number == 0 {
		j.ref.Number = j.event.Number
	}
	if j.ref.Number == 0 && j.event.Name != "merge_group" {
		return problem.Usage(fmt.Sprintf("the event %q names no pull request", j.event.Name), "set the input pull-request")
	}
	return nil
}

// carriers are what carries this job's checkpoints.
func (j *job) carriers() wire.Carriers {
	return wire.Carriers{Settings: j.Settings, Ref: j.ref, Env: j.env, Runtime: j.store}
}

func (j *job) connect() error {
	var err error
	if j.api, err = j.GitHub(j.ref, j.Settings); err != nil {
		return err
	}
	j.runs = newRuns(j.api, j.ref, j.event.Name, j.DraftWorkflow, j.DecideWorkflow, workflowFile(j.env.WorkflowRef))
	j.ours = j.reviews(j.Settings, j.api, j.runs)
	if j.CheckpointDir != "" {
		j.ours.folder = j.carriers().Own()
	}
	j.runs.Own = j.env.RunID
	j.store, err = artifact.New(artifact.Options{
		ResultsURL: j.env.ResultsURL, Token: j.env.RuntimeToken, ServerURL: j.env.ServerURL,
		HTTP: j.Client(j.Settings, artifact.Retry), MaxRetention: j.env.RetentionDays, Now: j.Now,
	})
	switch {
	case j.CheckpointDir != "" && (errors.Is(err, artifact.ErrUnsupported) || errors.Is(err, artifact.ErrNoRuntime)):
		j.store = nil
		return nil // the folder carries the draft
	case errors.Is(err, artifact.ErrUnsupported):
		return problem.Usage(err.Error(), "set checkpoint-dir there, and carry that folder between the jobs with artifact steps of your own")
	case errors.Is(err, artifact.ErrNoRuntime) && slices.Contains([]string{"resume", "record", "mark"}, j.Mode):
		return nil // the draft may still be had from the API
	case err != nil:
		return problem.As(problem.Misuse, err, "")
	}
	return nil
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
			fmt.Fprintln(j.Stdout, guard.Line(strings.Join(strings.Fields(r.Outcome+" "+r.Thread+" "+r.ReviewURL+" "+r.Message), " "), maxLine))
			return 0
		}
	}
	j.runner.Error(explain(err))
	return exitCode(err)
}

const maxLine = 1000 // characters of the log's last line

// about names what the job is about where it did not come to read it.
func (j *job) about() string {
	if j.ref.Number == 0 {
		return j.event.Name
	}
	return fmt.Sprintf("#%d", j.ref.Number)
}

// outcomeOfError is the outcome of a run that an error ended. A configuration
// that cannot work has none.
func outcomeOfError(err error) string {
	switch whole, ok := errors.AsType[*problem.Error](err); {
	case ok && whole.Expired:
		return expired
	case exitCode(err) == exitRefused:
		return refused
	case exitCode(err) == exitUsage:
		return ""
	}
	return reviewpr.Failed
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
	end := render.Ending{Outcome: r.Outcome, Reason: r.Message, Page: r.ReviewURL, Record: r.state.Decision, Changes: r.changes, Counts: j.Summary == "counts", Reuses: j.Protection.Keyed(), Void: void}
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
	decide := fmt.Sprintf("%s -f code=%s -f checkpoint-digest=%s -f decision=", dispatch(j.DecideWorkflow, j.ref, j.ref.Number), r.Code, r.Digest)
	d.Dispatch, d.DispatchAbort = decide+"approve", decide+"abort"
	return d
}

// dispatch is the command that starts a workflow for a pull request.
func dispatch(workflow string, ref pull.Ref, number int) string {
	return fmt.Sprintf("gh workflow run %s --repo %s -f pull-request=%d", path.Base(workflow), ref.FullName(), number)
}
