package wire

import (
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/linter"
	"github.com/org/pr-review-action/internal/review"
)

// Brief is what a reviewer by a model is told once the change was read.
type Brief struct {
	Change    ingest.Change
	Paid      reviewpr.Paid
	API       *github.Client // of a pull request's repository
	Workspace string         // folder of the results of tests
	NoTools   bool           // the diff is all that is looked at
	Revises   *cost.Usage    // of the draft that is revised; nil for a first one
	Carried   *CarriedIndex  // of a job; nil for none
	Linted    linter.Report  // what linters say of the change
	Once      review.Once    // keeps answers in place of Paid; nil for Paid
}
