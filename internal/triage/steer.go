package triage

import (
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// Steering is the category of a change to what reviews are guided by.
const Steering = "other"

// steers tells of a change to the settings, or to a file of instructions, whatever
// is left out of the review: this one went by those of the base commit, and the
// next ones will go by these.
func steers(f diff.File, o Options) []finding.Finding {
	flag := finding.Finding{
		Path: f.Path, Category: Steering, Confidence: confidence, Source: finding.Rule, Placement: finding.Inline,
	}
	is := func(path string) bool { return path != "" && (path == f.Path || path == f.OldPath) }
	switch {
	case is(o.Settings):
		flag.Severity, flag.Title = finding.Minor, "The settings of these reviews change"
		flag.Body = "They say what is reviewed, how, and for how much. This review went by those of the base " +
			"commit; from the merge on these hold. "
	case slices.ContainsFunc(o.Instructions, is):
		flag.Severity, flag.Title = finding.Nit, "Instructions change that guide these reviews"
		flag.Body = "A model that reviews is shown this file. This review went by the one of the base commit; from " +
			"the merge on this one holds. "
	default:
		return nil
	}
	flag.Body += "Read it as one reads code."
	flag.Side, flag.Line = firstChange(f)
	flag.StartLine = flag.Line
	flag.Fingerprint = finding.Fingerprint(flag)
	return []finding.Finding{flag}
}

// firstChange is the first line that a change adds, else the first that it takes
// away; line 1 where there is none.
func firstChange(f diff.File) (finding.Side, int) {
	deleted := 0
	hunks, _ := f.Hunks() // what cannot be read is reported as failed
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch {
			case l.Op == diff.Add:
				return finding.Right, l.New
			case l.Op == diff.Delete && deleted == 0:
				deleted = l.Old
			}
		}
	}
	if deleted > 0 {
		return finding.Left, deleted
	}
	return finding.Right, 1
}
