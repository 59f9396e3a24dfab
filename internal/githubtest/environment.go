package githubtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/githubtest/fakehttp"
)

type environments struct {
	repo *Repo
	all  map[string]*environment
}

// Environment holds the rules of an environment: none without reviewers, as for one that a run made by naming it.
type Environment struct {
	Reviewers []string // logins, and teams with a leading @
	NoSelf    bool     // whoever started a run may not approve it
	Branches  []string // the only ones that may deploy; nil for all
	Secrets   []string // their names; nothing else can be read
}

type environment struct {
	Environment
	id   int64
	name string
}

func (e *environments) at(name string) *environment {
	if e.all[name] == nil {
		e.all[name] = &environment{id: e.repo.Host.NextID(), name: name}
	}
	return e.all[name]
}

// AddEnvironment makes an environment, or replaces its reviewers.
func (e *environments) AddEnvironment(name string, reviewers ...string) {
	e.SetEnvironment(name, func(rules *Environment) { rules.Reviewers = reviewers })
}

// SetEnvironment changes the rules of an environment, which it makes if there is none.
func (e *environments) SetEnvironment(name string, change func(*Environment)) {
	defer e.repo.Host.Lock()()
	of := e.at(name)
	change(&of.Environment)
	for _, login := range of.Reviewers {
		if !strings.HasPrefix(login, "@") {
			e.repo.Host.User(login)
		}
	}
}

// Environment returns the rules of an environment.
func (e *environments) Environment(name string) Environment {
	return fakehttp.Get(e.repo.Host, func() Environment { return e.at(name).Environment })
}

func (e *environments) get(_ *call, of *environment) answer { return fakehttp.OK(e.json(of)) }

func (e *environments) put(c *call) answer {
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
	if set := e.repo.set; len(in.Reviewers) > 0 && set.Private && set.Plan != "enterprise" {
		return fakehttp.Unprocessable("Failed to create the environment protection rule. Please " +
			"ensure the billing plan supports the required reviewers protection rule.")
	}
	made := e.at(c.PathValue("environment_name"))
	had := made.Branches
	made.Reviewers, made.Branches = nil, nil
	for _, r := range in.Reviewers {
		if u := e.repo.Host.Find("", r.ID); r.Type == "User" && u != nil {
			made.Reviewers = append(made.Reviewers, u.Login)
		}
		if r.Type == "Team" {
			made.Reviewers = append(made.Reviewers, "@maintainers")
		}
	}
	if in.Policy != nil && in.Policy.Custom {
		made.Branches = append([]string{}, had...)
	}
	return fakehttp.OK(e.json(made))
}

func policy(name string) object { return object{"id": len(name), "name": name, "type": "branch"} }

func (e *environments) listPolicies(c *call, of *environment) answer {
	return fakehttp.Counted(c.Request, "branch_policies", of.Branches, policy)
}

func (e *environments) addPolicy(c *call, of *environment) answer {
	var in struct{ Name string }
	if c.Read(&in); of.Branches == nil {
		return fakehttp.NotFound()
	}
	if slices.Contains(of.Branches, in.Name) {
		return answer{Status: http.StatusSeeOther} // without content or address
	}
	of.Branches = append(of.Branches, in.Name)
	return fakehttp.OK(policy(in.Name))
}

func (e *environments) listSecrets(c *call, of *environment) answer {
	return fakehttp.Counted(c.Request, "secrets", of.Secrets, func(name string) object {
		return object{"name": name, "created_at": c.Host.Now(), "updated_at": c.Host.Now()}
	})
}

func (e *environment) short() object { return object{"id": e.id, "name": e.name} }

func (e *environment) reviewerList(h *host) []object {
	return fakehttp.List(e.Reviewers, func(name string) object {
		if slug, team := strings.CutPrefix(name, "@"); team {
			return object{"type": "Team", "reviewer": object{"id": e.id, "name": slug, "slug": slug}}
		}
		return object{"type": "User", "reviewer": h.User(name).JSON()}
	})
}

func (e *environments) json(of *environment) object {
	v, rules := of.short(), []object{}
	if len(of.Reviewers) > 0 {
		rules = append(rules, object{"id": of.id, "type": "required_reviewers",
			"prevent_self_review": of.NoSelf, "reviewers": of.reviewerList(e.repo.Host)})
	}
	v["deployment_branch_policy"] = nil
	if of.Branches != nil {
		v["deployment_branch_policy"] = object{"protected_branches": false, "custom_branch_policies": true}
		rules = append(rules, object{"id": of.id, "type": "branch_policy"})
	}
	v["protection_rules"] = rules
	return v
}
