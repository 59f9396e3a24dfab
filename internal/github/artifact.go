package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/transport"
)

// errNotServed is the content of an artifact that GitHub lists and its store does not give:
// a link to it lives for a minute.
var errNotServed = problem.Sentinel("its content cannot be downloaded", "run it again")

// Artifact is a stored artifact and the run that it says it is from.
type Artifact struct {
	ID           int64
	Name         string
	Size         int64  // bytes
	Digest       string // sha256:<hex> of the zip, empty where not told; it follows a swapped artifact
	Created      time.Time
	Expired      bool
	ExpiresAt    time.Time
	RunID        int64 // 0 where GitHub does not tell
	RepositoryID int64
}

// Artifacts says which artifacts of a repository are asked for. The API cannot filter
// by prefix: all of the run are read, or of the repository the newest Pages of a hundred.
type Artifacts struct {
	Run    int64  // that stored them, in earlier attempts too unless all jobs were run again; 0 is any, of forks too
	Name   string // exactly; empty for Prefix
	Prefix string
	Pages  int // at most, where Name is empty and Run 0
}

// Artifacts lists artifacts, newest first. Cut is set where all pages were full, so that
// others may lie behind them.
func (c *Client) Artifacts(ctx context.Context, owner, repo string, q Artifacts) (found []Artifact, cut bool,
	err error) {
	path, pages, of := repoPath(owner, repo, "actions", "artifacts"), maxPages, ""
	if q.Run != 0 {
		path, of = runPath(owner, repo, q.Run, "artifacts"), fmt.Sprintf("run %d of ", q.Run)
	} else if q.Name == "" {
		pages = q.Pages
	}
	list, err := all(func(o *gh.ListOptions) ([]artifact, *gh.Response, error) {
		var page struct {
			Total     *int       `json:"total_count"`
			Artifacts []artifact `json:"artifacts"`
		}
		query := url.Values{"per_page": {strconv.Itoa(o.PerPage)}, "page": {strconv.Itoa(o.Page)}}
		if q.Name != "" {
			query.Set("name", q.Name)
		}
		resp, err := c.get(ctx, &page, path+"?"+query.Encode())
		if none := page.Total != nil && *page.Total == 0; err == nil && page.Artifacts == nil && !none {
			err = errIncomplete
		}
		if err == nil && o.Page >= pages && pages < maxPages {
			cut, resp.NextPage = resp.NextPage > 0, 0
		}
		return page.Artifacts, resp, err
	})
	for _, a := range list {
		if a.GetName() == q.Name || q.Name == "" && strings.HasPrefix(a.GetName(), q.Prefix) {
			found = append(found, a.read(q.Run))
		}
	}
	order.Stable(found, func(a, b Artifact) int { return cmp.Compare(b.ID, a.ID) })
	doing := fmt.Sprintf("listing artifacts %q of %s%s/%s", cmp.Or(q.Name, q.Prefix+"…"), of, owner, repo)
	return found, cut, Wrap(doing, err)
}

// artifact is go-github's with the member that it drops.
type artifact struct {
	gh.Artifact
	Digest string `json:"digest"`
}

// read takes the run whose list it is in for its own where the member that names it is
// null, as GitHub's description of the API has it.
func (a artifact) read(of int64) Artifact {
	run := a.GetWorkflowRun()
	return Artifact{
		ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Digest: a.Digest,
		Created: a.GetCreatedAt().Time, Expired: a.GetExpired(), ExpiresAt: a.GetExpiresAt().Time,
		RunID: cmp.Or(run.GetID(), of), RepositoryID: run.GetRepositoryID(),
	}
}

// Download reads an artifact's zip, at most max bytes: ErrNotFound,
// ErrExpired, ErrTooLarge. The blob store is asked without the token, which
// it must not have.
func (c *Client) Download(ctx context.Context, owner, repo string, id int64, max int64) ([]byte, error) {
	doing := fmt.Sprintf("downloading artifact %d of %s/%s", id, owner, repo)
	location, _, err := c.api.Actions.DownloadArtifact(ctx, owner, repo, id, 1)
	if err != nil {
		return nil, Wrap(doing, err)
	}
	req, err := http.NewRequestWithContext(transport.LimitBody(ctx, max), http.MethodGet, location.String(), nil)
	if err != nil {
		return nil, Wrap(doing, err)
	}
	body, err := transport.Do(c.http, req)
	if status, ok := errors.AsType[*transport.StatusError](err); ok && status.Code < http.StatusInternalServerError {
		err = fmt.Errorf("%w: %w", errNotServed, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s from its store: %w", doing, err)
	}
	return body, nil
}
