package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/org/pr-review-action/internal/pull"
)

const closingQuery = `query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      closingIssuesReferences(first: 10) { nodes { number repository { nameWithOwner } } }
    }
  }
}`

// ClosingIssues lists the issues that merging a pull request closes, by keyword or link, as
// owner/repo#12. The list is empty for a pull request against another branch than the
// default. It returns ErrNotFound or ErrNoAccess.
func (c *Client) ClosingIssues(ctx context.Context, ref pull.Ref) ([]string, error) {
	doing := "listing the issues that " + ref.String() + " closes"
	var data struct {
		Repository *struct {
			PullRequest *struct {
				Closes struct {
					Nodes []struct {
						Number     int `json:"number"`
						Repository struct {
							Name string `json:"nameWithOwner"`
						} `json:"repository"`
					} `json:"nodes"`
				} `json:"closingIssuesReferences"`
			} `json:"pullRequest"`
		} `json:"repository"`
	}
	vars := map[string]any{"owner": ref.Owner, "name": ref.Repo, "number": ref.Number}
	if err := c.GraphQL(ctx, c.client(http.MethodPost), closingQuery, vars, &data); err != nil {
		return nil, Wrap(doing, err)
	}
	if data.Repository == nil || data.Repository.PullRequest == nil {
		return nil, Wrap(doing, ErrNotFound)
	}
	var all []string
	for _, n := range data.Repository.PullRequest.Closes.Nodes {
		if n.Number > 0 && n.Repository.Name != "" {
			all = append(all, fmt.Sprintf("%s#%d", n.Repository.Name, n.Number))
		}
	}
	return all, nil
}
