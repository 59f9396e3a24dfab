package githubtest

import (
	"cmp"
	"path"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/runner"
)

// Run is a workflow run. Its methods take the lock.
type Run struct {
	runner.Run

	repo         *Repo
	environments *environments
	options      RunOptions
	status       string
	result       string // conclusion
	trigger      string // who started the attempt
	created      time.Time
	approvals    []approval
	waiting      []string // environments
	inputs       map[string]string
}

// RunOptions configures AddRun.
type RunOptions struct {
	Path       string // of the workflow file; by default .github/workflows/pr-review.yml
	Event      string // by default pull_request_target
	HeadBranch string // by default the default branch
	HeadSHA    string // by default the branch's tip
	HeadRepo   *Repo  // by default the repository itself
	Actor      string // by default the owner
}

type approval struct {
	environment, state, user, comment string
}

func newRun(r *Repo, e *environments, o RunOptions) *Run {
	o.Path = cmp.Or(o.Path, ".github/workflows/pr-review.yml")
	o.Event = cmp.Or(o.Event, "pull_request_target")
	o.HeadBranch = cmp.Or(o.HeadBranch, defaultBranch)
	o.HeadRepo = cmp.Or(o.HeadRepo, r)
	o.Actor = cmp.Or(o.Actor, r.Owner)
	if tip := r.Resolve(o.HeadBranch); o.HeadSHA == "" && tip != nil {
		o.HeadSHA = tip.SHA
	}
	id := r.Host.NextID()
	by := object{"id": id, "repository_id": r.ID, "head_repository_id": o.HeadRepo.ID, "head_branch": o.HeadBranch,
		"head_sha": o.HeadSHA}
	scope := o.HeadBranch
	if o.Event == "pull_request" { // one of its own, which others do not read
		scope = "pull/" + o.HeadRepo.FullName() + "/" + o.HeadBranch
	}
	return &Run{repo: r, environments: e, options: o, trigger: o.Actor, status: "in_progress", created: r.Host.Now(),
		Run: runner.Run{Host: r.Host.Host, ID: id, RunAttempt: 1, By: by, Cache: &r.Cache, Scope: scope,
			ReadOnly: o.Event == "pull_request_target" || o.Event == "issue_comment"}}
}

func (run *Run) set(change func()) { fakehttp.Do(run.Host, change) }

// Rerun begins the next attempt as "Re-run failed jobs" does. Approvals stay, and so do artifacts: by REST, and by
// the runtime protocol with Options.SharedAttempts.
func (run *Run) Rerun() {
	run.set(func() {
		run.RunAttempt++
		run.status, run.result = "in_progress", ""
	})
}

// RerunAll begins the next attempt as "Re-run all jobs" does: earlier artifacts are gone by REST too, the cache stays.
func (run *Run) RerunAll() {
	run.set(func() { run.Kept = nil })
	run.Rerun()
}

// Trigger sets who started the attempt, if not the run's actor.
func (run *Run) Trigger(login string) { run.set(func() { run.trigger = login }) }

// Finish ends the attempt with a conclusion: success, failure, cancelled.
func (run *Run) Finish(conclusion string) {
	run.set(func() { run.status, run.result, run.waiting = "completed", conclusion, nil })
}

// WriteCache lets the run write to the cache whatever its event, like cache-mode: write in its workflow.
func (run *Run) WriteCache() { run.set(func() { run.ReadOnly = false }) }

// Inputs returns the inputs of a dispatched run; nil for another one.
func (run *Run) Inputs() map[string]string {
	return fakehttp.Get(run.Host, func() map[string]string { return run.inputs })
}

// Wait makes a job of the run wait for an environment's approval.
func (run *Run) Wait(environment string) {
	run.set(func() {
		run.environments.at(environment)
		run.waiting, run.status = append(run.waiting, environment), "waiting"
	})
}

// Approve records an approval of an environment, with its comment.
func (run *Run) Approve(environment, login, comment string) {
	run.Decide(environment, "approved", login, comment)
}

// Decide records a decision with a state: approved, rejected or pending.
func (run *Run) Decide(environment, state, login, comment string) {
	run.set(func() { run.decide(environment, state, login, comment) })
}

func (run *Run) decide(environment, state, login, comment string) {
	run.environments.at(environment)
	run.repo.Host.User(login)
	run.approvals = append(run.approvals, approval{environment, state, login, comment})
	run.waiting = slices.DeleteFunc(run.waiting, func(e string) bool { return e == environment })
	run.status = "in_progress"
	if state == "rejected" {
		run.status, run.result = "completed", "failure"
	}
}

func (run *Run) json() object {
	o, r := run.options, run.repo
	return object{
		"id": run.ID, "name": path.Base(o.Path), "path": o.Path, "event": o.Event, "status": run.status,
		"conclusion": fakehttp.Null(run.result), "run_attempt": run.RunAttempt,
		"head_branch": o.HeadBranch, "head_sha": o.HeadSHA,
		"actor": run.repo.Host.User(o.Actor).JSON(), "triggering_actor": run.repo.Host.User(run.trigger).JSON(),
		"repository": r.JSON(), "head_repository": o.HeadRepo.JSON(), "head_repository_id": o.HeadRepo.ID,
		"created_at": run.created,
		"html_url":   r.Page("/actions/runs/%d", run.ID), "url": r.Address("/actions/runs/%d", run.ID),
	}
}

func (run *Run) get(*call) answer { return fakehttp.OK(run.json()) }

func (run *Run) listArtifacts(c *call) answer { return runner.List(c.Request, run.Kept) }

func (run *Run) listApprovals(*call) answer {
	return fakehttp.OK(fakehttp.List(run.approvals, func(a approval) object {
		e := run.environments.at(a.environment).short()
		e["created_at"], e["updated_at"] = run.created, run.created
		return object{"environments": []object{e}, "state": a.state, "user": run.repo.Host.User(a.user).JSON(),
			"comment": a.comment}
	}))
}

func (run *Run) mayDecide(e *environment, who *identity) bool {
	return who.Kind == "user" && slices.Contains(e.Reviewers, who.User.Login) &&
		!(e.NoSelf && who.User.Login == run.options.Actor)
}

func (run *Run) listPending(c *call) answer {
	return fakehttp.OK(fakehttp.List(run.waiting, func(name string) object {
		e := run.environments.at(name)
		return object{"environment": e.short(),
			"current_user_can_approve": run.mayDecide(e, c.Who), "reviewers": e.reviewerList(run.repo.Host)}
	}))
}

func (run *Run) decidePending(c *call) answer {
	var q struct {
		IDs     []int64 `json:"environment_ids"`
		State   string  `json:"state"`
		Comment string  `json:"comment"`
	}
	c.Read(&q)
	var decided []*environment
	for _, name := range run.waiting {
		if e := run.environments.at(name); slices.Contains(q.IDs, e.id) {
			decided = append(decided, e)
		}
	}
	if len(decided) != len(q.IDs) {
		return fakehttp.Unprocessable("No pending deployment requests to approve or reject")
	}
	if slices.ContainsFunc(decided, func(e *environment) bool { return !run.mayDecide(e, c.Who) }) {
		return fakehttp.Unprocessable(
			"There are no pending deployment requests that the current user can approve or reject")
	}
	for _, e := range decided {
		run.decide(e.name, q.State, c.Who.User.Login, q.Comment)
	}
	return fakehttp.OK(fakehttp.List(decided, func(e *environment) object {
		return object{"id": e.id, "sha": run.options.HeadSHA, "ref": run.options.HeadBranch, "environment": e.name,
			"task": "deploy", "payload": object{}, "description": nil}
	}))
}
