package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/org/pr-review-action/internal/transport"
)

// Commit resolves a branch, a tag or a short hash to a commit's full hash; HEAD means the
// default branch. It returns ErrNotFound if there is none.
func (c *Client) Commit(ctx context.Context, owner, repo, revision string) (string, error) {
	var commit struct {
		SHA string `json:"sha"`
	}
	doing := fmt.Sprintf("reading the commit %.100q of %s/%s", revision, owner, repo)
	_, err := c.get(ctx, &commit, repoPath(owner, repo, "commits", revision))
	if err = requireComplete(doing, err, commitID().MatchString(commit.SHA)); err != nil {
		return "", err
	}
	return commit.SHA, nil
}

// OnBranch reports whether a commit is a branch's tip or an ancestor of it. It reads the tip
// from the branch and compares its hash, since a tag may have the branch's name. A missing
// commit, or one without shared history, is not on the branch.
func (c *Client) OnBranch(ctx context.Context, owner, repo, branch, sha string) (bool, error) {
	tip, err := c.Tip(ctx, owner, repo, branch)
	if err != nil || sha == "" || sha == tip.SHA {
		return err == nil && sha != "", err
	}
	compared, err := c.compare(ctx, owner, repo, tip.SHA, sha, 1)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return compared.GetStatus() == "behind" || compared.GetStatus() == "identical", err
}

// CompareDiff returns what head changed since it left base, as a unified diff of at most max
// bytes; "" if the commits do not differ. It returns ErrNotFound if a commit is gone, and
// ErrTooLarge also if GitHub makes no diff of that size.
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
