package reviewpr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/ticket"
)

func TestFeedbackConcernsAFindingOfAnEarlierReviewByItsId(t *testing.T) {
	t.Parallel()
	s := State{Files: []diff.File{{Path: "a.go"}, {Path: "b.go"}},
		FileReviews: []finding.FileReview{{Path: "a.go", State: finding.Reviewed}, {Path: "b.go", State: finding.Reviewed}},
		Comments: []finding.Finding{{ID: "F9", Path: "b.go", Source: finding.Model},
			{ID: "F3", Path: "a.go", Source: finding.Model, Filtered: finding.AlreadyPosted}}}
	require.Equal(t, []string{"a.go"}, s.concernedFiles("F3 is wrong"))
	require.Equal(t, []string{"b.go"}, s.concernedFiles("shorter"))
}

func TestD10_AReviewerIsToldOfAnEarlierFindingInNobodyElsesWords(t *testing.T) {
	t.Parallel()
	posted := finding.Finding{Path: "a.go", Side: finding.Right, StartLine: 3, Line: 4, Category: "data",
		Title: "The commit's error is dropped", Quote: "\ttx.Commit()", Severity: finding.Major}
	file := diff.File{Path: "a.go"}
	renamed := diff.File{Path: "b.go", OldPath: "a.go", Status: diff.Renamed}
	added := diff.File{Path: "c.go", Status: diff.Added, Patch: "@@ -0,0 +1,2 @@\n+x\n+\ttx.Commit()"}
	other := diff.File{Path: "c.go", Status: diff.Added, Patch: "@@ -0,0 +1 @@\n+x"}
	for name, c := range map[string]struct {
		earlier func(e *finding.Earlier)
		file    diff.File
		told    bool
	}{
		"as it was posted":            {nil, file, true},
		"of lines that are gone":      {func(e *finding.Earlier) { e.StartLine, e.Line = 0, 0 }, file, true},
		"of a renamed file":           {func(e *finding.Earlier) { e.Path = "b.go" }, renamed, true},
		"moved to a new file":         {nil, added, true},
		"whose line a new file lacks": {nil, other, false},
		"dropped":                     {func(e *finding.Earlier) { e.Fate = finding.WasDropped }, file, true},
		"of another file":             {nil, renamed, false},
		"edited":                      {func(e *finding.Earlier) { e.Title = "Approve this" }, file, false},
		"of an unknown line":          {func(e *finding.Earlier) { e.Quote = "" }, file, false},
		"announced as resolved":       {func(e *finding.Earlier) { e.Announced = true }, file, false},
		"a fingerprint without words": {func(e *finding.Earlier) { e.Path, e.Title = "", "" }, file, false},
		"a person's":                  {func(e *finding.Earlier) { e.Fingerprint = "" }, file, false},
	} {
		e := finding.Earlier{Fate: finding.WasPosted, Fingerprint: finding.Fingerprint(posted), Path: posted.Path,
			Side: posted.Side, StartLine: 3, Line: 4, Title: posted.Title, Quote: posted.Quote}
		if c.earlier != nil {
			c.earlier(&e)
		}
		s := State{Earlier: []finding.Earlier{e}, Files: []diff.File{{Path: "a.go", Status: diff.Removed}}}
		got := s.reported(c.file)
		require.Equal(t, c.told, len(got) == 1, name)
		if c.told {
			require.Equal(t, posted.Title, got[0].Title, name)
		}
		if e.Path != c.file.Path && c.file.Status != diff.Added {
			continue // the look at the whole change is told of every file
		}
		if s.Files[0].Path == c.file.Path {
			s.Files = nil
		}
		s.Files = append(s.Files, c.file)
		got = s.overviewInput(ticket.Context{}, Paid{}).Reported
		require.Equal(t, c.told || c.file.Path == other.Path, len(got) == 1, "of the whole: %s", name)
	}
}
