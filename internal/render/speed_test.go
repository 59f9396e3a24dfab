package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render/summary"
)

// BenchmarkDraft parses the patch of a file of 5,000 lines and renders 200 findings in it.
func BenchmarkDraft(b *testing.B) {
	patch := "@@ -0,0 +1,5000 @@" + strings.Repeat("\n+\treturn fmt.Errorf(\"debiting %s: %w\", from, err)", 5000)
	r := ledger()
	one := r.Findings[0]
	r.Findings = nil
	for i := range 200 {
		one.ID, one.StartLine, one.Line = fmt.Sprint("F", i+1), 20+24*i, 20+24*i
		one.Severity = []finding.Severity{finding.Blocker, finding.Major, finding.Minor}[i%3]
		r.Findings = append(r.Findings, one)
	}
	for b.Loop() {
		hunks, err := diff.Hunks(patch)
		require.NoError(b, err)
		r.Hunks = func(string) []diff.Hunk { return hunks }
		require.Contains(b, summary.Draft(r, dialog()), "F200")
	}
}
