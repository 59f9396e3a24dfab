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

// allowed is the number of unmatched findings of severity major or graver that
// a case with a known defect may have and still pass.
const allowed = 2

// Grade sets Passed and Why by the pass rule. Why is Markdown, with paths in code
// spans.
//
// A case with known defects passes when every known finding of severity major
// or graver is hit (all of them, where there are only weaker ones) and at most
// two findings of major or graver are posted that hit none. A clean case passes
// when nothing of major or graver is posted. The rule knows no judge of single
// findings: one that the judge holds valid still counts as unmatched, so that a
// pass means the same with and without a judge.
//
// A case with a ticket passes where besides each criterion's verdict is right, with a
// line that bears it out where that is met, and each part that nobody asked for is named.
//
// Nothing passes by silence: not a case whose run failed, not a clean one of
// which a file was not read in full, and not one with a missed finding, however
// weak, in such a file.
func Grade(r *Result) {
	failed := ""
	if r.Outcome == reviewpr.Failed {
		failed = "the run failed"
	}
	r.Why = wording.Joined("; ", failed, r.missing(), r.noisy(), r.misjudged(), r.silent())
	r.Passed = r.Why == ""
}

func (r Result) missing() string {
	var missed []string
	required := 0
	anyGrave := slices.ContainsFunc(r.Golden, func(k Known) bool { return grave(k.Severity) })
	for _, k := range r.Golden {
		if anyGrave && !grave(k.Severity) {
			continue
		}
		required++
		if k.Hit == "" {
			missed = append(missed, k.missed())
		}
	}
	if len(missed) == 0 {
		return ""
	}
	return fmt.Sprintf("missed %d of %s: %s", len(missed), wording.Count(required, "known finding"),
		strings.Join(missed, ", "))
}

// missed names the place of a known finding, and the stage that lost a finding
// near it.
func (k Known) missed() string {
	if k.LostAt != "" {
		return guard.Code(k.at()) + " (a finding near it was lost at " + k.LostAt + ")"
	}
	return guard.Code(k.at())
}

func (k Known) at() string { return fmt.Sprintf("%s:%d", k.Path, k.LineStart) }

func (r Result) noisy() string {
	n := r.unmatchedMajor()
	switch {
	case r.Kind == dataset.Clean && n > 0:
		return wording.Count(n, "finding") + " of severity major or graver on a clean change"
	case n > allowed:
		return fmt.Sprintf("%d unmatched findings of severity major or graver, where %d are allowed", n, allowed)
	}
	return ""
}

func (r Result) silent() string {
	if r.Kind == dataset.Clean && len(r.Unread) > 0 {
		return wording.Count(len(r.Unread), "file") + " not read in full"
	}
	var files []string
	for _, k := range r.Golden {
		if k.Hit == "" && r.notRead(k.Path) && !slices.Contains(files, guard.Code(k.Path)) {
			files = append(files, guard.Code(k.Path))
		}
	}
	if len(files) == 0 {
		return ""
	}
	return "not read in full: " + strings.Join(files, ", ")
}

func (r Result) notRead(path string) bool {
	return slices.ContainsFunc(r.Unread, func(u string) bool { return u == path || strings.HasPrefix(u, path+": ") })
}
