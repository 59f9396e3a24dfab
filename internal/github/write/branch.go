package write

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

var (
	// ErrExists reports that the branch, pull request or label already exists.
	ErrExists = errors.New("it is there already")
	// ErrMoved reports that the branch's tip is no longer the expected commit.
	ErrMoved = problem.Sentinel("the branch has moved",
		"run it again: it looks for what it was about to write before it writes")
	// ErrMayNotPush reports that the token may not create branches and commits.
	ErrMayNotPush = problem.Sentinel("the token may not push (contents: write)",
		"the token needs contents: write; then decide the same again, the draft still waits")
	// ErrMayNotOpen reports that the token may not open pull requests.
	ErrMayNotOpen = problem.Sentinel("the token may not open pull requests (pull-requests: write)",
		"the token needs pull-requests: write; then decide the same again")
	// ErrForbidden reports that a setting of the repository or organization keeps workflows
	// from opening pull requests. No permission of a job changes that.
	ErrForbidden = problem.Sentinel("GitHub Actions may not open pull requests in this repository",
		`allow it at Settings, Actions, General, Workflow permissions, "Allow GitHub Actions to create and approve `+
			`pull requests" (an organization's setting goes before it); or set pull-request: link under implement in `+
			`the settings. Then re-run the failed jobs: the branch stays, nothing is paid or committed again`)
	// ErrUncertain reports that a write may or may not have happened: the answer was lost.
	ErrUncertain = problem.Sentinel("whether GitHub carried it out is not known",
		"run it again: it looks for what it was about to write before it writes")
	// ErrMayNotComment reports that the token may not comment on issues.
	ErrMayNotComment = problem.Sentinel("the token may not comment on issues (issues: write)",
		"give the job that comments issues: write, and re-run it")
)

// Branch creates a branch at a commit. It returns ErrExists, ErrMayNotPush, ErrUncertain, or
// an error of package github.
func (c *Client) Branch(ctx context.Context, ref pull.Ref, name, sha string) error {
	_, err := sendOnce(ctx, c, func(ctx context.Context) (*gh.Reference, error) {
		made, _, err := c.api.Git.CreateRef(ctx, ref.Owner, ref.Repo, &gh.Reference{
			Ref: gh.String("refs/heads/" + name), Object: &gh.GitObject{SHA: gh.String(sha)}})
		return made, err
	})
	if refusedWith(err, http.StatusUnprocessableEntity, "already exists") {
		return fmt.Errorf("%w: branch %s: %w", ErrExists, name, err)
	}
	return wrapOutcome(ErrMayNotPush, ErrUncertain, "creating the branch "+name, err)
}

// Commit describes a commit to make on a branch.
type Commit struct {
	Branch, Parent string // Parent is the hash that the branch must point to
	Headline, Body string
	Files          []change.File // ordinary files, in full: GitHub takes no mode
}

const commitMutation = `mutation($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid } }
}`

// Commit adds a commit to a branch, all of it or nothing. GitHub signs it; its author is the
// token's account. It returns ErrMoved, ErrMayNotPush, ErrUncertain, or an error of package
// github.
func (c *Client) Commit(ctx context.Context, ref pull.Ref, k Commit) (sha string, err error) {
	additions := []map[string]any{}
	for _, f := range k.Files {
		additions = append(additions, map[string]any{"path": f.Path, "contents": []byte(f.Content)}) // base64 in JSON
	}
	input := map[string]any{
		"branch":          map[string]any{"repositoryNameWithOwner": ref.FullName(), "branchName": k.Branch},
		"message":         map[string]any{"headline": k.Headline, "body": k.Body},
		"expectedHeadOid": k.Parent,
		"fileChanges":     map[string]any{"additions": additions},
	}
	sha, err = sendOnce(ctx, c, func(ctx context.Context) (string, error) {
		var data struct {
			Made struct{ Commit struct{ OID string } } `json:"createCommitOnBranch"`
		}
		err := c.read.GraphQL(ctx, c.api, commitMutation, map[string]any{"input": input}, &data)
		if err == nil && data.Made.Commit.OID == "" {
			err = errors.New("the answer names no commit")
		}
		return data.Made.Commit.OID, err
	})
	if errors.Is(err, github.ErrStale) {
		return "", fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return sha, wrapOutcome(ErrMayNotPush, ErrUncertain, "committing to the branch "+k.Branch, err)
}

// NewPull describes a pull request to open from a branch of the same repository.
type NewPull struct {
	Title, Body  string
	Branch, Base string
}

// OpenPull opens a draft pull request, or an ordinary one if the repository's plan has no
// drafts. It returns ErrExists, ErrForbidden, ErrMayNotOpen, ErrUncertain, or an error of
// package github.
func (c *Client) OpenPull(ctx context.Context, ref pull.Ref, p NewPull) (url string, err error) {
	var made *gh.PullRequest
	for _, draft := range []bool{true, false} {
		made, err = sendOnce(ctx, c, func(ctx context.Context) (*gh.PullRequest, error) {
			made, _, err := c.api.PullRequests.Create(ctx, ref.Owner, ref.Repo, &gh.NewPullRequest{
				Title: gh.String(p.Title), Body: gh.String(p.Body), Head: gh.String(p.Branch),
				Base: gh.String(p.Base), Draft: gh.Bool(draft),
			})
			if err == nil && made.GetHTMLURL() == "" {
				err = errors.New("the answer names no pull request")
			}
			return made, err
		})
		if !refusedWith(err, http.StatusUnprocessableEntity, "Draft pull requests are not supported") {
			break
		}
	}
	switch {
	case refusedWith(err, http.StatusUnprocessableEntity, "already exists"):
		return "", fmt.Errorf("%w: %w", ErrExists, err)
	case refusedWith(err, http.StatusForbidden, "not permitted to create"):
		return "", fmt.Errorf("%w: %w", ErrForbidden, github.Wrap("opening the pull request", err))
	}
	return made.GetHTMLURL(), wrapOutcome(ErrMayNotOpen, ErrUncertain, "opening the pull request", err)
}

// Comment posts a comment under an issue or pull request. It returns ErrMayNotComment,
// ErrUncertain, or an error of package github.
func (c *Client) Comment(ctx context.Context, ref pull.Ref, body string) (url string, err error) {
	made, err := sendOnce(ctx, c, func(ctx context.Context) (*gh.IssueComment, error) {
		made, _, err := c.api.Issues.CreateComment(ctx, ref.Owner, ref.Repo, ref.Number,
			&gh.IssueComment{Body: gh.String(body)})
		return made, err
	})
	return made.GetHTMLURL(), wrapOutcome(ErrMayNotComment, ErrUncertain, "commenting on "+ref.String(), err)
}

// sendOnce sends a write, and repeats it only after a rate limit. It waits for the answer even if
// ctx is cancelled meanwhile, so that the outcome is known.
func sendOnce[T any](ctx context.Context, c *Client, call func(context.Context) (T, error)) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	return retryLimited(ctx, c, func() (T, error) { return call(context.WithoutCancel(ctx)) })
}

// wrapOutcome wraps err with what was being done. It adds kind if the token lacks a permission, and
// lost if no answer proves that nothing was written.
func wrapOutcome(kind, lost error, doing string, err error) error {
	if err == nil {
		return nil
	}
	status, answered := errors.AsType[*transport.StatusError](err)
	answered = answered && status.Code < http.StatusInternalServerError || transport.Refused(err)
	for _, known := range []error{context.Canceled, github.ErrNoAccess, github.ErrNotFound, github.ErrStale,
		github.ErrDeclined} {
		answered = answered || errors.Is(err, known)
	}
	if err = wrapNoAccess(kind, doing, err); !answered {
		err = fmt.Errorf("%w: %w", lost, err)
	}
	return err
}

// refusedWith reports whether err is a refusal with a status and a word of GitHub's.
func refusedWith(err error, code int, word string) bool {
	status, ok := errors.AsType[*transport.StatusError](err)
	return ok && status.Code == code && strings.Contains(status.Message, word)
}
