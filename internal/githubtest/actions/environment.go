package actions

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
	"github.com/org/pr-review-action/internal/githubtest/site"
)

// environments are those of a repository. What a test calls takes the lock.
type environments struct {
	repo *site.Repo
	all  map[string]*environment
}

type environment struct {
	id        int64
	name      string
	reviewers []string
	noSelf    bool
	branches  []string // the only ones admitted; nil for all
	secrets   []string // their names
}

func (e *environments) at(name string) *environment {
	if e.all[name] == nil {
		e.all[name] = &environment{id: e.repo.Host.NextID(), name: name}
	}
	return e.all[name]
}

// AddEnvironment makes an environment or changes its rules. Without reviewers
// it has no rule at all, as one that a run made by naming it. @slug is a team.
func (e *environments) AddEnvironment(name string, reviewers ...string) {
	defer e.repo.Host.Lock()()
	for _, login := range reviewers {
		if !strings.HasPrefix(login, "@") {
			e.repo.Host.User(login)
		}
	}
	e.at(name).reviewers = reviewers
}

// PreventSelfReview sets that rule of an environment.
func (e *environments) PreventSelfReview(name string) {
	defer e.repo.Host.Lock()()
	e.at(name).noSelf = true
}

// AddSecret gives an environment a secret, of which nothing but the name can be read.
func (e *environments) AddSecret(environment, name string) {
	defer e.repo.Host.Lock()()
	e.at(environment).secrets = append(e.at(environment).secrets, name)
}

// Admitted lists the branches that alone may deploy to an environment; nil for all.
func (e *environments) Admitted(environment string) []string {
	defer e.repo.Host.Lock()()
	return slices.Clone(e.at(environment).branches)
}

// AdmitAll lets every branch deploy to an environment.
func (e *environments) AdmitAll(environment string) {
	defer e.repo.Host.Lock()()
	e.at(environment).branches = nil
}

// Reviewers are those of an environment; a team has an @ in front.
func (e *environments) Reviewers(environment string) []string {
	defer e.repo.Host.Lock()()
	return slices.Clone(e.at(environment).reviewers)
}

func (e *environments) get(_ *site.Call, of *environment) answer { return fakehttp.OK(e.json(of)) }

func (e *environments) put(c *site.Call) answer {
	var in struct {
		Reviewers []struct {
			Type string
			ID   int64
		}
		Policy *struct {
			Custom bool `json:"custom_branch_policies"`
		} `json:"deployment_branch_policy"`
	}
	c.Read(&in)
	if set := e.repo.Settings(); len(in.Reviewers) > 0 && set.Private && set.Plan != "enterprise" {
		return fakehttp.Unprocessable("Failed to create the environment protection rule. Please " +
			"ensure the billing plan supports the required reviewers protection rule.")
	}
	made := e.at(c.PathValue("environment_name"))
	made.reviewers, made.branches = nil, nil
	for _, r := range in.Reviewers {
		if u := e.repo.Host.Find("", r.ID); r.Type == "User" && u != nil {
			made.reviewers = append(made.reviewers, u.Login)
		}
		if r.Type == "Team" {
			made.reviewers = append(made.reviewers, "@maintainers")
		}
	}
	if in.Policy != nil && in.Policy.Custom {
		made.branches = []string{}
	}
	return fakehttp.OK(e.json(made))
}

func policy(name string) object { return object{"id": len(name), "name": name, "type": "branch"} }

func (e *environments) listPolicies(c *site.Call, of *environment) answer {
	return fakehttp.Counted(c.Request, "branch_policies", of.branches, policy)
}

func (e *environments) addPolicy(c *site.Call, of *environment) answer {
	var in struct{ Name string }
	if c.Read(&in); of.branches == nil {
		return fakehttp.NotFound()
	}
	of.branches = append(of.branches, in.Name)
	return fakehttp.OK(policy(in.Name))
}

func (e *environments) listSecrets(c *site.Call, of *environment) answer {
	return fakehttp.Counted(c.Request, "secrets", of.secrets, func(name string) object {
		return object{"name": name, "created_at": c.Host.Now(), "updated_at": c.Host.Now()}
	})
}

func (e *environment) short() object { return object{"id": e.id, "name": e.name} }

func (e *environment) reviewerList(h *site.Host) []object {
	return fakehttp.List(e.reviewers, func(name string) object {
		if slug, team := strings.CutPrefix(name, "@"); team {
			return object{"type": "Team", "reviewer": object{"id": e.id, "name": slug, "slug": slug}}
		}
		return object{"type": "User", "reviewer": h.User(name).JSON()}
	})
}

func (e *environments) json(of *environment) object {
	v, rules := of.short(), []object{}
	if len(of.reviewers) > 0 {
		rules = append(rules, object{"id": of.id, "type": "required_reviewers",
			"prevent_self_review": of.noSelf, "reviewers": of.reviewerList(e.repo.Host)})
	}
	v["deployment_branch_policy"] = nil
	if of.branches != nil {
		v["deployment_branch_policy"] = object{"protected_branches": false, "custom_branch_policies": true}
		rules = append(rules, object{"id": of.id, "type": "branch_policy"})
	}
	v["protection_rules"] = rules
	return v
}
