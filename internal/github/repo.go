package github

import (
	"context"
	"fmt"
)

// DefaultBranch reads which branch a repository's workflows are taken from.
func (c *Client) DefaultBranch(ctx context.Context, owner, repo string) (string, error) {
	r, _, err := c.api.Repositories.Get(ctx, owner, repo)
	if err == nil && r.GetDefaultBranch() == "" {
		err = errIncomplete
	}
	return r.GetDefaultBranch(), Wrap(fmt.Sprintf("reading repository %s/%s", owner, repo), err)
}
