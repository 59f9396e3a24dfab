package review

import (
	"context"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/rule"
)

// Rules is the reviewer that needs no model: fixed rules over added lines.
type Rules struct{}

// NewRules returns the reviewer by rules.
func NewRules() Rules { return Rules{} }

// Key is empty: rules cost nothing.
func (Rules) Key(diff.File) string { return "" }

// Review applies every rule to the file's patch.
func (Rules) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	if err := ctx.Err(); err != nil {
		return finding.FileReview{Path: f.Path}, err
	}
	if err := readable(f); err != nil {
		return finding.FileReview{Path: f.Path, State: finding.Failed, Reason: reason(err)}, nil
	}
	return finding.FileReview{Path: f.Path, State: finding.Reviewed, Findings: rule.Review(f)}, nil
}
