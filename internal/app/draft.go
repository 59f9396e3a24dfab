package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/triage"
	"github.com/org/pr-review-action/internal/wire"
)

// review is the drafting job: it stops at the gate with the checkpoint in an
// artifact.
func (j *job) review(ctx context.Context) (report, error) {
	if j.event.Name == "merge_group" {
		return j.skipped("the merge queue's runs are not reviewed"), nil
	}
	approvals, err := j.gateRules(ctx)
	if err != nil {
		return report{}, err
	}
	reviewer, err := j.NewReviewer(j.Settings, nil)
	noModelYet := err
	if reviewer != nil && reviewer.Rules && j.Provider != "offline" {
		noModelYet = problem.Usage(wire.NoModel, "set api-key (or base-url for an endpoint without one) for a review by a model, or provider: offline for one by rules")
	}
	change, err := ingest.Pull(ctx, j.api, j.ref, ingest.PullOptions{Instance: j.Instance, Config: j.Config, MaxChanges: triage.MaxChanges})
	if err != nil {
		return report{}, err
	}
	reason, err := j.admit(ctx, change)
	if err == nil && reason == "" {
		err = j.chooseEnvironment(ctx, change)
	}
	switch {
	case err != nil:
		return report{}, err
	case reason != "":
		return undrafted(change, reviewpr.Skipped, "", reason), nil
	case noModelYet == nil:
		return j.draft(ctx, change, reviewer, approvals)
	case j.event.Name == "pull_request" && change.Pull.Fork():
		return j.skipped("a fork's pull request gets no secrets on pull_request, so there is no model to ask"), nil
	}
	return report{}, noModelYet
}

func (j *job) admit(ctx context.Context, c ingest.Change) (string, error) {
	event := triage.Event{
		Name: j.event.Name, Explicit: j.event.Name == "workflow_dispatch",
		Pushed: j.event.Action == "synchronize", Labeled: j.event.Label, Head: j.event.Head,
	}
	return triage.Admit(ctx, *c.Pull, event, c.Config.Admission, j.api)
}

// draft runs the graph up to the gate and stores what it parked. What is paid
// on the way is carried off from time to time, and once more when the job is
// cancelled.
func (j *job) draft(ctx context.Context, change ingest.Change, reviewer *wire.Reviewer, approvals []string) (report, error) {
	reviewer.Named(change.Config)
	before, err := j.before(ctx, change)
	if err != nil || before.done.Outcome != "" {
		return before.done, err
	}
	if err := reviewer.Prepare(ctx, wire.Brief{Change: change, Paid: before.paid, API: j.api, Workspace: j.getenv("GITHUB_WORKSPACE")}); err != nil {
		return report{}, err
	}
	for _, line := range reviewer.Expects(change, before.paid) {
		fmt.Fprintln(j.Stdout, guard.Line(line, maxLine))
	}
	if cmp.Or(j.MaxCostPerPull, change.Config.MaxCostPerPull) > 0 && !j.Protection.Keyed() {
		j.runner.Warning("max-cost-per-pull counts this run alone: what other runs have cost is believed under trust: seal or encrypt, which vouch for it")
	}
	reviewer.Linger, reviewer.Mute = lastAnswers, j.Summary == "counts"
	store := j.carried(change)
	flow, err := reviewpr.New(reviewpr.Steps{
		Ingest:   func(context.Context) (ingest.Change, error) { return change, nil },
		Reviewer: reviewer, Concurrency: j.Concurrency, Paid: before.paid, Deadline: j.deadline(j.Settings), Recall: j.recall(before.known), Stays: before.stays,
		Failed: reviewer.Failed,
	}, store, append(sealing(j.Protection), graph.WithClock(j.clock))...)
	if err != nil {
		return report{}, err
	}
	if _, err = flow.Run(ctx, change.Thread, reviewpr.State{Draft: j.drafting(ctx, change, reviewer, approvals, before)}); err != nil {
		return report{}, j.cutOff(ctx, store, err)
	}
	r, err := reportOf(ctx, flow, store, change.Thread, j.Protection)
	if err != nil {
		return report{}, j.cutOff(ctx, store, err)
	}
	r.explain(reviewer, j.runner.Warning)
	if r.Artifact == "" { // the results stay, for the next commit or attempt
		err := errors.Join(j.leave(ctx, r, store), store.Close(ctx, false))
		if r.Outcome == reviewpr.Clean {
			err = errors.Join(err, j.desk(r.state.Pull).Withdraw(ctx, before.drafts, j.now(), ""))
		}
		if err != nil {
			j.runner.Warning("what was paid or withdrawn could not be stored: " + explain(err))
		}
		return r, nil
	}
	if err := j.carriers().Own().Put(ctx, r.Artifact, r.packed.Zip); err != nil {
		return report{}, j.cutOff(ctx, store, fmt.Errorf("storing the draft: %w", err))
	}
	j.stored(ctx, &r, store, before)
	return r, nil
}

// leave stores what a clean run has paid for. Of one that failed there is nothing
// to take over.
func (j *job) leave(ctx context.Context, r report, store *artifactstore.Store) error {
	if r.Outcome != reviewpr.Clean || r.Usage.Calls == 0 {
		return nil
	}
	return store.Flush(ctx)
}

// stored clears away what a stored draft replaces: the draft of before, which
// is a rival until then, and its own progress.
func (j *job) stored(ctx context.Context, r *report, store *artifactstore.Store, before before) {
	r.retained = j.retained(ctx, r.Artifact)
	if err := j.desk(r.state.Pull).Withdraw(ctx, before.drafts, j.now(), r.Code); err != nil {
		j.runner.Warning("the earlier draft of this commit could not be withdrawn, either may be decided: " + explain(err))
	} else if len(before.drafts) > 0 {
		r.withdrew = before.drafts[0].Code
	}
	if err := store.Close(ctx, true); err != nil {
		j.runner.Warning("progress that is not needed any more could not be deleted: " + explain(err))
	}
}

// A cancelled job has 7.5 s before GitHub asks again, and 2.5 s more before it
// kills: time for answers on their way, then for carrying off what was paid.
const (
	lastAnswers = 3 * time.Second
	grace       = 5 * time.Second
)

// cutOff carries off what an interrupted run has paid for.
func (j *job) cutOff(ctx context.Context, store *artifactstore.Store, why error) error {
	cancelled := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := errors.Join(store.Flush(ctx), store.Close(ctx, false))
	if !cancelled {
		return errors.Join(why, err)
	}
	next := "re-run the failed jobs: what was finished is stored and not paid again"
	if err != nil {
		next = "re-run the job; what was finished since progress was last stored is paid again: " + err.Error()
	}
	return problem.New("the job was cancelled before every file was read", "", next)
}

// sealing is how snapshots are sealed: under the key where drafts are.
func sealing(p checkpoint.Protection) []graph.RunOption {
	if !p.Keyed() {
		return nil
	}
	return []graph.RunOption{graph.WithKey(p.Key.Derive("graph snapshot"))}
}

// drafting are the facts of this job's draft.
func (j *job) drafting(ctx context.Context, change ingest.Change, r *wire.Reviewer, approvals []string, before before) reviewpr.Draft {
	d := j.facts(ctx, j.Settings, r)
	d.Web, d.Environment, d.Trust, d.Again, d.Dispatch = change.Pull.Web(), j.Environment, j.Protection.Trust, j.Anew, j.AllowDispatch
	d.RunID, d.RunAttempt, d.WorkflowRef, d.Approvals = j.env.RunID, j.env.RunAttempt, j.env.WorkflowRef, approvals
	if len(before.stays) > 0 {
		d.Withdrew, d.WithdrewBy = before.drafts[0].Code, j.by()
	}
	for _, replaced := range before.drafts {
		d.UsedIDs = max(d.UsedIDs, reviewpr.UsedIDs(replaced.Snapshot))
	}
	return d
}

// gateRules reads, before anything is paid, whether the named environment will
// ask anybody, and which approvals the run has already. Where none is named the
// second is read as far as the token may: a later job may still name one.
func (j *job) gateRules(ctx context.Context) ([]string, error) {
	if err := j.checkEnvironment(ctx); err != nil {
		return nil, err
	}
	approvals, err := j.api.Approvals(ctx, j.ref.Owner, j.ref.Repo, j.env.RunID)
	if j.Environment == "" && (errors.Is(err, github.ErrNoAccess) || errors.Is(err, github.ErrNotFound)) {
		err = nil
	}
	return gate.Keys(approvals), handoff.NeedsActions(err, "the run's approvals cannot be read")
}

// chooseEnvironment takes the environment that the base's path rules name, where
// an environment decides at all. It is checked before anything is paid.
func (j *job) chooseEnvironment(ctx context.Context, change ingest.Change) error {
	var paths []string
	for _, f := range change.Files {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	name := change.Config.EnvironmentFor(paths)
	if rules := change.Config.Environments; len(rules) > 0 && change.Unlisted > 0 {
		name = rules[0].Name // what GitHub does not list may be anything
	}
	if name != "" && j.Environment == "" {
		j.runner.Warning("the settings name an environment for these files, and the input environment is empty: a dispatch decides this draft, by anybody who may write")
	}
	if name == "" || j.Environment == "" || name == j.Environment {
		return nil
	}
	j.Environment = name
	return j.checkEnvironment(ctx)
}

// checkEnvironment refuses one whose approval nobody would be asked for.
func (j *job) checkEnvironment(ctx context.Context) error {
	if j.Environment == "" {
		return nil
	}
	env, err := j.api.Environment(ctx, j.ref.Owner, j.ref.Repo, j.Environment)
	var what string
	switch {
	case errors.Is(err, github.ErrNotFound):
		what = "does not exist"
	case err == nil && env.Reviewers == 0:
		what = "has no required reviewers"
	default:
		return handoff.NeedsActions(err, fmt.Sprintf("the rules of the environment %q cannot be read", j.Environment))
	}
	return problem.As(problem.Misuse, problem.New(fmt.Sprintf("the environment %q %s, so nobody would be asked", j.Environment, what), j.ref.FullName()+", Settings, Environments",
		`add required reviewers there; on a private repository without Enterprise use the dispatch route: README, "Deciding by dispatch"`), "")
}

func (j *job) skipped(reason string) report {
	return report{Outcome: reviewpr.Skipped, Message: reason}
}
