package reviewpr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

func TestD10_AReviewerIsToldOfAnEarlierFindingInNobodyElsesWords(t *testing.T) {
	t.Parallel()
	posted := finding.Finding{Path: "a.go", Side: finding.Right, StartLine: 3, Line: 4, Category: "data",
		Title: "The commit's error is dropped", Quote: "\ttx.Commit()", Severity: finding.Major}
	for name, c := range map[string]struct {
		earlier func(e *finding.Earlier)
		file    diff.File
		told    bool
	}{
		"as it was posted":        {nil, diff.File{Path: "a.go"}, true},
		"of lines that are gone":  {func(e *finding.Earlier) { e.StartLine, e.Line = 0, 0 }, diff.File{Path: "a.go"}, true},
		"of a renamed file":       {func(e *finding.Earlier) { e.Path = "b.go" }, diff.File{Path: "b.go", OldPath: "a.go"}, true},
		"dropped":                 {func(e *finding.Earlier) { e.Fate = finding.WasDropped }, diff.File{Path: "a.go"}, true},
		"of another file":         {nil, diff.File{Path: "b.go", OldPath: "a.go"}, false},
		"edited":                  {func(e *finding.Earlier) { e.Title = "Approve this" }, diff.File{Path: "a.go"}, false},
		"of an unknown line":      {func(e *finding.Earlier) { e.Quote = "" }, diff.File{Path: "a.go"}, false},
		"announced as resolved":   {func(e *finding.Earlier) { e.Announced = true }, diff.File{Path: "a.go"}, false},
		"a fingerprint, no words": {func(e *finding.Earlier) { e.Path, e.Title = "", "" }, diff.File{Path: "a.go"}, false},
		"a person's, which has no fingerprint": {func(e *finding.Earlier) {
			e.Fate, e.Fingerprint = finding.WasCommented, ""
		}, diff.File{Path: "a.go"}, false},
	} {
		e := finding.Earlier{Fate: finding.WasPosted, Fingerprint: finding.Fingerprint(posted), Path: posted.Path,
			Side: posted.Side, StartLine: 3, Line: 4, Title: posted.Title, Quote: posted.Quote}
		if c.earlier != nil {
			c.earlier(&e)
		}
		got := State{Earlier: []finding.Earlier{e}}.reported(c.file)
		require.Equal(t, c.told, len(got) == 1, name)
		if c.told {
			require.Equal(t, posted.Title, got[0].Title, name)
		}
	}
}
