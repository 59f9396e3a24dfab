// Package history makes evaluation cases from a repository's past: merged pull
// requests, and what people remarked on them.
//
// A remark that led to a change is a defect that a reviewer found, so it becomes
// a golden finding of the change as it was when the remark was made. The package
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
	CompareDiff(ctx context.Context, owner, repo, base, head string, max int64) (string, error)
	MergeBase(context.Context, pull.Pull) (string, error)
}

// Options configures what Build looks at.
type Options struct {
	Last       int                   // number of merged pull requests, 1 to MaxLast
	OnProgress func(done, total int) // called after each pull request; may be nil
}

// Estimate returns how many requests Build sends at most, if no pull request has more than a
// hundred comments.
func Estimate(last int) int { return github.MergedPages + 3*last }

// Build returns cases from the pull requests that were merged last, by number, and notes on
// what it left out. A failure with one pull request costs only that one. Build fails if the
// list cannot be read, for want of access, at a rate limit, or with ctx.
func Build(ctx context.Context, api API, owner, repo string, o Options) ([]dataset.Case, []string, error) {
	pulls, err := api.MergedPulls(ctx, owner, repo, o.Last)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{api: api}
	for i, p := range pulls {
		if err := b.add(ctx, p); endsBuild(ctx, err) {
			return nil, nil, err
		} else if err != nil {
			b.note("%s is left out: %v", p.Ref, err)
		}
		if o.OnProgress != nil {
			o.OnProgress(i+1, len(pulls))
		}
	}
	if b.unheeded > 0 {
		b.note("pull requests left out because no reviewer's remark is on a line that was changed afterwards: %d",
			b.unheeded)
	}
	order.Stable(b.cases, func(x, y dataset.Case) int { return cmp.Compare(x.PR, y.PR) })
	return b.cases, b.notes, nil
}

// endsBuild reports whether an error with one pull request would also be the next one's.
func endsBuild(ctx context.Context, err error) bool {
	status, answered := errors.AsType[*transport.StatusError](err)
	return err != nil && (ctx.Err() != nil || errors.Is(err, github.ErrNoAccess) || answered && status.Limited)
}

type builder struct {
	api      API
	cases    []dataset.Case
	notes    []string
	unheeded int // pull requests without a remark that counts
}

// add makes a case of a pull request with remarks.
func (b *builder) add(ctx context.Context, p github.MergedPull) error {
	comments, err := b.api.ReviewComments(ctx, p.Ref)
	if err != nil {
		return err
	}
	remarks := chooseRemarks(comments, p.Author)
	if len(remarks) == 0 {
		b.unheeded++
		return nil
	}
	c, err := b.build(ctx, p, remarks)
	if err != nil {
		return err
	}
	b.cases = append(b.cases, c)
	if lost := len(remarks) - len(c.Golden); lost > 0 {
		b.note("%s: %d of %d remarks are left out: they are on no line of the change", p.Ref, lost, len(remarks))
	}
	return nil
}

func (b *builder) note(format string, args ...any) {
	b.notes = append(b.notes, guard.Line(fmt.Sprintf(format, args...), 0))
}
