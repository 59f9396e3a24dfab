package score

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
)

func hit(s finding.Severity) Known { return Known{Golden: defect("hit.go", s), Hit: "F1"} }

func missed(s finding.Severity) Known { return Known{Golden: defect("missed.go", s)} }

func defect(path string, s finding.Severity) dataset.Golden {
	return dataset.Golden{Path: path, LineStart: 7, LineEnd: 9, Severity: s}
}

func beside(s finding.Severity, n int) (all []Posted) {
	for range n {
		all = append(all, Posted{Severity: s, Golden: -1})
	}
	return all
}

func TestPassRule(t *testing.T) {
	t.Parallel()
	lost := missed(finding.Major)
	lost.LostAt = "threshold"
	valid := beside(finding.Major, 3)
	valid[0].Valid = true
	for name, c := range map[string]struct {
		result Result
		why    string
	}{
		"hit": {Result{Golden: []Known{hit(finding.Major)}}, ""},
		"missed": {Result{Golden: []Known{missed(finding.Major)}},
			"missed 1 of 1 known finding: `missed.go:7`"},
		"one of two missed": {Result{Golden: []Known{hit(finding.Blocker),
			missed(finding.Major)}}, "missed 1 of 2 known findings: `missed.go:7`"},
		"lost on the way": {Result{Golden: []Known{lost}},
			"missed 1 of 1 known finding: `missed.go:7` (a finding near it was lost at threshold)"},
		"a weak one need not be hit beside": {Result{Golden: []Known{hit(finding.Major), missed(finding.Minor)}},
			""},
		"a weak one must be hit alone": {Result{Golden: []Known{hit(finding.Minor), missed(finding.Minor)}},
			"missed 1 of 2 known findings: `missed.go:7`"},
		"two beside": {Result{Golden: []Known{hit(finding.Major)},
			Posted: beside(finding.Blocker, 2)}, ""},
		"three beside": {Result{Golden: []Known{hit(finding.Major)},
			Posted: beside(finding.Major, 3)}, "3 unmatched findings of severity major or higher, where 2 are allowed"},
		"three beside, one valid": {Result{Golden: []Known{hit(finding.Major)}, Posted: valid},
			"3 unmatched findings of severity major or higher, where 2 are allowed"},
		"weak ones beside": {Result{Golden: []Known{hit(finding.Major)},
			Posted: beside(finding.Minor, 9)}, ""},
		"a hit is not beside": {Result{Golden: []Known{hit(finding.Major)},
			Posted: append(beside(finding.Major, 2), Posted{Severity: finding.Major, Golden: 0})}, ""},
		"clean":            {Result{Kind: dataset.Clean}, ""},
		"clean, weak ones": {Result{Kind: dataset.Clean, Posted: beside(finding.Minor, 9)}, ""},
		"clean, a major one": {Result{Kind: dataset.Clean, Posted: beside(finding.Major, 1)},
			"1 finding of severity major or higher on a clean change"},
		"clean, not read": {Result{Kind: dataset.Clean, Unread: []string{"a.go: failed"}},
			"1 file not read in full"},
		"clean, failed": {Result{Kind: dataset.Clean, Outcome: reviewpr.Failed},
			"the run failed"},
		"failed": {Result{Golden: []Known{hit(finding.Major)},
			Outcome: reviewpr.Failed}, "the run failed"},
		"another file not read": {Result{Golden: []Known{hit(finding.Major)},
			Unread: []string{"other.go: failed", "hit.go: partly"}}, ""},
		"the file of a weak one not read": {Result{Golden: []Known{hit(finding.Major), missed(finding.Minor)},
			Unread: []string{"missed.go: failed"}}, "not read in full: `missed.go`"},
		"a file whose name begins like another's": {Result{Golden: []Known{hit(finding.Major), missed(finding.Minor)},
			Unread: []string{"missed.go.txt: failed"}}, ""},
		"everything at once": {Result{Golden: []Known{missed(finding.Major)}, Posted: beside(finding.Major, 3),
			Unread: []string{"missed.go: failed"}},
			"missed 1 of 1 known finding: `missed.go:7`; 3 unmatched findings of severity major or higher, where 2 " +
				"are allowed; not read in full: `missed.go`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.result
			if r.Kind == "" {
				r.Kind = dataset.Bug
			}
			r.Passed, r.Why = c.why != "", "of an earlier grade"
			Grade(&r)
			require.Equal(t, c.why, r.Why)
			require.Equal(t, c.why == "", r.Passed)
		})
	}
}
