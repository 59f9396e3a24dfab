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

// errNotServed reports that GitHub lists an artifact but its store does not serve it: a link
// to it lives for a minute.
var errNotServed = problem.Sentinel("its content cannot be downloaded", "run it again")

// Artifact is a stored artifact and the run that it claims to come from.
type Artifact struct {
	ID           int64
	Name         string
	Size         int64  // bytes
	Digest       string // sha256:<hex> of the zip, may be empty; it follows a swapped artifact
	Created      time.Time
	Expired      bool
	ExpiresAt    time.Time
	RunID        int64 // 0 if GitHub does not say
	RepositoryID int64
}

// Artifacts selects artifacts of a repository. The API cannot filter by prefix: all of the
// run are read, or the repository's newest Pages of a hundred.
type Artifacts struct {
	Run    int64  // of its earlier attempts too, unless all jobs were run again; 0 is any run, of forks too
	Name   string // the exact name; if empty, Prefix counts
	Prefix string
	Pages  int // upper bound if Name is empty and Run is 0
}

// Artifacts lists artifacts, newest first. cut reports that there are more than on q.Pages.
func (c *Client) Artifacts(ctx context.Context, owner, repo string, q Artifacts) (found []Artifact, cut bool,
	err error) {
	path, pages, of := repoPath(owner, repo, "actions", "artifacts"), maxPages, ""
	if q.Run != 0 {
		path, of = runPath(owner, repo, q.Run, "artifacts"), fmt.Sprintf("run %d of ", q.Run)
	} else if q.Name == "" {
		pages = q.Pages
	}
	list, cut, err := listPages(pages, func(o *gh.ListOptions) ([]artifact, *gh.Response, error) {
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
		return page.Artifacts, resp, err
	})
	if cut && pages == maxPages {
		err = fmt.Errorf("%w: more than %d pages", ErrTooLarge, maxPages)
	}
	for _, a := range list {
		if a.GetName() == q.Name || q.Name == "" && strings.HasPrefix(a.GetName(), q.Prefix) {
			found = append(found, a.convert(q.Run))
		}
	}
	order.Stable(found, func(a, b Artifact) int { return cmp.Compare(b.ID, a.ID) })
	doing := fmt.Sprintf("listing artifacts %q of %s%s/%s", cmp.Or(q.Name, q.Prefix+"…"), of, owner, repo)
	return found, cut, Wrap(doing, err)
}

// artifact adds to go-github's type the field that it drops.
type artifact struct {
	gh.Artifact
	Digest string `json:"digest"`
}

// convert converts an artifact. If the field that names its run is null, as the API description
// permits, the run that was listed counts.
func (a artifact) convert(of int64) Artifact {
	run := a.GetWorkflowRun()
	return Artifact{
		ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Digest: a.Digest,
		Created: a.GetCreatedAt().Time, Expired: a.GetExpired(), ExpiresAt: a.GetExpiresAt().Time,
		RunID: cmp.Or(run.GetID(), of), RepositoryID: run.GetRepositoryID(),
	}
}

// Download reads an artifact's zip of at most max bytes. It returns ErrNotFound, ErrExpired
// or ErrTooLarge. The blob store must not see the token and is asked without it.
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
