package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/linter"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wire"
)

// review runs the drafting job: it stops at the gate and leaves the checkpoint in an
// artifact.
func (j *job) review(ctx context.Context) (driver.Report, error) {
	if j.event.Name == "merge_group" {
		return driver.Report{Outcome: reviewpr.Skipped, Message: "the merge queue's runs are not reviewed"}, nil
	}
	approvals, err := j.gateRules(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	reviewer, err := j.NewReviewer(j.Settings, nil)
	noModelYet := err
	if j.keyless {
		noModelYet = problem.Usage(wire.NoModel, "set api-key for a review by a model, in a workflow from a secret of "+
			"the environment that this job names (or base-url and provider: openai for an endpoint without a key), or "+
			"provider: offline for one by rules")
	}
	change, err := ingest.Open(ctx, j.api, j.ref, ingest.PullOptions{Instance: j.Instance, Config: j.File()})
	if err != nil {
		return driver.Report{}, err
	}
	j.warnOverruled(change.Config)
	reason, err := j.admit(ctx, change)
	switch {
	case err != nil:
		return driver.Report{}, err
	case reason != "":
		return j.reportUndrafted(ctx, change, reviewpr.Skipped, "", reason), nil
	case noModelYet == nil:
		j.tellUndecidable(j.origin(change), change.Pull.Fork())
		return j.draft(ctx, change, reviewer, approvals)
	}
	whom := j.WithModel(j.Getenv)
	if keyless := j.keyless || whom.Key == "" && whom.BaseURL == ""; change.Pull.Fork() &&
		(j.event.Name == "pull_request" || j.event.Name == "pull_request_target" && keyless) {
		r := driver.Report{Outcome: reviewpr.Skipped, Message: "this is a fork's pull request, and " + wire.NoModel +
			": a fork gets no secrets on pull_request, and on pull_request_target those of the job's environment"}
		j.addStanding(ctx, change, &r)
		return r, nil
	}
	return driver.Report{}, noModelYet
}

// tellUndecidable warns, before anything is paid for, of why check 4 will refuse a draft of
// this run, if it will.
func (j *job) tellUndecidable(o handoff.Origin, fork bool) {
	why := ""
	switch file := workflowFile(j.env.WorkflowRef); {
	case !slices.Contains(o.Events(), j.event.Name):
		why = fmt.Sprintf("it is of the event %q, and drafts come from %s", j.event.Name,
			strings.Join(o.Events(), ", "))
	case j.event.Name == "pull_request" && fork:
		why = "it is of a fork's pull request, which is drafted on pull_request_target or workflow_dispatch"
	case j.event.Name == "workflow_dispatch" && j.env.Ref != "refs/heads/"+o.Branch:
		why = "it was dispatched on " + j.env.Ref + ", and drafts come from " + o.Branch
	case j.Environment == "" && file != "" && file != j.DraftWorkflow:
		why = "this run is of " + file + ", and a dispatch decides drafts of " + j.DraftWorkflow +
			": name the file with draft-workflow, here and in the deciding job"
	default:
		return
	}
	j.warn("no draft of this run can be decided: " + why)
}

// warnOverruled warns of lines of the settings file that have no effect.
func (j *job) warnOverruled(c config.Config) {
	for _, line := range c.Overruled {
		j.warn(line)
	}
}

func (j *job) admit(ctx context.Context, c ingest.Change) (string, error) {
	event := triage.Event{
		Name: j.event.Name, Explicit: j.event.Name == "workflow_dispatch",
		Pushed: j.event.Action == "synchronize", Labeled: j.event.Label, Head: j.event.Head,
	}
	return triage.Admit(ctx, *c.Pull, event, c.Config.Admission, j.api)
}

// draft runs the graph up to the gate and stores the parked draft. Paid results are stored
// from time to time meanwhile, and once more if the job is cancelled.
func (j *job) draft(ctx context.Context, change ingest.Change, reviewer *wire.Reviewer,
	approvals []string) (driver.Report, error) {
	reviewer.NameModel(change.Config)
	earlier, err := j.readEarlierRuns(ctx, change)
	if err != nil || earlier.done.Outcome != "" {
		return earlier.done, err
	}
	if change.Config.CapPerPull > 0 && !j.Protection.Keyed() {
		j.warn("max-cost-per-pull counts only this run: what other runs have cost is believed under " +
			"trust: seal or encrypt, which vouch for it")
	}
	store := j.reviewStore(change)
	r, err := j.driver(store, change.Thread, reviewer).Draft(ctx, j.brief(change, earlier.paid),
		func(ctx context.Context) (ingest.Change, error) {
			return ingest.Files(ctx, j.api, change)
		}, reviewpr.Steps{
			Concurrency: j.Concurrency, Deadline: j.Deadline(j.Settings), Recall: j.recall(earlier.known),
			Stays: earlier.stays,
		}, func(c ingest.Change) (reviewpr.Draft, error) {
			err := j.chooseEnvironment(ctx, c)
			j.warnAlone(c.Pull.Author)
			return j.draftFacts(ctx, c, reviewer, approvals, earlier), err
		})
	if err != nil {
		return driver.Report{}, j.storeUnfinished(ctx, store, err)
	}
	if r.Artifact == "" { // keep the results for the next commit or attempt
		var err error
		if r.Outcome == reviewpr.Clean && r.Usage.Calls > 0 { // a failed run has nothing to reuse
			err = store.Flush(ctx)
		}
		err = errors.Join(err, store.Close(ctx, false))
		if r.Outcome == reviewpr.Clean {
			err = errors.Join(err, j.decisionsOn(r.State).Withdraw(ctx, earlier.drafts, j.newRecord(), ""))
		}
		if err != nil {
			j.warnOf("what was paid or withdrawn could not be stored", err)
		}
		return r, nil
	}
	return j.storeDraft(ctx, r, store, j.decisionsOn(r.State), earlier.drafts)
}

// driver returns the driver of a thread, and sets up the reviewer for a job.
func (j *job) driver(store graph.Store, thread string, r *wire.Reviewer) driver.Driver {
	r.Linger, r.Mute = driver.LastAnswers, j.Summary == "counts"
	return driver.Driver{
		Front: j.Front, Store: store, Thread: thread, Protect: j.Protection, Reviewer: r, Warn: j.warn,
		Tell: j.tell,
		Linters: linter.Source{Findings: j.Findings, Wait: j.FindingsWait, Dir: j.Getenv("GITHUB_WORKSPACE"),
			Within: true, Run: j.env.RunID},
	}
}

func (j *job) brief(change ingest.Change, paid reviewpr.Paid) wire.Brief {
	return wire.Brief{Change: change, Paid: paid, API: j.api, Workspace: j.Getenv("GITHUB_WORKSPACE"),
		Carried: j.carriers().CarriedIndex()}
}

// storeDraft stores a parked draft, and then removes what it replaces: earlier drafts, which
// could be decided until then, and its own progress.
func (j *job) storeDraft(ctx context.Context, r driver.Report, store *artifactstore.Store, decisions *handoff.Decisions,
	replaced []checkpoint.Draft) (driver.Report, error) {
	if err := j.carriers().Own().Put(ctx, r.Artifact, r.Packed.Zip); err != nil {
		return driver.Report{}, j.storeUnfinished(ctx, store, fmt.Errorf("storing the draft: %w", err))
	}
	r.Retained = j.artifactExpiry(ctx, r.Artifact)
	switch err := decisions.Withdraw(ctx, replaced, j.newRecord(), r.Code); {
	case problem.Check(err) == 13:
		j.warnOf("the earlier draft was decided while this one was made, and only one of them can be posted", err)
	case err != nil:
		j.warnOf("the earlier draft could not be withdrawn, either may be decided", err)
	case len(replaced) > 0:
		r.Withdrew = replaced[0].Code
	}
	j.deleteProgress(ctx, store)
	return r, nil
}

// deleteProgress deletes the stored progress of a run that has ended.
func (j *job) deleteProgress(ctx context.Context, store *artifactstore.Store) {
	if err := store.Close(ctx, true); err != nil {
		j.warnOf("progress that is not needed any more could not be deleted", err)
	}
}

// grace is the time for storing paid results, after driver.LastAnswers and before GitHub
// kills the job.
const grace = 5 * time.Second

// storeUnfinished stores what an interrupted run has paid for, and returns the error that ends the job.
func (j *job) storeUnfinished(ctx context.Context, store *artifactstore.Store, why error) error {
	cancelled := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := errors.Join(store.Flush(ctx), store.Close(ctx, false))
	if errors.Is(err, handoff.ErrNotRead) {
		err = nil
	}
	if !cancelled {
		return errors.Join(why, err)
	}
	next := "re-run the failed jobs: what was finished is stored and not paid again"
	if err != nil {
		next = "re-run the job; what was finished since progress was last stored is paid again: " + err.Error()
	}
	if j.isTicketJob() {
		return problem.New("the job was cancelled before its draft was ready", "", next)
	}
	return problem.New("the job was cancelled before every file was read", "", next)
}

// draftFacts returns the facts about this job's draft.
func (j *job) draftFacts(ctx context.Context, change ingest.Change, r *wire.Reviewer, approvals []string,
	earlier earlierRuns) reviewpr.Draft {
	d := j.Facts(ctx, j.Settings, r)
	d.Manifest = j.withRun(d.Manifest, approvals)
	d.Web, d.Again = change.Pull.Web(), earlier.again
	d.Withdrew, d.WithdrewBy = earlier.withdrew, earlier.withdrewBy
	for _, replaced := range earlier.drafts {
		d.UsedIDs = max(d.UsedIDs, reviewpr.UsedIDs(replaced.Snapshot))
	}
	return d
}

// withRun adds the facts about this run to a manifest, and the keys of its existing approvals.
func (j *job) withRun(m checkpoint.Manifest, approvals []string) checkpoint.Manifest {
	m.Trust, m.Environment, m.AllowDispatch, m.Approvals = j.Protection.Trust, j.Environment, j.AllowDispatch, approvals
	m.RunID, m.RunAttempt, m.WorkflowRef = j.env.RunID, j.env.RunAttempt, j.env.WorkflowRef
	return m
}
