package aggregate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// capped returns every finding's placement and note, in the order shown.
func capped(most int, found ...finding.Finding) []string {
	all, _ := aggregate.Findings(aggregate.Input{Files: files, Reviews: reviews(found...), Inline: most})
	var out []string
	for _, f := range all {
		out = append(out, fmt.Sprintf("%s %s: %s", f.Title, f.Placement, f.Note))
	}
	return out
}

func TestTheGravestStandAtTheirLinesAndTheRestInTheBody(t *testing.T) {
	t.Parallel()
	weak, off, moved := at("a.go", 2, finding.Blocker, "weak"), at("a.go", 99, finding.Blocker, "off"),
		at("b.go", 10, finding.Minor, "moved")
	weak.Confidence, moved.Note = 0.1, "moved from line 11 to the line that it quotes"
	found := []finding.Finding{at("a.go", 1, finding.Nit, "nit"), moved, at("b.go", 11, finding.Major, "two"),
		at("a.go", 3, finding.Major, "one"), weak, off}
	for most, body := range map[int][]string{
		3: {"one inline: ", "two inline: ", "moved inline: moved from line 11 to the line that it quotes"},
		2: {"one inline: ", "two inline: ", "moved body: beyond the 2 comments of a review; moved from line 11 to " +
			"the line that it quotes"},
		1: {"one inline: ", "two body: beyond the one comment of a review",
			"moved body: beyond the one comment of a review; moved from line 11 to the line that it quotes"},
	} {
		want := append([]string{"off body: line 99 is not part of the diff"}, body...)
		want = append(want, "nit body: a nit", "weak inline: confidence 0.10 is below 0.50")
		require.Equal(t, want, capped(most, found...), "at most %d; what is held back takes no place", most)
	}
	require.Equal(t, []string{"one body: beyond the settings, which allow no comments at lines"}, capped(0, found[3]))
}

func TestP7_AFileWhoseDiffGitHubLeavesOutTakesNoComment(t *testing.T) {
	t.Parallel()
	large := diff.File{Path: "a.go", Patch: "@@ -1 +1,2 @@\n a\n+b", Blob: "b10b"}
	f := at("a.go", 2, finding.Major, "t")
	f.Suggestion = "c"
	all := merged([]diff.File{large}, nil, reviews(f), 0)
	require.Len(t, all, 1)
	require.Equal(t, finding.Body, all[0].Placement)
	require.Equal(t, "GitHub shows no diff of its file", all[0].Note)
	require.Equal(t, "b", all[0].Quote, "the diff that we made has the line")
	require.Equal(t, "c", all[0].Suggestion)
	require.Empty(t, all[0].SuggestionProblem)
}

func TestAFindingInTheBodyKeepsItsSuggestion(t *testing.T) {
	t.Parallel()
	off, nit, same := at("a.go", 99, finding.Minor, "off"), at("a.go", 2, finding.Nit, "nit"),
		at("a.go", 2, finding.Major, "same")
	off.Suggestion, nit.Suggestion, same.Suggestion = "x", "x", "2"
	all := merged(files, nil, reviews(off, nit, same), 0)
	require.Len(t, all, 3)
	require.Empty(t, all[0].Suggestion, "it is what the line has already")
	for _, f := range all[1:] {
		require.Equal(t, finding.Body, f.Placement, f.Title)
		require.Equal(t, "x", f.Suggestion, f.Title)
		require.Equal(t, f.Title == "off", f.SuggestionProblem != "", "%s: a nit's can be applied", f.Title)
	}
}
