package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Run is a workflow run.
type Run struct {
	ID int64

	repo      *Repo
	options   RunOptions
	attempt   int
	number    int
	status    string
	result    string // conclusion
	trigger   string // who started the attempt; empty is the actor
	created   time.Time
	approvals []approval
	waiting   []string // environments
	cacheMode bool     // it may write to the cache
	inputs    map[string]string
}

// RunOptions of AddRun.
type RunOptions struct {
	ID         int64  // one is given by default
	Path       string // of the workflow file; .github/workflows/pr-review.yml
	Event      string // pull_request_target
	HeadBranch string // the default branch
	HeadSHA    string // its tip
	HeadRepo   *Repo  // the repository itself
	Actor      string // the owner
	Calls      string // a reusable workflow that the file calls, as owner/name/path@ref
}

type approval struct {
	environment, state, user, comment string
}

// environment of a repository.
type environment struct {
	id        int64
	name      string
	reviewers []string
	noSelf    bool
	branches  []string // the only ones admitted; nil for all
	secrets   []string // their names
}

// AddRun starts a workflow run, attempt 1.
func (r *Repo) AddRun(o RunOptions) *Run {
	defer r.s.lock()()
	return r.addRun(o)
}

func (r *Repo) addRun(o RunOptions) *Run {
	o.Path = or(o.Path, ".github/workflows/pr-review.yml")
	o.Event = or(o.Event, "pull_request_target")
	o.HeadBranch = or(o.HeadBranch, r.defaultBranch)
	o.HeadRepo = or(o.HeadRepo, r)
	o.Actor = or(o.Actor, r.Owner)
	if tip := r.resolve(o.HeadBranch); o.HeadSHA == "" && tip != nil {
		o.HeadSHA = tip.sha
	}
	if o.ID == 0 {
		o.ID = r.s.nextID()
	}
	run := &Run{ID: o.ID, repo: r, options: o, attempt: 1, number: len(r.runs) + 1, status: "in_progress",
		created: r.s.now()}
	r.runs[o.ID] = run
	return run
}

// Run finds a run by id; nil if there is none.
func (r *Repo) Run(id int64) *Run {
	defer r.s.lock()()
	return r.runs[id]
}

// Repo is the run's repository.
func (run *Run) Repo() *Repo { return run.repo }

// Attempt is the number of the current attempt.
func (run *Run) Attempt() int {
	defer run.repo.s.lock()()
	return run.attempt
}

// Rerun begins the next attempt as "Re-run failed jobs" does and answers its
// number. Approvals stay, and artifacts: by REST, and by the runtime protocol
// with Options.SharedAttempts.
func (run *Run) Rerun() int {
	defer run.repo.s.lock()()
	run.attempt++
	run.status, run.result = "in_progress", ""
	return run.attempt
}

// RerunAll begins the next attempt as "Re-run all jobs" does: the artifacts of
// earlier attempts are gone, also by REST. The cache stays.
func (run *Run) RerunAll() int {
	s := run.repo.s
	s.mu.Lock()
	s.artifacts = slices.DeleteFunc(s.artifacts, func(a *Artifact) bool { return a.run == run })
	s.mu.Unlock()
	return run.Rerun()
}

// Trigger names who started the attempt, where that is not the run's actor.
func (run *Run) Trigger(login string) {
	defer run.repo.s.lock()()
	run.trigger = login
}

// Finish ends the attempt with a conclusion: success, failure, cancelled.
func (run *Run) Finish(conclusion string) {
	defer run.repo.s.lock()()
	run.status, run.result, run.waiting = "completed", conclusion, nil
}

// AddEnvironment makes an environment or changes its rules. Without reviewers
// it has no rule at all, as one that a run made by naming it. @slug is a team.
func (r *Repo) AddEnvironment(name string, reviewers ...string) {
	defer r.s.lock()()
	for _, login := range reviewers {
		if !strings.HasPrefix(login, "@") {
			r.s.user(login)
		}
	}
	r.environment(name).reviewers = reviewers
}

func (r *Repo) environment(name string) *environment {
	if r.environments[name] == nil {
		r.environments[name] = &environment{id: r.s.nextID(), name: name}
	}
	return r.environments[name]
}

// PreventSelfReview sets that rule of an environment.
func (r *Repo) PreventSelfReview(name string) {
	defer r.s.lock()()
	r.environment(name).noSelf = true
}

// Wait makes a job of the run wait for an environment's approval.
func (run *Run) Wait(environment string) {
	defer run.repo.s.lock()()
	run.repo.environment(environment)
	run.waiting = append(run.waiting, environment)
	run.status = "waiting"
}

// Approve records an approval of an environment, with its comment.
func (run *Run) Approve(environment, login, comment string) {
	run.Decide(environment, "approved", login, comment)
}

// Reject records a rejection.
func (run *Run) Reject(environment, login, comment string) {
	run.Decide(environment, "rejected", login, comment)
}

// Decide records a decision in a state: approved, rejected or pending.
func (run *Run) Decide(environment, state, login, comment string) {
	defer run.repo.s.lock()()
	run.decide(environment, state, login, comment)
}

func (run *Run) decide(environment, state, login, comment string) {
	run.repo.environment(environment)
	run.repo.s.user(login)
	run.approvals = append(run.approvals, approval{environment, state, login, comment})
	run.waiting = slices.DeleteFunc(run.waiting, func(e string) bool { return e == environment })
	run.status = "in_progress"
	if state == "rejected" {
		run.status, run.result = "completed", "failure"
	}
}

func ofRun(handle func(*call, *Run) answer) func(*call) answer {
	return func(c *call) answer {
		for id, run := range c.repo.runs {
			if fmt.Sprint(id) == c.PathValue("run_id") {
				return handle(c, run)
			}
		}
		return notFound()
	}
}

func (run *Run) json() object {
	o, r := run.options, run.repo
	actor := r.s.user(o.Actor).json()
	v := object{
		"id": run.ID, "name": path.Base(o.Path), "path": o.Path, "event": o.Event, "status": run.status,
		"conclusion": null(run.result), "run_number": run.number,
		"run_attempt": run.attempt, "head_branch": o.HeadBranch, "head_sha": o.HeadSHA, "actor": actor,
		"triggering_actor": r.s.user(or(run.trigger, o.Actor)).json(),
		"repository":       r.json(), "head_repository": o.HeadRepo.json(), "head_repository_id": o.HeadRepo.ID,
		"created_at": run.created,
		"html_url":   fmt.Sprintf("%s/%s/actions/runs/%d", r.s.WebURL, r.FullName(), run.ID),
		"url":        fmt.Sprintf("%s/repos/%s/actions/runs/%d", r.s.URL, r.FullName(), run.ID),
	}
	if o.Calls != "" { // path stays the caller's
		v["referenced_workflows"] = []object{{"path": o.Calls, "sha": strings.Repeat("c", 40), "ref": "refs/tags/v1"}}
	}
	return v
}

func getRun(_ *call, run *Run) answer { return ok(run.json()) }

// listRuns has the runs of a workflow, newest first, filtered by event,
// branch, head_sha and status.
func listRuns(c *call) answer {
	var found []*Run
	q := c.URL.Query()
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(c.repo.runs))) {
		run := c.repo.runs[id]
		has := func(name, value string) bool { return q.Get(name) == "" || q.Get(name) == value }
		if path.Base(run.options.Path) == c.PathValue("workflow_id") && has("event", run.options.Event) &&
			has("branch", run.options.HeadBranch) &&
			has("head_sha", run.options.HeadSHA) && (has("status", run.status) || has("status", run.result)) {
			found = append(found, run)
		}
	}
	return counted(c, "workflow_runs", found, (*Run).json)
}

// counted answers a page of a list inside an object with its total.
func counted[T any](c *call, name string, items []T, f func(T) object) answer {
	shown, h := page(c, items, 0)
	return ok(object{"total_count": len(items), name: list(shown, f)}).with(h)
}

func (e *environment) short() object { return object{"id": e.id, "name": e.name} }

func (e *environment) reviewerList(s *Server) []object {
	return list(e.reviewers, func(name string) object {
		if slug, team := strings.CutPrefix(name, "@"); team {
			return object{"type": "Team", "reviewer": object{"id": e.id, "name": slug, "slug": slug}}
		}
		return object{"type": "User", "reviewer": s.user(name).json()}
	})
}

func (e *environment) json(r *Repo) object {
	v := e.short()
	rules := []object{}
	if len(e.reviewers) > 0 {
		rules = append(rules, object{"id": e.id, "type": "required_reviewers",
			"prevent_self_review": e.noSelf, "reviewers": e.reviewerList(r.s)})
	}
	v["protection_rules"] = rules
	v["deployment_branch_policy"] = nil
	if e.branches != nil {
		v["deployment_branch_policy"] = object{"protected_branches": false, "custom_branch_policies": true}
		v["protection_rules"] = append(rules, object{"id": e.id, "type": "branch_policy"})
	}
	return v
}

func getEnvironment(c *call) answer {
	if e := c.repo.environments[c.PathValue("environment_name")]; e != nil {
		return ok(e.json(c.repo))
	}
	return notFound()
}

func listApprovals(c *call, run *Run) answer {
	return ok(list(run.approvals, func(a approval) object {
		e := c.repo.environment(a.environment).short()
		e["created_at"], e["updated_at"] = run.created, run.created
		return object{"environments": []object{e}, "state": a.state, "user": c.s.user(a.user).json(),
			"comment": a.comment}
	}))
}

func (run *Run) mayDecide(e *environment, who *identity) bool {
	return who.kind == "user" && slices.Contains(e.reviewers, who.user.Login) &&
		!(e.noSelf && who.user.Login == run.options.Actor)
}

func listPending(c *call, run *Run) answer {
	return ok(list(run.waiting, func(name string) object {
		e := c.repo.environment(name)
		return object{"environment": e.short(), "wait_timer": 0, "wait_timer_started_at": nil,
			"current_user_can_approve": run.mayDecide(e, c.who), "reviewers": e.reviewerList(c.s)}
	}))
}

// decidePending approves or rejects what waits, as one of the reviewers.
func decidePending(c *call, run *Run) answer {
	var q struct {
		IDs     []int64 `json:"environment_ids"`
		State   string  `json:"state"`
		Comment string  `json:"comment"`
	}
	c.read(&q)
	var decided []*environment
	for _, name := range run.waiting {
		if e := c.repo.environment(name); slices.Contains(q.IDs, e.id) {
			decided = append(decided, e)
		}
	}
	if len(decided) != len(q.IDs) {
		return refusal(http.StatusUnprocessableEntity, "No pending deployment requests to approve or reject")
	}
	for _, e := range decided {
		if !run.mayDecide(e, c.who) {
			return refusal(http.StatusUnprocessableEntity,
				"There are no pending deployment requests that the current user can approve or reject")
		}
	}
	for _, e := range decided {
		run.decide(e.name, q.State, c.who.user.Login, q.Comment)
	}
	return ok(list(decided, func(e *environment) object {
		return object{"id": e.id, "sha": run.options.HeadSHA, "ref": run.options.HeadBranch, "environment": e.name,
			"task": "deploy", "payload": object{}, "description": nil}
	}))
}
