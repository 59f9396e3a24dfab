// Package recall reads what was reported on a pull request before: the findings of our own posted
// reviews, what their approvers dropped, and people's comments on lines that are still in the
// diff.
//
// It trusts the markers that its Source vouches for, and a comment because of the review that it
// belongs to. It writes nothing and judges nothing: package aggregate decides which finding was
// already reported. Start reading at Recall.
package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/marker"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pull"
)

// Source is the part of GitHub that recall reads. Remembers reports whether this product posted a
// review with a marker after a decision, so that its lists count.
type Source interface {
	Remembers(ctx context.Context, r github.Review, m marker.Review) (bool, error)
	Reviews(ctx context.Context, ref pull.Ref) ([]github.Review, error)
	ReviewComments(ctx context.Context, ref pull.Ref) ([]github.ReviewComment, error)
	Threads(ctx context.Context, ref pull.Ref) ([]github.ReviewThread, error)
	Member(ctx context.Context, owner, repo, login string) (github.Member, error)
}

// Change is the pull request to be reviewed.
type Change struct {
	Pull     pull.Pull
	Instance string // of the reviewer, who remembers only its own reviews
	Files    []diff.File
	Unlisted int // changed files that are not in Files

	// Known holds what decided drafts of the same reviewer pass on, each from FromState, newest
	// first. It is trusted: the caller must have checked it.
	Known [][]finding.Earlier
}

// Recall returns what was posted, what was dropped and what people commented, in an order that
// does not depend on GitHub's. left says what is missing. If our own reviews cannot be read, err
// says so, and all is what is known without them.
func Recall(ctx context.Context, s Source, c Change) (all []finding.Earlier, left []error, err error) {
	reviews, unread := s.Reviews(ctx, c.Pull.Ref)
	if unread != nil {
		reviews = nil
	}
	m, err := newMemory(ctx, s, c, reviews)
	if err != nil {
		return nil, nil, err
	}
	comments, err := s.ReviewComments(ctx, c.Pull.Ref)
	if errors.Is(err, github.ErrTooLarge) { // anybody can write them; use the markers alone
		left, err = append(left, fmt.Errorf("comments on the lines are not taken into account: %w", err)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	order.Stable(comments, func(a, b github.ReviewComment) int { return cmp.Compare(a.ID, b.ID) })
	all = m.postedFindings(comments)
	if err := m.recordThreads(ctx, s, all); err != nil {
		left = append(left, err)
	}
	all = c.mergeDrafts(append(all, fromPrints(m.drops, finding.Earlier{Fate: finding.WasDropped})...))
	said, err := c.peopleComments(ctx, s, comments, m)
	if err != nil {
		left = append(left, err)
	}
	return append(all, said...), left, cmp.Or(ctx.Err(), unread)
}

// Limits of what is remembered.
const (
	maxPosted = 2000 // findings, both posted and dropped
	maxSaid   = 500  // comments of people
	maxLogins = 30   // people whose permission is read
	maxText   = 300  // characters of a title or quote
)

// currentPath returns the current path of a file of an earlier head; "" if the change is not listed in
// full and the file is not in the list.
func (c Change) currentPath(path string) string {
	renamed := ""
	for _, f := range c.Files {
		if f.Path == path {
			return path
		}
		if f.OldPath == path && f.Status == diff.Renamed {
			renamed = f.Path
		}
	}
	if renamed == "" && c.Unlisted == 0 {
		return path
	}
	return renamed
}
