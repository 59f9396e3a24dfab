package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/github"
)

// ErrMayNotResolve reports that the token may post but not resolve threads. GitHub requires
// contents: write for this in addition to pull-requests: write, which a job's token should
// not have; an app's or a person's can.
var ErrMayNotResolve = errors.New("the token may not resolve threads, for which GitHub asks for contents: write " +
	"beside pull-requests: write")

const resolveMutation = `mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } }
}`

// ResolveThread marks a thread as resolved, which sends no mail. The request is sent once; a
// resolved thread stays so. It returns ErrMayNotResolve or an error of package github.
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
