package write

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

var (
	// ErrNoDispatch reports that the token may not start workflows.
	ErrNoDispatch = problem.Sentinel("the token may not start workflows (actions: write)",
		"give the token actions: write (a classic one the scope repo), on an account that may write here; or let "+
			"somebody decide who has both")
	// ErrNoWorkflow reports that the default branch lacks the workflow file, or that the file
	// does not take this dispatch; GitHub's reason follows.
	ErrNoWorkflow = problem.Sentinel("the workflow cannot be started",
		"add the file to the default branch "+
			"(https://github.com/org/pr-review-action/blob/v1/.github/GUIDES.md#3-deciding-by-dispatch), "+
			"or name yours with --decide-workflow (--draft-workflow for a revision); --post posts under your own "+
			"account")
	// ErrNoAnswer reports that the token may not answer for environments.
	ErrNoAnswer = problem.Sentinel("the token may not answer for environments (deployments: write)",
		"give the token deployments: write (a classic one the scope repo), or decide on the run's page")
	// ErrAnswered reports that the run no longer waits for an environment, or not for this
	// account.
	ErrAnswered = problem.Sentinel("the run does not wait for this answer any more",
		"look at the run's page: somebody may have decided meanwhile, or a push has withdrawn the draft")
	// ErrUntold reports that the answer to a request was lost: GitHub may have carried it
	// out.
	ErrUntold = problem.Sentinel("whether GitHub took the decision is not known",
		"look at the run's page, or at the newest run of the deciding workflow, before you decide again")
)

// Dispatch starts a workflow of the default branch, branch, and returns the page of its run,
// or of the workflow if the server does not return the run. The request is sent once. It
// returns ErrNoDispatch, ErrNoWorkflow, ErrUntold, or an error of package github.
func (c *Client) Dispatch(ctx context.Context, ref pull.Ref, workflow, branch string,
	inputs map[string]string) (page string, err error) {
	file := path.Base(workflow)
	var run struct {
		URL string `json:"html_url"`
	}
	err = c.request(ctx, http.MethodPost, repoPath(ref)+"/actions/workflows/"+url.PathEscape(file)+"/dispatches",
		map[string]any{"ref": branch, "inputs": inputs, "return_run_details": true}, &run)
	doing := "starting " + file + " of " + ref.FullName()
	switch {
	case err == nil && plainURL().MatchString(run.URL):
		return run.URL, nil
	case err == nil:
		return ref.Web() + "/actions/workflows/" + url.PathEscape(file), nil
	case refusedWith(err, http.StatusNotFound, ""), refusedWith(err, http.StatusUnprocessableEntity, ""):
		return "", fmt.Errorf("%w: %w", ErrNoWorkflow, github.Wrap(doing, err))
	}
	return "", wrapOutcome(ErrNoDispatch, ErrUntold, doing, err)
}

// Answer approves or rejects a run's pending deployment to an environment, with a comment.
// The request is sent once. It returns ErrNoAnswer, ErrAnswered, ErrUntold, or an error of
// package github.
func (c *Client) Answer(ctx context.Context, ref pull.Ref, run, environment int64, approve bool, comment string) error {
	state := map[bool]string{true: "approved", false: "rejected"}[approve]
	err := c.request(ctx, http.MethodPost, fmt.Sprintf("%s/actions/runs/%d/pending_deployments", repoPath(ref), run),
		map[string]any{"environment_ids": []int64{environment}, "state": state, "comment": comment}, new([]struct{}))
	doing := fmt.Sprintf("answering for run %d of %s", run, ref.FullName())
	if refusedWith(err, http.StatusUnprocessableEntity, "") {
		return fmt.Errorf("%w: %w", ErrAnswered, github.Wrap(doing, err))
	}
	return wrapOutcome(ErrNoAnswer, ErrUntold, doing, err)
}

func repoPath(ref pull.Ref) string { return "repos/" + ref.FullName() }
