package app

import (
	"context"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/recall"
)

// remembered is what was said of a pull request before; tell hears of what could
// not be had.
func remembered(ctx context.Context, o *post.Ours, instance string, change ingest.Change, known [][]finding.Earlier,
	tell func(string)) ([]finding.Earlier, error) {
	all, left, err := recall.Recall(ctx, o, recall.Change{Pull: *change.Pull, Instance: instance, Files: change.Files,
		Unlisted: change.Unlisted, Known: known})
	for _, why := range left {
		tell(why.Error())
	}
	return all, err
}
