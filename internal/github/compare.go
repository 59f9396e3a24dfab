package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/org/pr-review-action/internal/transport"
)

// Commit reads the full hash of a branch's or tag's commit, or of a shortened hash;
// HEAD is the default branch's. ErrNotFound where there is none.
func (c *Client) Commit(ctx context.Context, owner, repo, revision string) (string, error) {
	var commit struct {
		SHA string `json:"sha"`
	}
	doing := fmt.Sprintf("reading the commit %.100q of %s/%s", revision, owner, repo)
	_, err := c.get(ctx, &commit, repoPath(owner, repo, "commits", revision))
	if err = whole(doing, err, commitID.MatchString(commit.SHA)); err != nil {
		return "", err
	}
	return commit.SHA, nil
}

// OnBranch reports whether a commit is a branch's tip or behind it. The tip is
// read as the branch's and compared by its hash, since a tag may have the
// branch's name. A commit that is not there, or shares no history, is not on it.
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
