package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/pull"
)

// LabelSetter returns the login of the account that last put a label on the pull request,
// empty if it was deleted. It returns ErrNotFound if the label was never set.
func (c *Client) LabelSetter(ctx context.Context, ref pull.Ref, label string) (login string, err error) {
	var at time.Time
	events, err := listAll(func(o *gh.ListOptions) ([]*gh.IssueEvent, *gh.Response, error) {
		return c.api.Issues.ListIssueEvents(ctx, ref.Owner, ref.Repo, ref.Number, o)
	})
	for _, e := range events {
		set := e.GetCreatedAt().Time
		if e.GetEvent() == "labeled" && strings.EqualFold(e.GetLabel().GetName(), label) && !set.Before(at) {
			login, at = e.GetActor().GetLogin(), set
		}
	}
	if err == nil && at.IsZero() {
		err = ErrNotFound
	}
	return login, Wrap(fmt.Sprintf("reading who labelled %s %q", ref, label), err)
}
