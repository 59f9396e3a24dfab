// Package recall reads what was said of a pull request before: the findings of
// our own posted reviews, what their approvers dropped, and the comments of
// people on lines that are still in the diff.
//
// It believes the markers that its Source vouches for, and a comment by the
// review that it came with. It writes nothing, and judges nothing: which finding
// says what was said already is for package aggregate. Start reading at Recall.
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

// Source is what is read of GitHub. Remembers tells whether a review with a
// marker was posted by this product after a decision, so that its lists count.
type Source interface {
	Remembers(ctx context.Context, r github.Review, m marker.Review) (bool, error)
	Reviews(ctx context.Context, ref pull.Ref) ([]github.Review, error)
	ReviewComments(ctx context.Context, ref pull.Ref) ([]github.ReviewComment, error)
	Threads(ctx context.Context, ref pull.Ref) ([]github.ReviewThread, error)
	Member(ctx context.Context, owner, repo, login string) (github.Member, error)
}

// Change is the pull request that is going to be reviewed.
type Change struct {
	Pull     pull.Pull
	Instance string // of the reviewer, who remembers its own reviews alone
	Files    []diff.File
	Unlisted int // changed files that are not in Files

	// Known is what decided drafts of the same reviewer tell, each as FromState
	// gives it, the newest first. It is believed: what is added must have been checked.
	Known [][]finding.Earlier
}

// Recall gives what was posted, what was dropped and what people said, in an order that
// does not depend on GitHub's. What it had to do without is in left. Where our own reviews
// cannot be read, err says so, and all is what could be had without them.
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
	if errors.Is(err, github.ErrTooLarge) { // anybody can write them: the markers alone have to do
		left, err = append(left, fmt.Errorf("comments on the lines are not taken into account: %w", err)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	order.Stable(comments, func(a, b github.ReviewComment) int { return cmp.Compare(a.ID, b.ID) })
	all = m.posted(comments)
	if err := m.threads(ctx, s, all); err != nil {
		left = append(left, err)
	}
	all = c.merged(append(all, bare(m.drops, finding.Earlier{Fate: finding.WasDropped})...))
	said, err := c.said(ctx, s, comments, m)
	if err != nil {
		left = append(left, err)
	}
	return append(all, said...), left, cmp.Or(ctx.Err(), unread)
}

// Bounds of what is remembered.
const (
	maxPosted = 2000 // findings, posted and dropped alike
	maxSaid   = 500  // comments of people
	maxLogins = 30   // people whose permission is read
	maxText   = 300  // characters of a title or quote
)

// path is where a file of an earlier head stands now; empty where it is not in
// the list of a change that is not listed whole.
func (c Change) path(path string) string {
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
