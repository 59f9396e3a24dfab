package github

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/order"
)

// Run is one run of a workflow.
type Run struct {
	ID         int64
	Path       string // of the workflow file, such as .github/workflows/x.yml, possibly followed by @ref
	Event      string
	HeadBranch string // or a tag's name
	HeadSHA    string
	RepoID     int64
	HeadRepoID int64 // 0 if the fork was deleted

	Status     string // queued, in_progress, waiting, completed and others
	Conclusion string // success, failure, cancelled and others; empty until completed
	Actor      string // login of the account that started attempt 1
	Created    time.Time
}

// Run reads a workflow run.
func (c *Client) Run(ctx context.Context, owner, repo string, id int64) (Run, error) {
	var r workflowRun
	doing := fmt.Sprintf("reading run %d of %s/%s", id, owner, repo)
	if _, err := c.get(ctx, &r, runPath(owner, repo, id)); err != nil {
		return Run{}, Wrap(doing, err)
	}
	run := r.convert()
	if run.ID != id || run.Path == "" || run.RepoID == 0 {
		return Run{}, Wrap(doing, errIncomplete)
	}
	return run, nil
}

// RunsAt lists the runs of a workflow file at exactly one commit, newest first, at most 100.
// file is its name in .github/workflows. It returns ErrNotFound if the file never ran.
func (c *Client) RunsAt(ctx context.Context, owner, repo, file, sha string) ([]Run, error) {
	var list struct {
		Runs []workflowRun `json:"workflow_runs"`
	}
	path := repoPath(owner, repo, "actions", "workflows", file, "runs") + "?" +
		url.Values{"head_sha": {sha}, "per_page": {strconv.Itoa(pageSize)}}.Encode()
	if _, err := c.get(ctx, &list, path); err != nil {
		return nil, Wrap(fmt.Sprintf("listing the runs of %s of %s/%s", file, owner, repo), err)
	}
	runs := make([]Run, 0, len(list.Runs))
	for _, r := range list.Runs {
		runs = append(runs, r.convert())
	}
	order.Stable(runs, func(a, b Run) int { return cmp.Compare(b.ID, a.ID) })
	return runs, nil
}

// workflowRun adds to go-github's type the field that it drops.
type workflowRun struct {
	gh.WorkflowRun
	Path string `json:"path"`
}

func (r workflowRun) convert() Run {
	return Run{
		ID: r.GetID(), Path: r.Path, Event: r.GetEvent(), HeadBranch: r.GetHeadBranch(), HeadSHA: r.GetHeadSHA(),
		RepoID: r.GetRepository().GetID(), HeadRepoID: r.GetHeadRepository().GetID(),
		Status: r.GetStatus(), Conclusion: r.GetConclusion(), Actor: r.GetActor().GetLogin(),
		Created: r.GetCreatedAt().Time,
	}
}

func runPath(owner, repo string, id int64, parts ...string) string {
	return repoPath(owner, repo, append([]string{"actions", "runs", strconv.FormatInt(id, 10)}, parts...)...)
}

// Approval is one answer to a run's request to enter environments. The API gives no time.
// Comment is untrusted text.
type Approval struct {
	Environments []string
	State        string // approved, rejected or pending
	User         string
	Comment      string
}

// Approvals lists the answers so far, of all attempts of a run.
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

// Pending is an environment that a run waits for.
type Pending struct {
	ID         int64 // of the environment
	Name       string
	MayApprove bool     // the token's account may answer
	Reviewers  []string // who may answer: logins, and teams as @slug
}

// Pending lists the environments that a run waits for; none if it is not waiting.
func (c *Client) Pending(ctx context.Context, owner, repo string, run int64) ([]Pending, error) {
	var list []struct {
		Environment struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"environment"`
		MayApprove bool `json:"current_user_can_approve"`
		Reviewers  []struct {
			Reviewer struct{ Login, Slug string } `json:"reviewer"`
		} `json:"reviewers"`
	}
	if _, err := c.get(ctx, &list, runPath(owner, repo, run, "pending_deployments")); err != nil {
		return nil, Wrap(fmt.Sprintf("reading what run %d of %s/%s waits for", run, owner, repo), err)
	}
	var pending []Pending
	for _, p := range list {
		waits := Pending{ID: p.Environment.ID, Name: p.Environment.Name, MayApprove: p.MayApprove}
		for _, r := range p.Reviewers {
			if r.Reviewer.Login != "" {
				waits.Reviewers = append(waits.Reviewers, r.Reviewer.Login)
			} else if r.Reviewer.Slug != "" {
				waits.Reviewers = append(waits.Reviewers, "@"+r.Reviewer.Slug)
			}
		}
		pending = append(pending, waits)
	}
	return pending, nil
}
