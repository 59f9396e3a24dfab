package score

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// maxUnmatchedMajor is the number of unmatched findings of severity major or higher that
// a case with a known defect may have and still pass.
const maxUnmatchedMajor = 2

// Grade sets Passed and Why, which is Markdown, by the pass rule. A case with known defects
// passes if all of severity major or higher are hit (or simply all, if none is that severe)
// and at most two other findings of major or higher are posted. A clean case passes if none
// of major or higher is posted. The judge's opinion on single findings does not count. With a
// ticket, each verdict and its evidence must be right too, and each unasked part reported.
// Nothing passes by silence: not a failed run, not a clean case with an unread file, not a
// case that missed a finding in an unread file.
func Grade(r *Result) {
	failed := ""
	if r.Outcome == reviewpr.Failed {
		failed = "the run failed"
	}
	r.Why = wording.Joined("; ", failed, r.whyMissed(), r.whyNoisy(), r.whyMisjudged(), r.whySilent())
	r.Passed = r.Why == ""
}

func (r Result) whyMissed() string {
	var missed []string
	required := 0
	anyGrave := slices.ContainsFunc(r.Golden, func(k Known) bool { return grave(k.Severity) })
	for _, k := range r.Golden {
		if anyGrave && !grave(k.Severity) {
			continue
		}
		required++
		if k.Hit == "" {
			missed = append(missed, k.describe())
		}
	}
	if len(missed) == 0 {
		return ""
	}
	return fmt.Sprintf("missed %d of %s: %s", len(missed), wording.Count(required, "known finding"),
		strings.Join(missed, ", "))
}

// describe returns where a known finding is, and which stage lost a finding near it.
func (k Known) describe() string {
	if k.LostAt != "" {
		return guard.Code(k.location()) + " (a finding near it was lost at " + k.LostAt + ")"
	}
	return guard.Code(k.location())
}

func (k Known) location() string { return fmt.Sprintf("%s:%d", k.Path, k.LineStart) }

func (r Result) whyNoisy() string {
	n := r.unmatchedMajor()
	switch {
	case r.Kind == dataset.Clean && n > 0:
		return wording.Count(n, "finding") + " of severity major or higher on a clean change"
	case n > maxUnmatchedMajor:
		return fmt.Sprintf("%d unmatched findings of severity major or higher, where %d are allowed", n,
			maxUnmatchedMajor)
	}
	return ""
}

func (r Result) whySilent() string {
	if r.Kind == dataset.Clean && len(r.Unread) > 0 {
		return wording.Count(len(r.Unread), "file") + " not read in full"
	}
	var files []string
	for _, k := range r.Golden {
		unread := func(u string) bool { return u == k.Path || strings.HasPrefix(u, k.Path+": ") }
		if k.Hit == "" && slices.ContainsFunc(r.Unread, unread) && !slices.Contains(files, guard.Code(k.Path)) {
			files = append(files, guard.Code(k.Path))
		}
	}
	if len(files) == 0 {
		return ""
	}
	return "not read in full: " + strings.Join(files, ", ")
}
