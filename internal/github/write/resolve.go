package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/github"
)

// ErrMayNotResolve is a token that may post and not mark a thread resolved.
// GitHub asks for contents: write beside pull-requests: write, which a job's
// token should not have: the one of an app or a person can have it.
var ErrMayNotResolve = errors.New("the token may not resolve threads, for which GitHub asks for contents: write " +
	"beside pull-requests: write")

const resolveMutation = `mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } }
}`

// ResolveThread marks a thread as resolved, which nobody is told of by mail. It
// is sent once; a thread that is resolved already stays so. The error is
// ErrMayNotResolve, or one of package github.
func (c *Client) ResolveThread(ctx context.Context, id string) error {
	var data struct {
		ResolveReviewThread *struct {
			Thread struct {
				IsResolved bool `json:"isResolved"`
			} `json:"thread"`
		} `json:"resolveReviewThread"`
	}
	err := c.read.GraphQL(ctx, c.api, resolveMutation, map[string]any{"id": id}, &data)
	if err == nil && (data.ResolveReviewThread == nil || !data.ResolveReviewThread.Thread.IsResolved) {
		err = errors.New("the answer does not say that it is resolved")
	}
	err = github.Wrap("resolving a thread", err)
	if errors.Is(err, github.ErrNoAccess) {
		return fmt.Errorf("%w: %w", ErrMayNotResolve, err)
	}
	return err
}
