// Package history makes evaluation cases from a repository's past: merged pull
// requests, and what people remarked on them.
//
// A remark that led to a change is a defect that a reviewer found, so it becomes
// a golden finding of the change as it was when the remark was made. A pull
// request that was approved without a remark becomes a clean case. The package
// judges no remark: every one has severity minor and needs context until a person
// has read and graded the case. It writes nothing, and reads no conversation apart
// from the diff. Start reading at Build; remark.go decides which comments count.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/transport"
)

// MaxLast is the largest Options.Last: github.Client.MergedPulls looks no further
// back.
const MaxLast = 100 * github.MergedPages

// API is the part of GitHub's API that Build reads.
type API interface {
	MergedPulls(ctx context.Context, owner, repo string, last int) ([]github.MergedPull, error)
	ReviewComments(context.Context, pull.Ref) ([]github.ReviewComment, error)
	Reviews(context.Context, pull.Ref) ([]github.Review, error)
	CompareDiff(ctx context.Context, owner, repo, base, head string, max int64) (string, error)
	MergeBase(context.Context, pull.Pull) (string, error)
}

// Options configures what Build looks at.
type Options struct {
	Last       int                   // number of merged pull requests, 1 to MaxLast
	OnProgress func(done, total int) // called after each pull request; may be nil
}

// Estimate returns how many requests Build sends at most, if no pull request has more than a
// hundred comments or reviews.
func Estimate(last int) int { return github.MergedPages + 4*last }

// Build returns cases from the pull requests that were merged last, by number, and notes on
// what it left out. It keeps no more clean cases than others: a set of clean ones would
// reward a reviewer that says nothing. A failure with one pull request costs only that one.
// Build fails if the list cannot be read, for want of access, at a rate limit, or with ctx.
func Build(ctx context.Context, api API, owner, repo string, o Options) ([]dataset.Case, []string, error) {
	pulls, err := api.MergedPulls(ctx, owner, repo, o.Last)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{api: api, leftOut: map[string]int{}}
	for i, p := range pulls {
		if err := b.addPull(ctx, p); err != nil {
			return nil, nil, err
		}
		if o.OnProgress != nil {
			o.OnProgress(i+1, len(pulls))
		}
	}
	if err := b.keepClean(ctx); err != nil {
		return nil, nil, err
	}
	order.Stable(b.cases, func(x, y dataset.Case) int { return cmp.Compare(x.PR, y.PR) })
	return b.cases, append(b.notes, b.summary()...), nil
}

type builder struct {
	api      API
	cases    []dataset.Case
	approved []github.MergedPull // without a remark; candidates for clean cases
	notes    []string
	leftOut  map[string]int // reason to the number of pull requests left out without a note
}

const (
	unheeded   = "they have comments, but none is a reviewer's remark on a line that was changed afterwards"
	unreviewed = "they have no comments, and no person approved them without a remark"
	surplus    = "they are clean, and there are as many clean cases as others without them"
)

// addPull makes a case of a pull request with remarks, and remembers one approved without any.
func (b *builder) addPull(ctx context.Context, p github.MergedPull) error {
	comments, err := b.api.ReviewComments(ctx, p.Ref)
	if err != nil {
		return b.leaveOut(ctx, p, err)
	}
	if len(comments) == 0 {
		return b.addApproved(ctx, p)
	}
	remarks := chooseRemarks(comments, p.Author)
	if len(remarks) == 0 {
		b.leftOut[unheeded]++
		return nil
	}
	return b.add(ctx, p, remarks)
}

func (b *builder) addApproved(ctx context.Context, p github.MergedPull) error {
	reviews, err := b.api.Reviews(ctx, p.Ref)
	if err != nil {
		return b.leaveOut(ctx, p, err)
	}
	if isApproved(reviews, p.Author) {
		b.approved = append(b.approved, p)
	} else {
		b.leftOut[unreviewed]++
	}
	return nil
}

func (b *builder) keepClean(ctx context.Context) error {
	most := 2 * len(b.cases)
	for i, p := range b.approved {
		if len(b.cases) == most {
			b.leftOut[surplus] = len(b.approved) - i
			return nil
		}
		if err := b.add(ctx, p, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(ctx context.Context, p github.MergedPull, remarks []remark) error {
	c, err := b.build(ctx, p, remarks)
	if err != nil {
		return b.leaveOut(ctx, p, err)
	}
	b.cases = append(b.cases, c)
	if lost := len(remarks) - len(c.Golden); lost > 0 {
		b.note("%s: %d of %d remarks are left out: they are on no line of the change", p.Ref, lost, len(remarks))
	}
	return nil
}

// leaveOut notes that a pull request is left out, or returns an error that ends Build.
func (b *builder) leaveOut(ctx context.Context, p github.MergedPull, err error) error {
	status, answered := errors.AsType[*transport.StatusError](err)
	if ctx.Err() != nil || errors.Is(err, github.ErrNoAccess) || answered && status.Limited {
		return err
	}
	b.note("%s is left out: %v", p.Ref, err)
	return nil
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, guard.Line(fmt.Sprintf(format, args...), 0))
}

// summary returns a line per reason for which pull requests were left out without a note.
func (b *builder) summary() []string {
	var lines []string
	for _, why := range []string{unheeded, unreviewed, surplus} {
		if n := b.leftOut[why]; n > 0 {
			lines = append(lines, fmt.Sprintf("pull requests left out because %s: %d", why, n))
		}
	}
	return lines
}
