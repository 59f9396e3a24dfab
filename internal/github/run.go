package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/transport"
)

// Run is one run of a workflow.
type Run struct {
	ID         int64
	Path       string // of the workflow file, as .github/workflows/x.yml, possibly with @ref behind
	Event      string
	HeadBranch string
	RepoID     int64
	HeadRepoID int64 // 0 where the fork was deleted
}

// Run reads a workflow run.
func (c *Client) Run(ctx context.Context, owner, repo string, id int64) (Run, error) {
	var r struct {
		gh.WorkflowRun
		Path string `json:"path"` // go-github drops it
	}
	doing := fmt.Sprintf("reading run %d of %s/%s", id, owner, repo)
	if _, err := c.get(ctx, &r, runPath(owner, repo, id)); err != nil {
		return Run{}, Wrap(doing, err)
	}
	run := Run{
		ID: r.GetID(), Path: r.Path, Event: r.GetEvent(), HeadBranch: r.GetHeadBranch(),
		RepoID: r.GetRepository().GetID(), HeadRepoID: r.GetHeadRepository().GetID(),
	}
	if run.ID != id || run.Path == "" || run.RepoID == 0 {
		return Run{}, Wrap(doing, errIncomplete)
	}
	return run, nil
}

func runPath(owner, repo string, id int64, parts ...string) string {
	return repoPath(owner, repo, append([]string{"actions", "runs", strconv.FormatInt(id, 10)}, parts...)...)
}

// Approval is one answer to a run's request to enter environments. The API
// gives no time. Comment is untrusted text.
type Approval struct {
	Environments []string
	State        string // approved, rejected or pending
	User         string
	Comment      string
}

// Approvals reads the answers given so far, of all attempts of a run.
func (c *Client) Approvals(ctx context.Context, owner, repo string, run int64) ([]Approval, error) {
	var list []struct {
		Environments []gh.Environment `json:"environments"`
		State        string           `json:"state"`
		Comment      string           `json:"comment"`
		User         *gh.User         `json:"user"`
	}
	if _, err := c.get(ctx, &list, runPath(owner, repo, run, "approvals")); err != nil {
		return nil, Wrap(fmt.Sprintf("reading the approvals of run %d of %s/%s", run, owner, repo), err)
	}
	var approvals []Approval
	for _, a := range list {
		approval := Approval{State: a.State, User: a.User.GetLogin(), Comment: a.Comment}
		for _, e := range a.Environments {
			approval.Environments = append(approval.Environments, e.GetName())
		}
		approvals = append(approvals, approval)
	}
	return approvals, nil
}

// Artifact is a stored artifact and the run that it says it is from.
type Artifact struct {
	ID         int64
	Name       string
	Size       int64 // bytes
	Expired    bool
	ExpiresAt  time.Time
	RunID      int64 // 0, as the next two, where the run is gone
	RepoID     int64
	HeadRepoID int64
}

// RunArtifacts lists a run's artifacts of one name, newest first.
func (c *Client) RunArtifacts(ctx context.Context, owner, repo string, run int64, name string) ([]Artifact, error) {
	list, err := c.artifacts(ctx, runPath(owner, repo, run, "artifacts"), name)
	return list, Wrap(fmt.Sprintf("listing artifacts %q of run %d of %s/%s", name, run, owner, repo), err)
}

// Artifacts lists a repository's artifacts of one name, those of forks' runs
// included, newest first.
func (c *Client) Artifacts(ctx context.Context, owner, repo, name string) ([]Artifact, error) {
	list, err := c.artifacts(ctx, repoPath(owner, repo, "actions", "artifacts"), name)
	return list, Wrap(fmt.Sprintf("listing artifacts %q of %s/%s", name, owner, repo), err)
}

// artifacts asks by name, for which go-github has no parameter.
func (c *Client) artifacts(ctx context.Context, path, name string) ([]Artifact, error) {
	list, err := all(func(o *gh.ListOptions) ([]*gh.Artifact, *gh.Response, error) {
		var page gh.ArtifactList
		query := url.Values{"name": {name}, "per_page": {strconv.Itoa(o.PerPage)}, "page": {strconv.Itoa(o.Page)}}
		resp, err := c.get(ctx, &page, path+"?"+query.Encode())
		return page.Artifacts, resp, err
	})
	var found []Artifact
	for _, a := range list {
		if a.GetName() != name {
			continue
		}
		run := a.GetWorkflowRun()
		found = append(found, Artifact{
			ID: a.GetID(), Name: name, Size: a.GetSizeInBytes(), Expired: a.GetExpired(), ExpiresAt: a.GetExpiresAt().Time,
			RunID: run.GetID(), RepoID: run.GetRepositoryID(), HeadRepoID: run.GetHeadRepositoryID(),
		})
	}
	slices.SortFunc(found, func(a, b Artifact) int { return cmp.Compare(b.ID, a.ID) })
	return found, err
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
