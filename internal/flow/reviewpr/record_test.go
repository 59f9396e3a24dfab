package reviewpr

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/ingest"
)

func TestARecordKeepsWhatItsApproverWasShownAndNoneOfItsTexts(t *testing.T) {
	t.Parallel()
	s := State{
		Draft: Draft{Model: "asked-for", Seconds: 8.4},
		Usage: cost.Usage{Calls: 3, Unpriced: 1, Cost: 1200},
		FileReviews: []finding.FileReview{{Path: "a.go", Calls: []finding.Call{{Task: "classify", Model: "small"},
			{Task: "review", Model: "gpt-5-2025"}, {Task: "verify", Model: "other"}}}},
		Comments: []finding.Finding{
			{ID: "F1", Path: "a.go", Severity: finding.Major, Category: "bug", Title: "secret words",
				Source: finding.Model, Filtered: finding.Dropped},
			{ID: "F2", Path: "b.go", Severity: finding.Nit, Category: strings.Repeat("x", 400), Source: finding.Model},
			{ID: "F3", Path: "a.go", Severity: finding.Minor, Category: "lint", Source: finding.Linter,
				Rule: "errcheck", Origin: &finding.Origin{Tool: "golangci-lint"}},
			{ID: "F4", Path: "a.go", Filtered: finding.LeftOut}, {Path: "a.go"},
		},
	}
	r := s.OnRecord(decision.Record{By: "rita"})
	require.Equal(t, []decision.Shown{
		{ID: "F1", Path: "a.go", Severity: decision.Major, Category: "bug", Source: "model", Model: "gpt-5-2025"},
		{ID: "F2", Path: "b.go", Severity: decision.Nit, Source: "model", Model: "asked-for"},
		{ID: "F3", Path: "a.go", Severity: decision.Minor, Category: "lint", Source: "linter", Rule: "errcheck",
			Linter: "golangci-lint"},
	}, r.Findings)
	require.Equal(t, decision.Effort{Cost: 1200, Calls: 3, Unpriced: 1, Seconds: 8.4}, *r.Drafting)
	require.Equal(t, "rita", r.By)
	s.Comments = make([]finding.Finding, maxShown+1)
	for i := range s.Comments {
		s.Comments[i].ID = "F1"
	}
	require.Len(t, s.OnRecord(r).Findings, maxShown)
}

func TestInstructionsGuideNobodyWhereNoModelReads(t *testing.T) {
	t.Parallel()
	for rules, want := range map[bool]int{false: 1, true: 0} {
		t.Run(strconv.FormatBool(rules), func(t *testing.T) {
			t.Parallel()
			c := ingest.Change{Settings: ".github/pr-review.yml",
				Config: config.Config{Instructions: []string{"AGENTS.md"}},
				Files:  []diff.File{{Path: "AGENTS.md", Status: diff.Added, Additions: 1, Patch: "@@ -0,0 +1 @@\n+c"}}}
			require.Len(t, Draft{Rules: rules}.inspect(c).Findings, want)
		})
	}
}
