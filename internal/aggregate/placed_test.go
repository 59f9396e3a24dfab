package aggregate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

func TestAStandingFindingIsWhereItsLineIsNow(t *testing.T) {
	t.Parallel()
	const line, other = "return os.Remove(name)", "return os.Rename(name, to)"
	file := func(path, status, patch string) diff.File {
		return diff.File{Path: path, Status: diff.Status(status), Patch: patch}
	}
	adds := func(lines ...string) string {
		patch := "@@ -0,0 +1," + string(rune('0'+len(lines))) + " @@"
		for _, l := range lines {
			patch += "\n+" + l
		}
		return patch
	}
	posted := finding.Earlier{Fate: finding.WasPosted, ID: "F1", Path: "a.go", Side: finding.Right, Quote: line}
	found := finding.Finding{ID: "F1", Path: "b.go", Side: finding.Right, StartLine: 6, Line: 7, Title: "T",
		Filtered: finding.AlreadyPosted, Placement: finding.Inline}
	gone := "@@ -3,2 +3 @@\n-" + line + "\n c"
	for name, tc := range map[string]struct {
		is    func(e *finding.Earlier)
		found []finding.Finding
		files []diff.File
		path  string
		start int
		line  int
	}{
		"in its file":           {nil, nil, []diff.File{file("a.go", "modified", adds("x", "\t"+line))}, "a.go", 2, 2},
		"twice in its file":     {nil, nil, []diff.File{file("a.go", "modified", adds(line, line))}, "a.go", 0, 0},
		"moved to a new file":   {nil, nil, []diff.File{file("b.go", "added", adds("x", line))}, "b.go", 2, 2},
		"moved to a known file": {nil, nil, []diff.File{file("b.go", "modified", adds("x", line))}, "a.go", 0, 0},
		"in its file and a new one": {nil, nil, []diff.File{file("b.go", "added", adds(line)),
			file("a.go", "modified", adds("x", line))}, "a.go", 2, 2},
		"in two new ones": {nil, nil, []diff.File{file("b.go", "added", adds(line)),
			file("c.go", "added", adds(line))}, "a.go", 0, 0},
		"edited": {nil, nil, []diff.File{file("a.go", "modified", adds(other))}, "a.go", 0, 0},
		"a line like many": {func(e *finding.Earlier) { e.Quote = "}" }, nil,
			[]diff.File{file("a.go", "added", adds("}"))}, "a.go", 0, 0},
		"found again": {nil, []finding.Finding{found},
			[]diff.File{file("a.go", "added", adds(line))}, "b.go", 6, 7},
		"deleted by the change": {func(e *finding.Earlier) { e.Side = finding.Left }, nil,
			[]diff.File{file("a.go", "modified", gone)}, "a.go", 3, 3},
		"deleted since": {nil, nil, []diff.File{file("a.go", "modified", gone)}, "a.go", 0, 0},
		"tracked by GitHub": {func(e *finding.Earlier) { e.StartLine, e.Line = 8, 9 },
			[]finding.Finding{found}, nil, "a.go", 8, 9},
		"resolved": {func(e *finding.Earlier) { e.Now = finding.Resolved }, nil,
			[]diff.File{file("a.go", "modified", adds(line))}, "a.go", 0, 0},
		"in a body, found again": {func(e *finding.Earlier) { e.Path, e.Quote = "", "" },
			[]finding.Finding{found}, nil, "b.go", 6, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := posted
			if tc.is != nil {
				tc.is(&e)
			}
			earlier := []finding.Earlier{e}
			got := aggregate.Placed(earlier, tc.found, tc.files)
			require.Equal(t, e, earlier[0], "the caller's stay as they are")
			require.Equal(t, []any{tc.path, tc.start, tc.line}, []any{got[0].Path, got[0].StartLine, got[0].Line})
		})
	}
}
