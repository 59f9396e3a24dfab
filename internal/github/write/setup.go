package write

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

var (
	// ErrMayNotSetUp reports that the token's user does not administer the repository.
	ErrMayNotSetUp = problem.Sentinel("the token may not change the repository's environments",
		"an administrator of the repository has to, with a token that has administration: write or the scope repo")
	// ErrMayNotLabel reports that the token may not make labels.
	ErrMayNotLabel = problem.Sentinel("the token may not make labels (issues: write)",
		"make the label at Issues, Labels, or with a token that has issues: write")
	// ErrPlan reports that the repository's plan has no environments with reviewers, or none
	// at all.
	ErrPlan = problem.Sentinel("the repository's plan does not have this rule",
		"a decision by dispatch works on every plan: init --route dispatch --force")
)

// Reviewer is a User or a Team that may approve for an environment, by its id.
type Reviewer struct {
	Type string `json:"type"`
	ID   int64  `json:"id"`
}

// SetEnvironment creates an environment or replaces its rules: who must approve, if anybody,
// and the only branch that may deploy to it; "" allows all. It returns ErrPlan,
// ErrMayNotSetUp, ErrUncertain, or an error of package github.
func (c *Client) SetEnvironment(ctx context.Context, ref pull.Ref, name string, reviewers []Reviewer,
	branch string) error {
	rules := map[string]any{"deployment_branch_policy": nil, "reviewers": reviewers}
	if branch != "" {
		rules["deployment_branch_policy"] = map[string]bool{"protected_branches": false, "custom_branch_policies": true}
	}
	path := fmt.Sprintf("repos/%s/%s/environments/%s", ref.Owner, ref.Repo, url.PathEscape(name))
	err := c.request(ctx, http.MethodPut, path, rules, &struct{}{})
	if refusedWith(err, http.StatusUnprocessableEntity, "plan") {
		return fmt.Errorf("%w: environment %s: %w", ErrPlan, name, err)
	}
	if err == nil && branch != "" {
		err = c.request(ctx, http.MethodPost, path+"/deployment-branch-policies", map[string]string{"name": branch},
			&struct{}{})
	}
	return wrapOutcome(ErrMayNotSetUp, ErrUncertain, "setting up environment "+name, err)
}

// EventPolicy returns the request for an Actions policy by which only some events start a workflow.
// https://docs.github.com/en/rest/actions/policies
func EventPolicy(name, workflow string, events ...string) map[string]any {
	return map[string]any{
		"name": name, "enforcement": "active",
		"conditions": map[string]any{"workflow_path": map[string][]string{"include": {workflow}, "exclude": {}}},
		"rules": []any{map[string]any{"type": "restrict_action_events",
			"parameters": map[string][]string{"allowed_events": events}}},
	}
}

// CreatePolicy creates an Actions policy. It returns ErrMayNotSetUp, ErrUncertain, or an error of package github.
func (c *Client) CreatePolicy(ctx context.Context, ref pull.Ref, policy map[string]any) error {
	path := fmt.Sprintf("repos/%s/%s/actions/policies", ref.Owner, ref.Repo)
	return wrapOutcome(ErrMayNotSetUp, ErrUncertain, "making an Actions policy",
		c.request(ctx, http.MethodPost, path, policy, &struct{}{}))
}

// CreateLabel creates a label. It returns ErrExists, ErrMayNotLabel, ErrUncertain, or an
// error of package github.
func (c *Client) CreateLabel(ctx context.Context, ref pull.Ref, name, description string) error {
	err := c.request(ctx, http.MethodPost, fmt.Sprintf("repos/%s/%s/labels", ref.Owner, ref.Repo),
		map[string]string{"name": name, "description": description}, &struct{}{})
	if refusedWith(err, http.StatusUnprocessableEntity, "") {
		return fmt.Errorf("%w: label %s: %w", ErrExists, name, err)
	}
	return wrapOutcome(ErrMayNotLabel, ErrUncertain, "making the label "+name, err)
}

// request sends one request that go-github has no call for. An answer without content leaves v
// unchanged.
func (c *Client) request(ctx context.Context, method, path string, body, v any) error {
	_, err := sendOnce(ctx, c, func(ctx context.Context) (*gh.Response, error) {
		req, err := c.api.NewRequest(method, path, body)
		if err != nil {
			return nil, err
		}
		return c.api.Do(ctx, req, v)
	})
	return err
}
