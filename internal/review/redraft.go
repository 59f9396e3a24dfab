package review

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Redraft requests the findings in a file's patch again, revised according to an approver's
// feedback, and returns the complete new list. was is the draft's result for the file, and round
// counts revisions from 1. An incomplete revision fails. Findings of rules are not included.
// Errors are those of Review.
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
		Model: m, file: f, key: Hash(m.Key(f), redrafting, fmt.Sprint(round), feedback, string(said)), revision: r,
		out: finding.FileReview{Path: f.Path, State: finding.Reviewed, Label: was.Label},
	}
	if len(f.Patch) > maxPatch {
		return t.failed(unreadableError("its patch is too large")), nil
	}
	return m.do(ctx, t)
}
