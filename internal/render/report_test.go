package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
)

// The first screen counts what the settings leave out, and says where they draw the line.
func TestTheFirstScreenCountsWhatTheSettingsLeaveOut(t *testing.T) {
	t.Parallel()
	out := func(n int, s finding.Severity) (all []finding.Finding) {
		for range n {
			all = append(all, finding.Finding{Severity: s, Filtered: finding.LeftOut})
		}
		return all
	}
	for name, c := range map[string]struct {
		from finding.Severity
		out  []finding.Finding
		want string
	}{
		"none":       {finding.Minor, nil, ""},
		"below":      {finding.Minor, out(12, finding.Nit), "12 below minor left out"},
		"a category": {"", out(1, finding.Blocker), "1 blocker of other categories or rules left out"},
		"a weak one": {finding.Major, append(out(1, finding.Nit), out(3, finding.Minor)...), "4 below major left out"},
		"both": {finding.Minor, append(out(1200, finding.Nit), out(2, finding.Blocker)...),
			"1,200 below minor left out, 2 blockers of other categories or rules left out"},
		"other causes": {finding.Minor, []finding.Finding{{Severity: finding.Nit, Filtered: finding.Duplicate}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ledger()
			r.From, r.Filtered = c.from, c.out
			for page, text := range map[string]string{"draft": summary.Draft(r, dialog()), "kept": summary.Draft(r,
				keptDraft()),
				"counts": summary.Draft(r, hidden(dialog(), "seal")), "terminal": terminal.Review(r,
					terminal.Options{})} {
				first, _, _ := strings.Cut(text, "files reviewed")
				require.Equal(t, c.want != "", strings.Contains(first, "left out"), page)
				require.Contains(t, first, c.want, page)
			}
			require.NotContains(t, render.Body(r), "left out", "the author is told what is reported")

			r.Findings = nil
			first, _, _ := strings.Cut(summary.Draft(r, keptDraft()), "files reviewed")
			require.Equal(t, c.want != "", strings.Contains(first, "**Nothing to report** · "+c.want), first)
			require.Contains(t, first, "There is nothing to post, so nobody is asked.")
		})
	}
}
