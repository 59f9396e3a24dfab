package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// DeploymentBranches lists the patterns of the branches and tags that may deploy to a Custom
// environment.
func (c *Client) DeploymentBranches(ctx context.Context, owner, repo, environment string) (names []string, err error) {
	var list struct {
		Policies []struct {
			Name string `json:"name"`
		} `json:"branch_policies"`
	}
	path := repoPath(owner, repo, "environments", environment, "deployment-branch-policies") + "?per_page=100"
	_, err = c.get(ctx, &list, path)
	for _, p := range list.Policies {
		names = append(names, p.Name)
	}
	return names, Wrap(fmt.Sprintf("reading which branches environment %q of %s/%s admits", environment, owner, repo),
		err)
}

// SecretNames lists the names of an environment's secrets, the first hundred. Their values
// cannot be read.
func (c *Client) SecretNames(ctx context.Context, owner, repo, environment string) (names []string, err error) {
	var list struct {
		Secrets []struct {
			Name string `json:"name"`
		} `json:"secrets"`
	}
	_, err = c.get(ctx, &list, repoPath(owner, repo, "environments", environment, "secrets")+"?per_page=100")
	for _, s := range list.Secrets {
		names = append(names, s.Name)
	}
	return names, Wrap(fmt.Sprintf("listing the secrets of environment %q of %s/%s", environment, owner, repo), err)
}

// EventPolicy is an active Actions policy that limits the events which start workflows.
type EventPolicy struct {
	Name             string
	Include, Exclude []string // paths and globs of workflows; with no Include, or ~ALL, it is for each one
	Events           []string // the only ones that start them
}

// EventPolicies lists the policies, up to a hundred, that hold for a repository, its owner's among them. Only an
// administrator may read them. https://docs.github.com/en/rest/actions/policies
func (c *Client) EventPolicies(ctx context.Context, owner, repo string) (all []EventPolicy, err error) {
	var list struct {
		Policies []struct {
			ID          int64  `json:"id"`
			Enforcement string `json:"enforcement"`
		} `json:"policies"`
	}
	_, err = c.get(ctx, &list, repoPath(owner, repo, "actions", "policies")+"?per_page=100")
	for _, found := range list.Policies {
		if err != nil || found.Enforcement != "active" {
			continue
		}
		var p struct {
			Name       string `json:"name"`
			Conditions struct {
				Path struct {
					Include []string `json:"include"`
					Exclude []string `json:"exclude"`
				} `json:"workflow_path"`
			} `json:"conditions"`
			Rules []struct {
				Type       string `json:"type"`
				Parameters struct {
					Events []string `json:"allowed_events"`
				} `json:"parameters"`
			} `json:"rules"`
		}
		_, err = c.get(ctx, &p, repoPath(owner, repo, "actions", "policies", strconv.FormatInt(found.ID, 10)))
		for _, rule := range p.Rules {
			if rule.Type == "restrict_action_events" {
				all = append(all, EventPolicy{p.Name, p.Conditions.Path.Include, p.Conditions.Path.Exclude,
					rule.Parameters.Events})
			}
		}
	}
	return all, Wrap(fmt.Sprintf("reading the Actions policies of %s/%s", owner, repo), err)
}

// HasLabel reports whether a repository has a label.
func (c *Client) HasLabel(ctx context.Context, owner, repo, label string) (bool, error) {
	var found struct {
		Name string `json:"name"`
	}
	_, err := c.get(ctx, &found, repoPath(owner, repo, "labels", label))
	err = Wrap(fmt.Sprintf("reading label %q of %s/%s", label, owner, repo), err)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Plan returns an organization's plan: free, team, enterprise. It is empty unless the token
// belongs to an owner.
func (c *Client) Plan(ctx context.Context, org string) (string, error) {
	var o struct {
		Plan struct {
			Name string `json:"name"`
		} `json:"plan"`
	}
	_, err := c.get(ctx, &o, "orgs/"+url.PathEscape(org))
	return o.Plan.Name, Wrap("reading organization "+org, err)
}

// Team returns the id of an organization's team. It returns ErrNotFound if the token sees no
// such team.
func (c *Client) Team(ctx context.Context, org, slug string) (id int64, err error) {
	var t struct {
		ID int64 `json:"id"`
	}
	_, err = c.get(ctx, &t, "orgs/"+url.PathEscape(org)+"/teams/"+url.PathEscape(slug))
	if err == nil && t.ID == 0 {
		err = errIncomplete
	}
	return t.ID, Wrap("reading team "+org+"/"+slug, err)
}
