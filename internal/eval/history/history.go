// Package history makes evaluation cases of a repository's own past: merged
// pull requests, and what people remarked on them.
//
// A remark that led to a change is a defect that a reviewer found, so it becomes
// a golden finding of the change as it was when the remark was made; a pull
// request that was approved without a remark becomes a clean case. It judges no
// remark: every one is of severity minor and needs context until a person has
// read the case and graded it. It writes nothing, and reads no conversation
// beside the diff. Start reading at Build; remark.go says which comments count.
package history

import (
	"cmp"
	"context"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pull"
)

// MaxLast is the largest Options.Last: github.Client.MergedPulls looks no
// further back.
const MaxLast = 100 * github.MergedPages

// API is what is read of GitHub.
type API interface {
	MergedPulls(ctx context.Context, owner, repo string, last int) ([]github.MergedPull, error)
	ReviewComments(context.Context, pull.Ref) ([]github.ReviewComment, error)
	Reviews(context.Context, pull.Ref) ([]github.Review, error)
	CompareDiff(ctx context.Context, owner, repo, base, head string, max int64) (string, error)
	MergeBase(context.Context, pull.Pull) (string, error)
}

// Options say what is looked at.
type Options struct {
	Last       int                   // merged pull requests, 1 to MaxLast
	OnProgress func(done, total int) // pull requests looked at; nil for nobody
}

// Estimate is how many requests Build sends at most, with up to a hundred comments or
// reviews each.
func Estimate(last int) int { return github.MergedPages + 4*last }

// Build makes cases of the pull requests that were merged last, by number, and notes on
// what it left out. Clean ones it keeps as many as there are others: a set of them would
// reward a reviewer who says nothing. What goes wrong with one pull request costs that one;
// errors are those of the list, of access, of a rate limit and the context's.
func Build(ctx context.Context, api API, owner, repo string, o Options) ([]dataset.Case, []string, error) {
	pulls, err := api.MergedPulls(ctx, owner, repo, o.Last)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{api: api}
	for i, p := range pulls {
		if err := b.look(ctx, p); err != nil {
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
