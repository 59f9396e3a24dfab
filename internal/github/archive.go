package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/transport"
)

// MaxArchive bounds the bytes read of a compressed archive. The archive is held in memory, so
// that a connection lost half way is retried like any other.
const MaxArchive = 128 << 20

// commitID matches the full name of a commit, SHA-1 or SHA-256. Branches and tags move, and
// are never read.
var commitID = pattern.Lazy(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// Archive reads the files of a commit as a gzipped tar file of at most MaxArchive bytes. It
// returns ErrNotFound, ErrNoAccess or ErrTooLarge. The store that the API redirects to must
// not see the token and is asked without it; its address is valid for minutes and appears in
// no error.
func (c *Client) Archive(ctx context.Context, owner, repo, sha string) (io.ReadCloser, error) {
	doing := fmt.Sprintf("reading the archive of %s/%s at %s", owner, repo, sha)
	if !commitID().MatchString(sha) {
		return nil, Wrap(doing, fmt.Errorf("%w: %q is not a commit id", ErrNotFound, sha))
	}
	at := &gh.RepositoryContentGetOptions{Ref: sha}
	location, _, err := c.api.Repositories.GetArchiveLink(ctx, segment(owner), segment(repo), gh.Tarball, at, 1)
	if err != nil {
		return nil, Wrap(doing, err)
	}
	req, err := http.NewRequestWithContext(transport.LimitBody(ctx, MaxArchive), http.MethodGet, location.String(), nil)
	if err != nil {
		return nil, Wrap(doing, err)
	}
	body, err := transport.Do(c.http, req)
	if err != nil {
		return nil, Wrap(doing+" from its store", err)
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}
