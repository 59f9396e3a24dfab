package aggregate_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

var files = []diff.File{
	{Path: "a.go", Patch: "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+two and a half\n three"},
	{Path: "b.go", Patch: "@@ -10,1 +10,2 @@\n ten\n+eleven"},
	{Path: "c.bin"},
}

func at(path string, line int, severity finding.Severity, title string) finding.Finding {
	return finding.Finding{Path: path, Side: finding.Right, Line: line, Severity: severity, Confidence: 0.9,
		Title: title}
}

func reviews(found ...finding.Finding) []finding.FileReview {
	byPath := map[string]*finding.FileReview{}
	var order []string
	for _, f := range found {
		if byPath[f.Path] == nil {
			byPath[f.Path] = &finding.FileReview{Path: f.Path, State: finding.Reviewed}
			order = append(order, f.Path)
		}
		byPath[f.Path].Findings = append(byPath[f.Path].Findings, f)
	}
	var all []finding.FileReview
	for _, path := range order {
		all = append(all, *byPath[path])
	}
	return all
}

// merged is what happens to rules' findings and reviews where nothing was said before.
func merged(files []diff.File, ruled []finding.Finding, reviews []finding.FileReview, used int) []finding.Finding {
	all, _ := aggregate.Findings(aggregate.Input{Files: files, Findings: ruled, Reviews: reviews, Used: used,
		Inline: 1000})
	return all
}

func TestFindingsAreSortedAndNumberedAsShown(t *testing.T) {
	t.Parallel()
	all := merged(files, nil, reviews(
		at("b.go", 11, finding.Major, "b"), at("a.go", 3, finding.Major, "a3"), at("a.go", 2, finding.Major, "a2"),
		at("b.go", 10, finding.Nit, "nit"), at("b.go", 11, finding.Blocker, "worst"),
	), 4)
	var shown []string
	for _, f := range all {
		shown = append(shown, f.ID+" "+f.Title)
	}
	require.Equal(t, []string{"F5 worst", "F6 a2", "F7 a3", "F8 b", "F9 nit"}, shown, "an earlier draft used F1 to F4")
}

func TestP11_FindingsDoNotDependOnTheOrderOfReviews(t *testing.T) {
	t.Parallel()
	one := reviews(at("a.go", 2, finding.Major, "x"), at("b.go", 11, finding.Major, "y"),
		at("a.go", 2, finding.Major, "w"))
	two := []finding.FileReview{one[1], one[0]}
	require.Equal(t, merged(files, nil, one, 0), merged(files, nil, two, 0))
}

func TestP7_BadAnchorsMoveTheirFindingToTheBody(t *testing.T) {
	t.Parallel()
	multi := at("a.go", 4, finding.Minor, "spans")
	multi.StartLine = 2
	left := at("a.go", 2, finding.Minor, "deleted line")
	left.Side, left.Suggestion = finding.Left, "x"
	for _, c := range []struct {
		name      string
		finding   finding.Finding
		placement finding.Placement
		note      string
	}{
		{"added line", at("a.go", 2, finding.Minor, "t"), finding.Inline, ""},
		{"context line", at("a.go", 4, finding.Minor, "t"), finding.Inline, ""},
		{"range", multi, finding.Inline, ""},
		{"deleted line", left, finding.Inline, ""},
		{"past the hunk", at("a.go", 99, finding.Minor, "t"), finding.Body, "line 99 is not part of the diff"},
		{"zero", at("a.go", 0, finding.Minor, "t"), finding.Body, "line 0 is not part of the diff"},
		{"no patch", at("c.bin", 1, finding.Minor, "t"), finding.Body, "line 1 is not part of the diff"},
		{"unknown file", at("nowhere.go", 1, finding.Minor, "t"), finding.Body, "line 1 is not part of the diff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := merged(files, nil, reviews(c.finding), 0)
			require.Len(t, all, 1)
			require.Equal(t, c.placement, all[0].Placement)
			require.Equal(t, c.note, all[0].Note)
			require.NotEmpty(t, all[0].Fingerprint)
			require.Equal(t, c.finding.Suggestion, all[0].Suggestion, "it is kept")
			require.Equal(t, c.finding.Suggestion != "", all[0].SuggestionProblem != "", "as code to read")
		})
	}
}

func TestFilteringMarksAndNeverLoses(t *testing.T) {
	t.Parallel()
	weak := at("a.go", 2, finding.Blocker, "a guess")
	weak.Confidence = 0.49
	edge := at("a.go", 3, finding.Minor, "at the border")
	edge.Confidence = 0.5
	again := at("a.go", 2, finding.Minor, "The  SAME, thing!")
	all := merged(files, nil, reviews(weak, edge, at("a.go", 2, finding.Major, "the same thing"), again,
		at("b.go", 11, finding.Major, "the same thing")), 0)
	require.Len(t, all, 5)
	kept := finding.Kept(all)
	require.Len(t, kept, 3)
	for i, f := range kept {
		require.Equal(t, fmt.Sprintf("F%d", i+1), f.ID)
	}
	require.Equal(t, finding.LowConfidence, all[3].Filtered)
	require.Equal(t, "confidence 0.49 is below 0.50", all[3].Note)
	require.Equal(t, finding.Duplicate, all[4].Filtered)
	require.Equal(t, finding.Minor, all[4].Severity, "the gravest of the two is kept")
	require.Empty(t, all[4].ID)
}

func TestFilesNamesEveryChangedFile(t *testing.T) {
	t.Parallel()
	all := aggregate.Files(files, []finding.FileReview{{Path: "b.go", State: finding.Reviewed},
		{Path: "a.go", State: finding.Failed, Reason: "x"}})
	require.Equal(t, []finding.FileReview{
		{Path: "a.go", State: finding.Failed, Reason: "x"}, {Path: "b.go", State: finding.Reviewed},
		{Path: "c.bin", State: finding.NotReached},
	}, all)
}
