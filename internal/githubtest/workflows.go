package githubtest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/runner"
)

// Workflows holds what Actions keeps of a repository. Its methods take the lock.
type Workflows struct {
	environments
	runner.Cache

	repo     *Repo
	runs     map[int64]*Run
	policies []object // Actions policies, as the API gives them
}

// AddRun starts a workflow run, attempt 1.
func (w *Workflows) AddRun(o RunOptions) *Run {
	return fakehttp.Get(w.repo.Host, func() *Run { return w.start(o) })
}

func (w *Workflows) start(o RunOptions) *Run {
	run := newRun(w.repo, &w.environments, o)
	w.runs[run.ID] = run
	return run
}

// Run returns a run by id; nil if there is none.
func (w *Workflows) Run(id int64) *Run {
	return fakehttp.Get(w.repo.Host, func() *Run { return w.runs[id] })
}

func workflowRoutes() []route[Workflows] {
	const environment, actions = repoPath + "/environments/{environment_name}", repoPath + "/actions"
	const policies = environment + "/deployment-branch-policies"
	const workflow = actions + "/workflows/{workflow_id}"
	read, admin := []string{"actions:read"}, []string{"administration:admin"}
	return []route[Workflows]{
		{"GET", environment, read, ofEnvironment((*environments).get)},
		{"PUT", environment, admin, (*Workflows).put},
		{"GET", policies, read, ofEnvironment((*environments).listPolicies)},
		{"POST", policies, admin, ofEnvironment((*environments).addPolicy)},
		{"GET", environment + "/secrets", []string{"environments:write"}, ofEnvironment((*environments).listSecrets)},
		{"GET", actions + "/policies", admin, (*Workflows).listPolicies},
		{"POST", actions + "/policies", admin, (*Workflows).addPolicy},
		{"GET", actions + "/policies/{policy_id}", admin, (*Workflows).getPolicy},
		{"GET", workflow + "/runs", read, (*Workflows).listRuns},
		{"POST", workflow + "/dispatches", []string{"actions:write"}, (*Workflows).dispatch},
		{"GET", actions + "/artifacts", read, (*Workflows).listArtifacts},
		{"GET", actions + "/artifacts/{artifact_id}/{archive_format}", read, (*Workflows).download},
	}
}

// AddActionsPolicy adds an Actions policy in the API's form.
func (w *Workflows) AddActionsPolicy(p map[string]any) {
	fakehttp.Do(w.repo.Host, func() { w.addActionsPolicy(p) })
}

func (w *Workflows) addActionsPolicy(p object) object {
	p["id"], p["target"], p["source_type"], p["source"] = w.repo.Host.NextID(), "actions", "Repository", w.repo.Name
	w.policies = append(w.policies, p)
	return p
}

// listPolicies lists the policies without what they hold.
func (w *Workflows) listPolicies(c *call) answer {
	return fakehttp.Counted(c.Request, "policies", w.policies, func(p object) object {
		short := maps.Clone(p)
		delete(short, "conditions")
		delete(short, "rules")
		return short
	})
}

func (w *Workflows) addPolicy(c *call) answer {
	in := object{}
	c.Read(&in)
	return fakehttp.Created(w.addActionsPolicy(in))
}

func (w *Workflows) getPolicy(c *call) answer {
	for _, p := range w.policies {
		if fmt.Sprint(p["id"]) == c.PathValue("policy_id") {
			return fakehttp.OK(p)
		}
	}
	return fakehttp.NotFound()
}

func ofEnvironment(handle func(*environments, *call, *environment) answer) func(*Workflows, *call) answer {
	return func(w *Workflows, c *call) answer {
		if e := w.environments.all[c.PathValue("environment_name")]; e != nil {
			return handle(&w.environments, c, e)
		}
		return fakehttp.NotFound()
	}
}

func runRoutes() []route[Run] {
	const run = repoPath + "/actions/runs/{run_id}"
	read := []string{"actions:read"}
	return []route[Run]{
		{"GET", run, read, (*Run).get},
		{"GET", run + "/approvals", read, (*Run).listApprovals},
		{"GET", run + "/pending_deployments", read, (*Run).listPending},
		{"POST", run + "/pending_deployments", []string{"deployments:write"}, (*Run).decidePending},
		{"GET", run + "/artifacts", read, (*Run).listArtifacts},
	}
}

func (w *Workflows) artifacts() (all []*runner.Artifact) {
	for _, run := range w.runs {
		all = append(all, run.Kept...)
	}
	return all
}

func (w *Workflows) listArtifacts(c *call) answer { return runner.List(c.Request, w.artifacts()) }

// download needs a token even if the repository is public.
func (w *Workflows) download(c *call) answer {
	if c.Who.Kind == "none" {
		return c.Forbidden()
	}
	for _, a := range w.artifacts() {
		if fmt.Sprint(a.ID) == c.PathValue("artifact_id") {
			return a.Download(c.Request)
		}
	}
	return fakehttp.NotFound()
}

// listRuns lists the runs of a workflow, newest first, filtered by event, branch, head_sha and status.
func (w *Workflows) listRuns(c *call) answer {
	var found []*Run
	q := c.URL.Query()
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(w.runs))) {
		run := w.runs[id]
		has := func(name, value string) bool { return q.Get(name) == "" || q.Get(name) == value }
		if path.Base(run.options.Path) == c.PathValue("workflow_id") && has("event", run.options.Event) &&
			has("branch", run.options.HeadBranch) &&
			has("head_sha", run.options.HeadSHA) && (has("status", run.status) || has("status", run.result)) {
			found = append(found, run)
		}
	}
	return fakehttp.Counted(c.Request, "workflow_runs", found, (*Run).json)
}

// dispatch starts a run of a workflow file that the ref has. Its answer names the run, as return_run_details asks.
func (w *Workflows) dispatch(c *call) answer {
	var q struct {
		Ref    string
		Inputs map[string]string
	}
	c.Read(&q)
	file := ".github/workflows/" + c.PathValue("workflow_id")
	if w.repo.Resolve("").Mode(file) == "" {
		return fakehttp.NotFound()
	}
	tip := w.repo.Resolve(q.Ref)
	if tip == nil {
		return fakehttp.Unprocessable("No ref found for: " + q.Ref)
	}
	if why := dispatchRefusal(tip.Tree[file], q.Inputs); why != "" {
		return fakehttp.Unprocessable(why)
	}
	run := w.start(RunOptions{Path: file, Event: "workflow_dispatch", HeadSHA: tip.SHA,
		HeadBranch: strings.TrimPrefix(q.Ref, "refs/heads/"), Actor: c.Who.User.Login})
	run.inputs, run.status = q.Inputs, "queued"
	v := run.json()
	return fakehttp.OK(object{"workflow_run_id": run.ID, "run_url": v["url"], "html_url": v["html_url"]})
}

// workflow is the part of a workflow file that a dispatch is checked against.
type workflow struct {
	On struct {
		Dispatch *struct {
			Inputs map[string]struct {
				Required bool     `yaml:"required"`
				Options  []string `yaml:"options"`
			} `yaml:"inputs"`
		} `yaml:"workflow_dispatch"`
	} `yaml:"on"`
}

// dispatchRefusal returns why a workflow accepts no dispatch with these inputs, or "".
func dispatchRefusal(text string, inputs map[string]string) string {
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil || w.On.Dispatch == nil {
		return "Workflow does not have 'workflow_dispatch' trigger"
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		in, known := w.On.Dispatch.Inputs[name]
		if !known || len(in.Options) > 0 && !slices.Contains(in.Options, inputs[name]) {
			return fmt.Sprintf("Unexpected inputs provided: [%q], or value '%s' not in the list of allowed values",
				name, inputs[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.On.Dispatch.Inputs)) {
		if w.On.Dispatch.Inputs[name].Required && inputs[name] == "" {
			return fmt.Sprintf("Required input '%s' not provided", name)
		}
	}
	return ""
}
