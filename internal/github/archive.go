package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/transport"
)

// MaxArchive is how many bytes of a packed archive are read. It is held in
// memory, so that a connection lost half way is tried again like any other.
const MaxArchive = 128 << 20

// commitID is the full name of a commit, by SHA-1 or SHA-256. Branches and tags
// move, and are read nowhere.
var commitID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// Archive reads the files of a commit as a gzipped tar file of at most
// MaxArchive bytes: ErrNotFound, ErrNoAccess, ErrTooLarge. The store that the API
// sends to is asked without the token, which it must not have; the address that
// it gives holds for minutes and is in no error.
func (c *Client) Archive(ctx context.Context, owner, repo, sha string) (io.ReadCloser, error) {
	doing := fmt.Sprintf("reading the archive of %s/%s at %s", owner, repo, sha)
	if !commitID.MatchString(sha) {
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
