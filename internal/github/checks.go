package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v62/github"
)

// CheckPages bounds the pages of a hundred that are read of a commit's check runs, and of its
// statuses.
const CheckPages = 3

// Check is a check run of a commit. Its texts are untrusted: whoever may run a workflow
// chooses them.
type Check struct {
	ID          int64
	Name, App   string
	Status      string // queued, in_progress, completed, …
	Conclusion  string // success, failure, neutral, cancelled, skipped, timed_out, …; empty until completed
	Title       string // of its report
	Summary     string
	Annotations int // their number
}

// Failed reports whether the check ended badly.
func (k Check) Failed() bool {
	switch k.Conclusion {
	case "failure", "timed_out", "action_required", "startup_failure":
		return true
	}
	return false
}

// Annotation is a check's note on lines of a file, counted from 1. Its texts are
// untrusted.
type Annotation struct {
	Path           string
	StartLine      int
	Level          string // notice, warning or failure
	Title, Message string
}

// CommitStatus is the status that a service without check runs sets on a commit. Its texts
// are untrusted.
type CommitStatus struct {
	Context, Description string
	State                string // success, failure, error or pending
}

// Checks lists the latest check runs of a commit, at most CheckPages; more reports that there
// are others. The token needs checks: read.
func (c *Client) Checks(ctx context.Context, owner, repo, sha string) (checks []Check, more bool, err error) {
	list, more, err := listPages(CheckPages, func(o *gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		page, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, segment(owner), segment(repo), sha,
			&gh.ListCheckRunsOptions{ListOptions: *o})
		if err == nil && page.Total == nil {
			err = errIncomplete
		}
		if err != nil {
			return nil, nil, err
		}
		return page.CheckRuns, resp, nil
	})
	for _, k := range list {
		checks = append(checks, Check{
			ID: k.GetID(), Name: k.GetName(), App: k.GetApp().GetName(), Status: k.GetStatus(),
			Conclusion: k.GetConclusion(),
			Title:      k.GetOutput().GetTitle(), Summary: k.GetOutput().GetSummary(),
			Annotations: k.GetOutput().GetAnnotationsCount(),
		})
	}
	return checks, more, Wrap(fmt.Sprintf("listing the check runs of %s/%s at %s", owner, repo, sha), err)
}

// Annotations lists the first hundred annotations of a check run; more reports that there are
// others.
func (c *Client) Annotations(ctx context.Context, owner, repo string,
	check int64) (notes []Annotation, more bool, err error) {
	list, more, err := listPages(1, func(o *gh.ListOptions) ([]*gh.CheckRunAnnotation, *gh.Response, error) {
		return c.api.Checks.ListCheckRunAnnotations(ctx, segment(owner), segment(repo), check, o)
	})
	for _, a := range list {
		notes = append(notes, Annotation{
			Path: a.GetPath(), StartLine: a.GetStartLine(), Level: a.GetAnnotationLevel(),
			Title: a.GetTitle(), Message: a.GetMessage(),
		})
	}
	return notes, more, Wrap(fmt.Sprintf("listing the annotations of check run %d of %s/%s", check, owner, repo), err)
}

// CommitStatuses lists the latest status of each context of a commit, at most CheckPages;
// more reports that there are others. The token needs statuses: read.
func (c *Client) CommitStatuses(ctx context.Context, owner, repo,
	sha string) (statuses []CommitStatus, more bool, err error) {
	list, more, err := listPages(CheckPages, func(o *gh.ListOptions) ([]*gh.RepoStatus, *gh.Response, error) {
		page, resp, err := c.api.Repositories.GetCombinedStatus(ctx, segment(owner), segment(repo), sha, o)
		if err == nil && page.SHA == nil {
			err = errIncomplete
		}
		if err != nil {
			return nil, nil, err
		}
		return page.Statuses, resp, nil
	})
	for _, s := range list {
		statuses = append(statuses, CommitStatus{Context: s.GetContext(), State: s.GetState(),
			Description: s.GetDescription()})
	}
	return statuses, more, Wrap(fmt.Sprintf("listing the statuses of %s/%s at %s", owner, repo, sha), err)
}
