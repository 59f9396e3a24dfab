package triage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

func TestT5_AChangeOfWhatGuidesReviewsIsFlaggedHoweverItComes(t *testing.T) {
	t.Parallel()
	o := Options{Settings: ".github/pr-review.yml", Instructions: []string{"AGENTS.md"}, Ignore: []string{"**"}}
	const added, deleted = "@@ -1,2 +1,3 @@\n a\n b\n+c", "@@ -2,2 +2 @@\n a\n-b"
	for name, tc := range map[string]struct {
		file     diff.File
		severity finding.Severity
		side     finding.Side
		line     int
	}{
		"settings": {diff.File{Path: o.Settings, Status: diff.Modified, Patch: added, Additions: 1},
			finding.Minor, finding.Right, 3},
		"settings, deleted": {diff.File{Path: o.Settings, Status: diff.Removed, Patch: deleted, Deletions: 1},
			finding.Minor, finding.Left, 3},
		"settings, moved away": {diff.File{Path: "x.yml", OldPath: o.Settings, Status: diff.Renamed}, finding.Minor,
			finding.Right, 1},
		"settings, moved there": {diff.File{Path: o.Settings, OldPath: "x.yml", Status: diff.Renamed}, finding.Minor,
			finding.Right, 1},
		"settings, without diff": {diff.File{Path: o.Settings, Status: diff.Modified, Additions: 9,
			Problem: "too large"}, finding.Minor, finding.Right, 1},
		"instructions": {diff.File{Path: "AGENTS.md", Status: diff.Added, Patch: "@@ -0,0 +1 @@\n+c", Additions: 1},
			finding.Nit, finding.Right, 1},
		"instructions of a folder": {diff.File{Path: "docs/AGENTS.md", Status: diff.Modified, Patch: added, Additions: 1},
			finding.Nit, finding.Right, 3},
		"instructions, moved away": {diff.File{Path: "x.md", OldPath: "docs/AGENTS.md", Status: diff.Renamed}, finding.Nit,
			finding.Right, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := Inspect([]diff.File{tc.file}, nil, o).Findings
			require.Len(t, found, 1)
			f := found[0]
			require.Equal(t, tc.file.Path, f.Path)
			require.Equal(t, []any{tc.severity, tc.side, tc.line, Steering},
				[]any{f.Severity, f.Side, f.Line, f.Category})
			require.NotEmpty(t, f.Fingerprint)
		})
	}
	other := diff.File{Path: "docs/REVIEW.md", Status: diff.Modified, Patch: added, Additions: 1}
	require.Empty(t, Inspect([]diff.File{other}, nil, o).Findings, "it is not named")
	other.Path = "vendor/a/AGENTS.md"
	require.Empty(t, Inspect([]diff.File{other}, nil, o).Findings, "what lies beside it is not reviewed")
	other.Path = "docs/AGENTS.md"
	require.Empty(t, Inspect([]diff.File{other}, nil, Options{Instructions: []string{"REVIEW.md"}}).Findings,
		"the settings take none")
	other.Path = o.Settings
	require.Empty(t, Inspect([]diff.File{other}, nil, Options{Ignore: o.Ignore}).Findings, "nothing was read of a base")
}
