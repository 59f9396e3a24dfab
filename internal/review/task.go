package review

import (
	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/prompt"
)

// task is the review of one file: what it is, and what has come of it so far.
type task struct {
	*Model
	file  diff.File
	key   string
	part  int // that is under review, from 1; 0 where there is only one
	depth depth
	out   finding.FileReview

	revision *revision // nil for a first review
}

// depth says how much a file's review may take.
type depth struct {
	effort string // of the model's reasoning; empty for its default
	limits agent.Limits
}

// revision is what a file's findings are to be revised by.
type revision struct {
	feedback string
	found    []finding.Finding // those of a model that the draft has
	parts    []int             // into which part of the patch each of them falls, from 0
}

// among finds the part into which each finding falls. One that stands in none goes
// with the first.
func (r *revision) among(patches []string) {
	if r == nil {
		return
	}
	r.parts = make([]int, len(r.found))
	for part, patch := range patches[1:] {
		anchors, err := diff.NewAnchors(patch)
		for i, f := range r.found {
			if err == nil && anchors.Check(string(f.Side), f.Line, f.Line) == nil {
				r.parts[i] = part + 1
			}
		}
	}
}

// of is what a part is to be revised by; 0 is the only one.
func (r *revision) of(part int) prompt.Revision {
	out := prompt.Revision{Feedback: r.feedback}
	for i, f := range r.found {
		if r.parts[i] == max(part, 1)-1 {
			out.Findings = append(out.Findings, f)
		}
	}
	return out
}
