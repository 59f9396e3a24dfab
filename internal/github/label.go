package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/org/pr-review-action/internal/pull"
)

// LabelSetter reads who put a label on the pull request last, and when:
// ErrNotFound where nobody did. The login is empty for a deleted account.
func (c *Client) LabelSetter(ctx context.Context, ref pull.Ref, label string) (login string, at time.Time, err error) {
	events, err := all(func(o *gh.ListOptions) ([]*gh.IssueEvent, *gh.Response, error) {
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
	return login, at, Wrap(fmt.Sprintf("reading who labelled %s %q", ref, label), err)
}

// HeadPushedAt is the latest of what the timeline says about when the head was
// pushed: the time in the commit, the last event that stands before the commit
// in the list, and the last forced push. The author of a commit can write an
// earlier time into it, but not into the events. ErrNotFound where the head is
// not in the timeline; a caller must then take nothing for older than the head.
func (c *Client) HeadPushedAt(ctx context.Context, ref pull.Ref, head string) (time.Time, error) {
	events, err := all(func(o *gh.ListOptions) ([]*gh.Timeline, *gh.Response, error) {
		return c.api.Issues.ListIssueTimeline(ctx, ref.Owner, ref.Repo, ref.Number, o)
	})
	var seen, pushed time.Time // the newest event so far; the newest sign of a push
	found := false
	for _, e := range events {
		seen = later(seen, e.GetCreatedAt().Time)
		switch {
		case e.GetEvent() == "committed" && e.GetSHA() == head:
			found = true
			pushed = later(pushed, later(seen, e.GetCommitter().GetDate().Time))
		case e.GetEvent() == "head_ref_force_pushed", e.GetEvent() == "head_ref_restored":
			pushed = later(pushed, e.GetCreatedAt().Time)
		}
	}
	if err == nil && !found {
		err = ErrNotFound
	}
	return pushed, Wrap(fmt.Sprintf("reading when %s was pushed to %s", head, ref), err)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
