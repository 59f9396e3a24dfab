package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/trace"
)

func TestATreeTellsHowAFileCameToItsFindings(t *testing.T) {
	t.Parallel()
	file := finding.FileReview{Path: "a.go", State: finding.Reviewed, Reason: "late", Label: "security",
		Calls: []finding.Call{{Task: "review", Model: "m-1", Part: 2, Seconds: 1.5, Finish: "stop"}, {Task: "verify"}},
		Pack:  []finding.Place{{Path: "b.go", StartLine: 3, EndLine: 9, Why: "calls"}}}
	found := []finding.Finding{{Path: "b.go", ID: "F2"},
		{Path: "a.go", ID: "F1", Severity: finding.Major, Line: 4, Source: "model", Title: "Leak", Note: "moved"},
		{Path: "a.go", Filtered: finding.Dropped, Severity: finding.Nit, Line: 5, Source: "rule", Title: "Typo"}}
	require.Equal(t, trace.Node{Name: "a.go (security)", Time: 1500 * time.Millisecond, End: string(finding.Reviewed),
		Notes: []string{"shown: b.go:3-9, calls", "late", "F1 major line 4, by model: Leak (moved)",
			string(finding.Dropped) + " nit line 5, by rule: Typo"},
		Children: []trace.Node{{Name: "review m-1, part 2", Time: 1500 * time.Millisecond, End: "stop"},
			{Name: "verify"}}}, fileNode(file, found))
}

func TestModulesAreChosenByTheirNames(t *testing.T) {
	t.Parallel()
	all := []config.Module{{Name: "pay"}, {Name: "web"}}
	chosen, err := selectModules([]string{"web"}, all)
	require.NoError(t, err)
	require.Equal(t, all[1:], chosen)
	_, err = selectModules([]string{"web", "wbe"}, all)
	require.ErrorContains(t, err, `"wbe"`)
	require.ErrorContains(t, err, "pay, web")
}
