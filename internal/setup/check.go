package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/transport"
	"github.com/org/pr-review-action/internal/wording"
)

// Check is the result of looking at one thing.
type Check struct {
	What  string `json:"what"`
	State string `json:"state"` // ok, no, or unseen
	Found string `json:"found"` // what was found, for a person
	Next  string `json:"next"`  // what to do about it; may be empty

	there bool // what is looked at exists, in whatever state
}

// The states of a check.
const (
	ok     = "ok"
	no     = "no"
	unseen = "unseen"
)

// PrintChecks prints a line for each check, and below it what to do next unless it passed.
func PrintChecks(front *driver.Front, all []Check) {
	for _, k := range all {
		printWrapped(front.Stdout, k.State, 8, k.What+": "+k.Found)
		if k.Next != "" && k.State != ok {
			printWrapped(front.Stdout, "        next", 14, k.Next)
		}
	}
}

// Failed returns the error of the first failed check, or nil.
func Failed(all []Check) error {
	bad := slices.IndexFunc(all, func(k Check) bool { return k.State == no })
	if bad < 0 {
		return nil
	}
	return driver.Reported{Err: problem.Usage(all[bad].What+": "+all[bad].Found, all[bad].Next)}
}

// Online sends each model that the settings name a tiny request, if there is a key or an
// address to do so.
func Online(ctx context.Context, front *driver.Front, s settings.Settings, c config.Config) []Check {
	answered, err := front.Try(ctx, c, s)
	switch {
	case err != nil:
		return []Check{{What: "model", State: no, Found: driver.Gist(err), Next: nextStep(err)}}
	case answered == nil:
		return []Check{{What: "model", State: unseen, Found: "there is no key here to ask with (OPENAI_API_KEY)"}}
	}
	var all []Check
	for _, name := range slices.Sorted(maps.Keys(answered)) {
		k := Check{What: "model " + guard.Line(name, 100), State: ok, Found: "answers"}
		if err := answered[name]; err != nil {
			k.State, k.Found = no, driver.Gist(err)
			k.Next = cmp.Or(nextStep(err), "see that the server runs, and that base-url is its address")
		}
		all = append(all, k)
	}
	return all
}

// Token checks what the token may do in the repository that the clone around the working
// directory came from: read it, and post reviews, as far as GitHub shows that.
func Token(ctx context.Context, front *driver.Front, s settings.Settings) Check {
	k := Check{What: "token", State: unseen}
	ref, err := ingest.Origin(ctx, ".")
	if err != nil {
		k.Found = "this folder is not a clone of a repository to try it on"
		return k
	}
	k.What = "token for " + ref.FullName()
	api, err := front.GitHub(ref, s)
	var known, posts bool
	if err == nil {
		known, posts, err = api.CanWritePulls(transport.Brief(ctx, lookTime), ref.Owner, ref.Repo)
	}
	switch {
	case err == nil && !api.Authorized():
		k.Found = "there is none (GITHUB_TOKEN, such as $(gh auth token))"
	case err != nil:
		k.State, k.Found = no, driver.Gist(err)
		k.Next = cmp.Or(nextStep(err), "check that this machine can reach GitHub (HTTPS_PROXY), and run it again")
	case !known:
		k.State, k.Found = ok, "may read it; whether it may post reviews, only posting tells"
	case !posts:
		k.State, k.Found = ok, "may read it, and not post reviews: a workflow posts with its own token"
	default:
		k.State, k.Found = ok, "may read it and post reviews"
	}
	return k
}

// check checks everything that a review needs, as far as the token can see it.
func (c *Command) check(ctx context.Context, r *repository) error {
	own, err := r.settings()
	if err != nil {
		return err
	}
	within := transport.Brief(ctx, lookTime)
	draft, found := c.checkWorkflow(within, r, draftPath)
	all := []Check{r.checkBranch(), found}
	if draft != nil {
		if draft.environment("post") == "" {
			_, found := c.checkWorkflow(within, r, decidePath)
			all = append(all, found)
		}
		if events := draft.events(); r.needsPolicy() && slices.Contains(events, draftEvent) {
			all = append(all, r.checkEvent(within, events))
		}
		all = append(all, r.checkEnvironments(within, *draft, own)...)
	}
	all = append(append(all, r.checkLabel(within, own.Admission.Label)), Online(ctx, c.Front, c.Settings, own)...)
	if c.JSON {
		err = driver.PrintJSON(c.Stdout, map[string]any{"repository": r.ref.FullName(), "checks": all})
	} else {
		fmt.Fprintln(c.Stdout, guard.Text(r.about())+"\n")
		PrintChecks(c.Front, all)
	}
	if err != nil {
		return err
	}
	return Failed(all)
}

// jobs is the part of a workflow that the checks read.
type jobs struct {
	On   any `yaml:"on"`
	Jobs map[string]struct {
		Permissions any
		Environment any
		Uses        string // the workflow that the job calls
		With        map[string]any
	}
}

// events returns the names of the events that start the workflow.
func (j jobs) events() (all []string) {
	switch on := j.On.(type) {
	case map[string]any:
		all = slices.Sorted(maps.Keys(on))
	case []any:
		for _, name := range on {
			all = append(all, fmt.Sprint(name))
		}
	default:
		all = []string{fmt.Sprint(on)}
	}
	return all
}

// environment returns the name of a job's environment, also if it is given as an object. A
// workflow that calls the product's passes the name as an input.
func (j jobs) environment(job string) string {
	for _, calls := range j.Jobs {
		if name, given := calls.With["environment"]; given && job == "post" {
			return fmt.Sprint(name)
		} else if job == "post" && strings.Contains(calls.Uses, "/.github/workflows/review.yml@") {
			return gateEnvironment
		}
	}
	name := j.Jobs[job].Environment
	if object, is := name.(map[string]any); is {
		name = object["name"]
	}
	text, _ := name.(string)
	return text
}

// checkWorkflow checks a workflow file on the default branch, which is where GitHub reads it, and returns its jobs, nil
// if they cannot be read.
func (c *Command) checkWorkflow(ctx context.Context, r *repository, path string) (*jobs, Check) {
	k := Check{What: path}
	text, err := r.api.Content(ctx, r.ref.Owner, r.ref.Repo, path, r.branch, maxFile)
	switch {
	case errors.Is(err, github.ErrNotFound):
		k.State, k.Found, k.Next = no, "is not on "+r.branch, c.Name+" init writes it; commit and merge it there"
		return nil, k
	case err != nil:
		k.State, k.Found = unseen, r.reason(err)
		return nil, k
	}
	var is, wanted jobs
	if err := yaml.Unmarshal(text, &is); err != nil {
		k.State, k.Found, k.Next = no, "is not YAML", c.Name+" init --force writes it anew; commit and merge it there"
		return nil, k
	}
	shipped, err := c.shippedWorkflow(path)
	if err == nil {
		err = yaml.Unmarshal([]byte(shipped), &wanted)
	}
	if err != nil {
		k.State, k.Found = unseen, err.Error()
		return &is, k
	}
	k.State, k.Found = ok, "is on "+r.branch+", with the permissions that its jobs need"
	if lack := missingPermissions(is, wanted); len(lack) > 0 {
		k.State, k.Found, k.Next = no, "lacks permissions: "+strings.Join(lack, "; "), "put them in"
	}
	return &is, k
}

// missingPermissions lists the permissions that the jobs need and do not grant. It skips a job without
// its own permissions or with another name.
func missingPermissions(is, wanted jobs) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(wanted.Jobs)) {
		granted, own := is.Jobs[name].Permissions.(map[string]any)
		needed, _ := wanted.Jobs[name].Permissions.(map[string]any)
		for _, scope := range slices.Sorted(maps.Keys(needed)) {
			if own && granted[scope] != needed[scope] && granted[scope] != "write" {
				all = append(all, fmt.Sprintf("%s needs %s: %s", name, scope, needed[scope]))
			}
		}
	}
	return all
}

// checkEnvironments checks the environments that jobs and settings name. It skips names that only a run knows.
func (r *repository) checkEnvironments(ctx context.Context, draft jobs, own config.Config) (all []Check) {
	if name := draft.environment("post"); name != "" {
		for _, e := range append([]config.Environment{{Name: name}}, own.Environments...) {
			if !strings.Contains(e.Name, "${{") {
				_, k := r.checkGate(ctx, e.Name)
				all = append(all, k)
			}
		}
	}
	if name := draft.environment("draft"); name != "" && !strings.Contains(name, "${{") {
		_, k := r.checkModelEnvironment(ctx, name)
		if all = append(all, k); k.there {
			all = append(all, r.checkKey(ctx, name))
		}
	}
	return all
}

// checkGate checks an environment whose reviewers decide.
func (r *repository) checkGate(ctx context.Context, name string) (github.Environment, Check) {
	e, k := r.checkEnvironment(ctx, name)
	if k.State == ok {
		k.Found = wording.Count(e.Reviewers, "required reviewer")
		if e.Reviewers == 0 {
			k.State, k.Found, k.Next = no, "has no required reviewers: nobody could decide",
				"Settings, Environments, "+name
		}
	}
	return e, k
}

func (r *repository) checkEnvironment(ctx context.Context, name string) (github.Environment, Check) {
	if !r.seen {
		return github.Environment{}, Check{}
	}
	k := Check{What: "environment " + guard.Line(name, 255), State: ok}
	e, err := r.api.Environment(ctx, r.ref.Owner, r.ref.Repo, name)
	switch k.there = err == nil; {
	case errors.Is(err, github.ErrNotFound) && r.api.Authorized():
		k.State, k.Found, k.Next = no, "is not there", "init --apply makes it, or Settings, Environments"
	case err != nil:
		k.State, k.Found = unseen, r.reason(err)
	}
	return e, k
}

// checkModelEnvironment checks the environment that holds the model's key.
func (r *repository) checkModelEnvironment(ctx context.Context, name string) (github.Environment, Check) {
	e, k := r.checkEnvironment(ctx, name)
	if k.State != ok {
		return e, k
	}
	limit := "Settings, Environments, " + name + ", Deployment branches: " + r.branch + " alone"
	k.Found = "admits only the protected branches"
	if e.Custom {
		names, err := r.api.DeploymentBranches(ctx, r.ref.Owner, r.ref.Repo, name)
		switch k.Found = "admits " + strings.Join(names, ", ") + " alone"; {
		case err != nil:
			k.State, k.Found = unseen, "which branches it admits: "+r.reason(err)
		case !slices.Contains(names, r.branch):
			k.State, k.Found, k.Next = no, "does not admit "+r.branch+", where the workflow runs", limit
		}
		if err == nil && len(names) == 0 {
			e.Rules = 0 // an init was interrupted here
		}
	}
	switch {
	case !e.Limited:
		k.State, k.Found, k.Next = no, "admits every branch: whoever pushes one can read the key", limit
	case e.Reviewers > 0:
		k.State, k.Found, k.Next = no, "has required reviewers, for whom each draft would wait", "take them away there"
	}
	return e, k
}

// checkKey checks whether an environment has the secret of the model's key.
func (r *repository) checkKey(ctx context.Context, name string) Check {
	k := Check{What: "secret " + keySecret + " of " + name, State: ok, Found: "is there"}
	names, err := r.api.SecretNames(ctx, r.ref.Owner, r.ref.Repo, name)
	if err != nil {
		k.State, k.Found = unseen, r.reason(err)
	} else if !slices.Contains(names, keySecret) {
		k.State, k.Found = no, "is not there"
		k.Next = r.secretCommand(name)
	}
	return k
}

// checkBranch reports whether the default branch, whose workflows and settings apply, is
// protected. An unprotected one does not fail the check: not every plan can protect it.
func (r *repository) checkBranch() Check {
	k := Check{What: "branch " + guard.Line(r.branch, 100), State: ok, Found: "is protected"}
	if r.hidden != "" {
		k.State, k.Found = unseen, "whether it is protected: "+r.hidden
	} else if !r.protected {
		k.Found = "is not protected: whoever can push changes the workflows and settings alone"
	}
	return k
}

func (r *repository) checkLabel(ctx context.Context, label string) Check {
	if !r.seen {
		return Check{}
	}
	k := Check{What: "label " + guard.Line(label, 100), State: ok, Found: "is there"}
	found, err := r.api.HasLabel(ctx, r.ref.Owner, r.ref.Repo, label)
	if err != nil {
		k.State, k.Found = unseen, r.reason(err)
	} else if !found {
		k.State, k.Found, k.Next = no, "is not there", r.labelCommand(label)
	}
	return k
}
