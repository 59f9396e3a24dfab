package review

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/prompt"
)

// revision is what a file's findings are to be revised by.
type revision struct {
	feedback string
	found    []finding.Finding // those of a model that the draft has
	parts    []int             // into which part of the patch each of them falls, from 0
}

// Redraft asks for the findings in a file's patch once more, as an approver's
// feedback wants them, and gives the whole new list; was is what the draft has of
// the file, and round counts revisions from 1. Quotes are checked and grave
// findings looked at again as in a review; nothing is labelled anew. A revision that
// is not whole is a failed one. Flags of rules are none of it: feedback reaches
// what a model said, and nothing else. Errors are Review's.
func (m *Model) Redraft(ctx context.Context, f diff.File, was finding.FileReview, feedback string,
	round int) (finding.FileReview, error) {
	r := &revision{feedback: m.Redact.Redact(feedback)}
	for _, found := range finding.Kept(was.Findings) {
		if found.Source != finding.Rule {
			r.found = append(r.found, found)
		}
	}
	said, err := json.Marshal(r.found)
	if err != nil {
		return finding.FileReview{Path: f.Path}, fmt.Errorf("reading the draft of a file: %w", err)
	}
	t := &task{
		Model: m, file: f, key: hash(m.Key(f), redrafting, fmt.Sprint(round), feedback, string(said)), revision: r,
		out: finding.FileReview{Path: f.Path, State: finding.Reviewed, Label: was.Label},
	}
	if len(f.Patch) > maxPatch {
		return t.failed(unreadableError("its patch is too large")), nil
	}
	return m.do(ctx, t)
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
