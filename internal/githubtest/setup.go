package githubtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// SetPlan names the plan of the repository's owner: free, team or enterprise. Only its
// admins are told, and without enterprise a private repository takes no reviewers.
func (r *Repo) SetPlan(plan string) {
	defer r.s.lock()()
	r.plan = plan
}

// Archive makes the repository read-only.
func (r *Repo) Archive() {
	defer r.s.lock()()
	r.archived = true
}

// AllowActions says whether workflows may run in the repository; from the start they may.
func (r *Repo) AllowActions(allowed bool) {
	defer r.s.lock()()
	r.noActions = !allowed
}

// AddSecret gives an environment a secret, of which nothing but the name can be read.
func (r *Repo) AddSecret(environment, name string) {
	defer r.s.lock()()
	e := r.environment(environment)
	e.secrets = append(e.secrets, name)
}

// Admitted lists the branches that alone may deploy to an environment; nil for all.
func (r *Repo) Admitted(environment string) []string {
	defer r.s.lock()()
	return slices.Clone(r.environment(environment).branches)
}

// HasLabel reports whether the repository knows a label.
func (r *Repo) HasLabel(name string) bool {
	defer r.s.lock()()
	return slices.Contains(r.labels, name)
}

// setupRoutes are what a repository's administrator reads and sets.
func setupRoutes() []route {
	const repo = "/repos/{owner}/{repo}"
	const environment = repo + "/environments/{environment_name}"
	admin, issues := []string{"administration:admin"}, []string{"issues:write", "pull_requests:write"}
	return []route{
		{"PUT", environment, admin, putEnvironment},
		{"GET", environment + "/deployment-branch-policies", []string{"actions:read"}, listPolicies},
		{"POST", environment + "/deployment-branch-policies", admin, addPolicy},
		{"GET", environment + "/secrets", []string{"environments:write"}, listSecrets},
		{"GET", repo + "/actions/permissions", []string{"administration:admin"}, getActions},
		{"GET", repo + "/labels/{name}", nil, getLabel},
		{"POST", repo + "/labels", issues, addLabel},
		{"GET", "/orgs/{org}", nil, getOrg},
		{"GET", "/orgs/{org}/repos", nil, listReposOf},
		{"GET", "/users/{username}/repos", nil, listReposOf},
		{"GET", "/user/repos", nil, listReposOf},
		{"GET", "/orgs/{org}/teams/{team_slug}", nil, getTeam},
	}
}

func putEnvironment(c *call) answer {
	var in struct {
		Reviewers []struct {
			Type string
			ID   int64
		}
		Policy *struct {
			Custom bool `json:"custom_branch_policies"`
		} `json:"deployment_branch_policy"`
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return refusal(http.StatusBadRequest, "Problems parsing JSON")
	}
	if len(in.Reviewers) > 0 && c.repo.private && c.repo.plan != "enterprise" {
		return refusal(http.StatusUnprocessableEntity, "Failed to create the environment protection rule. Please "+
			"ensure the billing plan supports the required reviewers protection rule.")
	}
	e := c.repo.environment(c.PathValue("environment_name"))
	e.reviewers, e.branches = nil, nil
	for _, r := range in.Reviewers {
		for login, u := range c.s.users {
			if r.Type == "User" && u.ID == r.ID {
				e.reviewers = append(e.reviewers, login)
			}
		}
		if r.Type == "Team" {
			e.reviewers = append(e.reviewers, "@maintainers")
		}
	}
	if in.Policy != nil && in.Policy.Custom {
		e.branches = []string{}
	}
	return ok(e.json(c.repo))
}

// ofEnvironment answers for one that is there.
func (c *call) ofEnvironment(f func(*environment) answer) answer {
	if e := c.repo.environments[c.PathValue("environment_name")]; e != nil {
		return f(e)
	}
	return notFound()
}

func policy(name string) object { return object{"id": len(name), "name": name, "type": "branch"} }

func listPolicies(c *call) answer {
	return c.ofEnvironment(func(e *environment) answer { return counted(c, "branch_policies", e.branches, policy) })
}

func addPolicy(c *call) answer {
	var in struct{ Name string }
	if err := json.Unmarshal(c.body, &in); err != nil {
		return refusal(http.StatusBadRequest, "Problems parsing JSON")
	}
	return c.ofEnvironment(func(e *environment) answer {
		if e.branches == nil {
			return refusal(http.StatusNotFound, "Not Found")
		}
		e.branches = append(e.branches, in.Name)
		return ok(policy(in.Name))
	})
}

func listSecrets(c *call) answer {
	return c.ofEnvironment(func(e *environment) answer {
		return counted(c, "secrets", e.secrets, func(name string) object {
			return object{"name": name, "created_at": c.s.now(), "updated_at": c.s.now()}
		})
	})
}

func getActions(c *call) answer { return ok(object{"enabled": !c.repo.noActions}) }

func getLabel(c *call) answer {
	if slices.Contains(c.repo.labels, c.PathValue("name")) {
		return ok(label(c.PathValue("name")))
	}
	return notFound()
}

func addLabel(c *call) answer {
	var in struct{ Name string }
	if err := json.Unmarshal(c.body, &in); err != nil || slices.Contains(c.repo.labels, in.Name) {
		return refusal(http.StatusUnprocessableEntity, "Validation Failed",
			object{"resource": "Label", "code": "already_exists", "field": "name"})
	}
	c.repo.labels = append(c.repo.labels, in.Name)
	return answer{status: http.StatusCreated, value: label(in.Name)}
}

func getOrg(c *call) answer {
	u := c.s.users[c.PathValue("org")]
	if u == nil || u.Type != "Organization" {
		return notFound()
	}
	v := u.json()
	for _, r := range c.s.repos {
		if strings.EqualFold(r.Owner, u.Login) && c.who.kind == "user" && level(r.permission(c.who.user.Login)) > 2 {
			v["plan"] = object{"name": or(r.plan, "free"), "space": 1, "private_repos": 1}
		}
	}
	return ok(v)
}

// getTeam knows one team of each organization.
func getTeam(c *call) answer {
	if u := c.s.users[c.PathValue("org")]; u == nil || c.PathValue("team_slug") != "maintainers" {
		return notFound()
	}
	return ok(object{"id": 7, "slug": "maintainers", "name": "maintainers"})
}

// Reviewers are those of an environment; a team has an @ in front.
func (r *Repo) Reviewers(environment string) []string {
	defer r.s.lock()()
	return slices.Clone(r.environment(environment).reviewers)
}

// AdmitAll lets every branch deploy to an environment.
func (r *Repo) AdmitAll(environment string) {
	defer r.s.lock()()
	r.environment(environment).branches = nil
}

// listReposOf lists what the token sees of an organization, of a person the public ones, or
// the caller's own.
func listReposOf(c *call) answer {
	owner, org := or(c.PathValue("org"), c.PathValue("username")), c.PathValue("org") != ""
	own := owner == ""
	if own && c.who.kind == "user" {
		owner = c.who.user.Login
	}
	if u := c.s.users[owner]; u == nil || org != (u.Type == "Organization") {
		return notFound()
	}
	var seen []*Repo
	for _, r := range c.s.repos {
		if strings.EqualFold(r.Owner, owner) && c.who.sees(r) && (org || own || !r.private) {
			seen = append(seen, r)
		}
	}
	slices.SortFunc(seen, func(a, b *Repo) int { return strings.Compare(a.Name, b.Name) })
	return paged(c, seen, 0, (*Repo).json)
}
