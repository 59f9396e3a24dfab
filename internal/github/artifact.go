package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/transport"
)

// Artifact is a stored artifact and the run that it says it is from.
type Artifact struct {
	ID        int64
	Name      string
	Size      int64  // bytes
	Digest    string // sha256:<hex> of the zip, empty where not told; it follows a swapped artifact
	Created   time.Time
	Expired   bool
	ExpiresAt time.Time
	RunID     int64 // 0, as the next two, where the run is gone
	RepoID    int64
}

// RunArtifacts lists a run's artifacts of one name, newest first.
func (c *Client) RunArtifacts(ctx context.Context, owner, repo string, run int64, name string) ([]Artifact, error) {
	list, err := c.artifacts(ctx, runPath(owner, repo, run, "artifacts"), name, maxPages)
	return named(list, name), Wrap(fmt.Sprintf("listing artifacts %q of run %d of %s/%s", name, run, owner, repo), err)
}

// RunArtifactsAll lists a run's artifacts, newest first. Those of earlier
// attempts are among them, unless all jobs were run again.
func (c *Client) RunArtifactsAll(ctx context.Context, owner, repo string, run int64) ([]Artifact, error) {
	list, err := c.artifacts(ctx, runPath(owner, repo, run, "artifacts"), "", maxPages)
	return list, Wrap(fmt.Sprintf("listing the artifacts of run %d of %s/%s", run, owner, repo), err)
}

// Artifacts lists a repository's artifacts of one name, those of forks' runs
// included, newest first.
func (c *Client) Artifacts(ctx context.Context, owner, repo, name string) ([]Artifact, error) {
	list, err := c.artifacts(ctx, repoPath(owner, repo, "actions", "artifacts"), name, maxPages)
	return named(list, name), Wrap(fmt.Sprintf("listing artifacts %q of %s/%s", name, owner, repo), err)
}

// RepoArtifacts lists a repository's artifacts whose names begin with a prefix,
// those of forks' runs included, newest first. The API cannot filter by prefix:
// the newest artifacts are read, 100 a page and at most so many pages. What lies
// behind them is not found; cut is set where all of these pages were full.
func (c *Client) RepoArtifacts(ctx context.Context, owner, repo, prefix string,
	pages int) (list []Artifact, cut bool, err error) {
	list, err = c.artifacts(ctx, repoPath(owner, repo, "actions", "artifacts"), "", pages)
	cut = len(list) >= pages*pageSize
	list = slices.DeleteFunc(list, func(a Artifact) bool { return !strings.HasPrefix(a.Name, prefix) })
	return list, cut, Wrap(fmt.Sprintf("listing artifacts %q… of %s/%s", prefix, owner, repo), err)
}

func named(list []Artifact, name string) []Artifact {
	return slices.DeleteFunc(list, func(a Artifact) bool { return a.Name != name })
}

// artifacts asks by name unless it is empty, for which go-github has no
// parameter. It reads so many pages, and fails behind maxPages alone.
func (c *Client) artifacts(ctx context.Context, path, name string, pages int) ([]Artifact, error) {
	list, err := all(func(o *gh.ListOptions) ([]artifact, *gh.Response, error) {
		var page struct {
			Artifacts []artifact `json:"artifacts"`
		}
		query := url.Values{"per_page": {strconv.Itoa(o.PerPage)}, "page": {strconv.Itoa(o.Page)}}
		if name != "" {
			query.Set("name", name)
		}
		resp, err := c.get(ctx, &page, path+"?"+query.Encode())
		if err == nil && page.Artifacts == nil {
			err = errIncomplete
		}
		if err == nil && o.Page >= pages && pages < maxPages {
			resp.NextPage = 0
		}
		return page.Artifacts, resp, err
	})
	var found []Artifact
	for _, a := range list {
		found = append(found, a.read())
	}
	slices.SortFunc(found, func(a, b Artifact) int { return cmp.Compare(b.ID, a.ID) })
	return found, err
}

// artifact is go-github's with the member that it drops.
type artifact struct {
	gh.Artifact
	Digest string `json:"digest"`
}

func (a artifact) read() Artifact {
	run := a.GetWorkflowRun()
	return Artifact{
		ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Digest: a.Digest,
		Created: a.GetCreatedAt().Time, Expired: a.GetExpired(), ExpiresAt: a.GetExpiresAt().Time,
		RunID: run.GetID(), RepoID: run.GetRepositoryID(),
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
	if err != nil {
		return nil, fmt.Errorf("%s from its store: %w", doing, err)
	}
	return body, nil
}
