package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// Start starts a workflow of the default branch, branch, and returns the page of its run.
func Start(ctx context.Context, api *github.Client, ref pull.Ref, workflow, branch string,
	inputs map[string]string) (page string, err error) {
	page, err = write.New(api).Dispatch(ctx, ref, workflow, branch, inputs)
	if errors.Is(err, write.ErrUntold) {
		err = problem.As(problem.Failed, err, "look at "+ref.Web()+
			"/actions before you decide again: the run may be there")
	}
	return page, err
}

// Answer approves or rejects what a run waits for, and returns the run's page.
func Answer(ctx context.Context, api *github.Client, ref pull.Ref, run int64, to github.Pending, approve bool,
	comment string) (page string, err error) {
	page = RunPage(ref, run)
	err = write.New(api).Answer(ctx, ref, run, to.ID, approve, comment)
	switch {
	case errors.Is(err, write.ErrAnswered):
		err = problem.As(problem.Refused, err, "look at "+page+
			": somebody has decided meanwhile, or a push has withdrawn the draft")
	case errors.Is(err, write.ErrUntold):
		err = problem.As(problem.Failed, err, "look at "+page+" before you decide again")
	}
	return page, err
}

// RunPage is the page of a workflow run.
func RunPage(ref pull.Ref, run int64) string {
	return fmt.Sprintf("%s/actions/runs/%d", ref.Web(), run)
}
