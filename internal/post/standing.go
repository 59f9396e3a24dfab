package post

import (
	"context"

	"github.com/org/pr-review-action/internal/pull"
)

// Standing finds the review of a thread that our own author has posted, whatever
// was approved in it.
func Standing(ctx context.Context, r Reader, ref pull.Ref, thread string) (url string, found bool, err error) {
	reviews, err := ours(ctx, r, ref, thread)
	if err != nil || len(reviews) == 0 {
		return "", false, err
	}
	return reviews[0].URL, true, nil
}
