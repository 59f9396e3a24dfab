package diff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

func TestAnExcerptShowsThreeLinesAroundAndWhatWasRemoved(t *testing.T) {
	t.Parallel()
	const patch = "@@ -10,8 +10,7 @@ func Close()\n a\n b\n c\n d\n-old one\n-old two\n+new\n e\n f\n" +
		"@@ -40,2 +39,9 @@\n x\n+1\n+2\n+3\n+4\n+5\n+6\n+7\n y\n"
	hunks, err := diff.Hunks(patch)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		side              string
		first, last, most int
		want              string
		at, end           int
	}{
		"a changed line":        {"RIGHT", 14, 14, 8, " b| c| d|-old one|-old two|+new| e| f", 5, 5},
		"a removed line":        {"LEFT", 14, 14, 8, " b| c| d|-old one|-old two|+new| e| f", 3, 3},
		"unchanged":             {"RIGHT", 10, 10, 8, " a| b| c| d", 0, 0},
		"removed lines between": {"RIGHT", 13, 14, 8, " a| b| c| d|-old one|-old two|+new| e| f", 3, 6},
		"a long stretch is cut": {"RIGHT", 14, 14, 2, "-old one|-old two|+new| e| f", 2, 2},
		"added lines":           {"RIGHT", 42, 44, 8, " x|+1|+2|+3|+4|+5|+6|+7| y", 3, 5},
		"outside":               {"RIGHT", 30, 30, 8, "", 0, 0},
		"in two hunks":          {"RIGHT", 14, 40, 8, "", 0, 0},
		"backwards":             {"RIGHT", 14, 12, 8, "", 0, 0},
		"of no side":            {"", 14, 14, 8, "", 0, 0},
		"line 0":                {"LEFT", 0, 0, 8, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, at, end := diff.Excerpt(hunks, c.side, c.first, c.last, 3, c.most)
			var shown []string
			for _, r := range rows {
				shown = append(shown, string(rune(r.Op))+r.Text)
			}
			require.Equal(t, c.want, strings.Join(shown, "|"))
			require.Equal(t, []int{c.at, c.end}, []int{at, end})
		})
	}
}
