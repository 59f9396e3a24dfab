package driver

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// Dispatch is the command that starts a workflow for a pull request.
func Dispatch(workflow string, ref pull.Ref, number int) string {
	return DispatchOn(workflow, ref, fmt.Sprintf("pull-request=%d", number))
}

// DraftName is what names a pull request's draft in the form of the deciding workflow.
func DraftName(number int, code string) string { return fmt.Sprintf("%d-%s", number, code) }

// DispatchOn is the command that starts a workflow with a field, such as ticket=PAY-88.
func DispatchOn(workflow string, ref pull.Ref, field string) string {
	return fmt.Sprintf("gh workflow run %s --repo %s -f %s", path.Base(workflow), ref.FullName(), field)
}

// Approval is the command that approves the deployment for which a run waits, by its
// environment's id; it is empty where one of the two is not known.
func Approval(ref pull.Ref, run, environment int64) string {
	if run == 0 || environment == 0 {
		return ""
	}
	return fmt.Sprintf("gh api -X POST repos/%s/actions/runs/%d/pending_deployments -F 'environment_ids[]=%d' "+
		"-f state=approved -f comment=", ref.FullName(), run, environment)
}

// Quoted makes one word of s for a shell, where it is none as it stands.
func Quoted(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/.:#@~_-", r)
	}) < 0
	if plain && s != "" && !strings.HasPrefix(s, "~") && !strings.HasPrefix(s, "#") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

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
