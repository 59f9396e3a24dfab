package aggregate

import (
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Input is what findings are made from.
type Input struct {
	Files    []diff.File
	Findings []finding.Finding    // which need no reviewer; no reviewer can hold back or replace one
	Reviews  []finding.FileReview // one of a file at most
	Earlier  []finding.Earlier    // what earlier drafts and people said
	Covered  bool                 // every file was read, or left out for a reason that nobody would question
	Used     int                  // ids F1 to F<Used> were given away by earlier drafts of the thread
	PerRule  int                  // the most findings of one rule of a linter
	Report   config.Report        // what a team wants to be told
	Inline   int                  // the most inline comments; what is beyond stands in the body
}
