package review

import (
	"context"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Rules is the reviewer that asks nobody: what rules say of a change is flagged
// before any review, beside a model too.
type Rules struct{}

// Key is empty: rules cost nothing.
func (Rules) Key(diff.File) string { return "" }

// Review says whether the file could be read.
func (Rules) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	if err := ctx.Err(); err != nil {
		return finding.FileReview{Path: f.Path}, err
	}
	if err := readable(f); err != nil {
		return finding.FileReview{Path: f.Path, State: finding.Failed, Reason: reason(err)}, nil
	}
	return finding.FileReview{Path: f.Path, State: finding.Reviewed}, nil
}
