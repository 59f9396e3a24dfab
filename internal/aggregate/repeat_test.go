package aggregate_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// long is a new file of some lines, and a flag of a rule on each.
func long(lines int, category, title string) (diff.File, []finding.Finding) {
	file := diff.File{Path: "a.go", Status: diff.Added, Patch: fmt.Sprintf("@@ -0,0 +1,%d @@", lines)}
	var flags []finding.Finding
	for i := range lines {
		file.Patch += fmt.Sprintf("\n+value%d = read()", i+1)
		f := flagOn(i+1, finding.Major, strings.ReplaceAll(title, "#", fmt.Sprint(i+1)))
		f.Category = category
		flags = append(flags, f)
	}
	return file, flags
}

func TestEqualFindingsOfARuleInOneFileAreOneWithItsPlaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines           int
		category, title string
		kept            int
		says            string
	}{
		"equal":             {320, "bug", "Nothing waits for it", 1, ", 50, 51 and 269 more."},
		"two":               {2, "bug", "Nothing waits for it", 1, " The same on line 2."},
		"of other names":    {4, "bug", "The error of `f#` is dropped", 4, "Because."},
		"credentials":       {120, "secret", "A live credential stands in the code", 1, ", 118, 119, 120."},
		"other credentials": {9, "secret", "The value of `KEY#` stands in the code", 9, "Because."},
	} {
		file, flags := long(c.lines, c.category, c.title)
		all := merged([]diff.File{file}, flags, nil, 4)
		kept := finding.Kept(all)
		require.Len(t, kept, c.kept, name)
		require.Len(t, all, c.lines, "%s: none is lost", name)
		require.Equal(t, "F5", kept[0].ID)
		require.Equal(t, 1, kept[0].Line)
		require.True(t, strings.HasSuffix(kept[0].Body, c.says), kept[0].Body)
		for _, f := range all[c.kept:] {
			require.True(t, f.ListedBy(kept[0]), name)
		}
	}
}

// Reviews of two files of one change report one cause, each at its own side: the finding that names the other's place
// is listed by that one.
func TestFindingsOfTwoFilesAboutOneCauseAreOneWithBothPlaces(t *testing.T) {
	t.Parallel()
	fix := at("lib/a.go", 1, finding.Minor, "`retry` is given a map for its number of tries")
	for name, c := range map[string]struct {
		title, body, says string
		kept              int
	}{
		"the same words":       {"A map is given to `retry` for tries", "See lib/a.go:1.", "", 1},
		"each names the other": {"A failure ends in a panic", "lib/a.go:1 passes a map.", "`b.go` counts it down.", 1},
		"only one does":        {"A failure ends in a panic", "lib/a.go:1 passes a map.", "", 2},
		"another line":         {"A map is given to `retry` for tries", "See lib/a.go:11.", "", 2},
		"first another line":   {"A map is given to `retry` for tries", "See lib/a.go:11 and lib/a.go:1.", "", 1},
		"another file":         {"A map is given to `retry` for tries", "lib/a.go reads mylib/a.go:1.", "", 2},
		"in a folder":          {"A map is given to `retry` for tries", "lib/a.go reads src/lib/a.go:1.", "", 2},
		"first another file":   {"A map is given to `retry` for tries", "See src/lib/a.go:1, (lib/a.go:1).", "", 1},
		"from the folder":      {"A map is given to `retry` for tries", "See ./lib/a.go:1.", "", 1},
		"no place":             {"A map is given to `retry` for tries", "See lib/a.go.", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			use, fix := at("b.go", 1, finding.Major, c.title), fix
			use.Body, fix.Body = c.body, cmp.Or(c.says, fix.Body)
			use.Source, fix.Source = finding.Model, finding.Model
			one := "@@ -0,0 +1 @@\n+x"
			all := merged([]diff.File{{Path: "b.go", Patch: one}, {Path: "lib/a.go", Patch: one}}, nil, reviews(use, fix), 0)
			kept := finding.Kept(all)
			require.Len(t, all, 2)
			require.Len(t, kept, c.kept)
			if c.kept == 1 {
				require.Equal(t, "lib/a.go", kept[0].Path)
				require.Equal(t, finding.Major, kept[0].Severity)
				require.Equal(t, fix.Body+" The same shows in `b.go`, line 1.", kept[0].Body)
				require.True(t, all[1].ListedBy(kept[0]))
			}
		})
	}
}

// What was posted in one finding is known place by place: the next push posts the
// new place alone.
func TestP5_ANewPlaceOfAPostedRepeatIsShownAndNoOther(t *testing.T) {
	t.Parallel()
	for _, category := range []string{"bug", "secret"} {
		file, flags := long(6, category, "A live credential stands in the code")
		var earlier []finding.Earlier
		for _, f := range merged([]diff.File{file}, flags[:5], nil, 0) {
			earlier = append(earlier, finding.Earlier{Fate: finding.WasPosted, Fingerprint: f.Fingerprint})
		}
		all, _ := aggregate.Findings(aggregate.Input{Files: []diff.File{file}, Findings: flags, Earlier: earlier,
			Used: 1, Inline: 15})
		kept := finding.Kept(all)
		require.Len(t, kept, 1)
		require.Equal(t, 6, kept[0].Line)
		require.Equal(t, "Because.", kept[0].Body)
	}
}
