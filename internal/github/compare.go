package github

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/org/pr-review-action/internal/transport"
)

// CompareDiff reads what head changed since it left base, as a unified diff of
// at most max bytes: ErrNotFound where a commit is gone, ErrTooLarge also where
// GitHub makes no diff of that size. Commits that do not differ give "".
func (c *Client) CompareDiff(ctx context.Context, owner, repo, base, head string, max int64) (string, error) {
	doing := fmt.Sprintf("reading the diff %s...%s of %s/%s", base, head, owner, repo)
	req, err := c.api.NewRequest(http.MethodGet, repoPath(owner, repo, "compare", base+"..."+head), nil)
	if err != nil {
		return "", Wrap(doing, err)
	}
	req.Header.Set("Accept", mediaDiff)
	var text bytes.Buffer
	if _, err := c.api.Do(transport.LimitBody(ctx, max), req, &text); err != nil {
		return "", Wrap(doing, err)
	}
	return text.String(), nil
}
