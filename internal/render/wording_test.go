package render_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
)

func TestOneIsSingularAndTwoArePlural(t *testing.T) {
	skipped := func(why finding.Reason) func(n int) string {
		return func(n int) string {
			return render.Review{Files: slices.Repeat([]finding.FileReview{file("x", finding.Skipped, why)},
				n)}.SkippedByReason()
		}
	}
	for name, c := range map[string]struct {
		text     func(n int) string
		one, two string
	}{
		"lockfiles": {skipped(finding.Lockfile), ", 1 skipped (1 lockfile)", ", 2 skipped (2 lockfiles)"},
		"assets":    {skipped(finding.Asset), ", 1 skipped (1 asset)", ", 2 skipped (2 assets)"},
		"binaries":  {skipped(finding.Binary), ", 1 skipped (1 binary)", ", 2 skipped (2 binary)"},
		"submodules": {func(n int) string {
			return render.Review{Files: slices.Repeat([]finding.FileReview{file("x", finding.Skipped,
				finding.Submodule)},
				n)}.Tally()
		}, "0 of 1 file reviewed, **1 submodule**", "0 of 2 files reviewed, **2 submodules**"},
		"failures": {func(n int) string {
			files := make([]finding.FileReview, n)
			for i := range files {
				files[i] = file(string(rune('a'+i))+".go", finding.Failed, "look at OPENAI_API_KEY")
			}
			return terminal.Review(render.Review{Files: files}, terminal.Options{})
		}, "no file was reviewed · 0 of 1 file reviewed, 1 failed\n\na.go  failed: look at OPENAI_API_KEY\n",
			"no file was reviewed · 0 of 2 files reviewed, 2 failed\n\n" +
				"a.go, b.go  failed: look at OPENAI_API_KEY\n"},
		"duplicates": {func(n int) string {
			return render.Review{Filtered: slices.Repeat([]finding.Finding{{Filtered: finding.Duplicate}},
				n)}.FilteredCounts()
		}, "1 duplicate", "2 duplicates"},
		"hidden findings": {func(n int) string {
			page := summary.Draft(render.Review{Findings: make([]finding.Finding, n)}, hidden(dialog(), ""))
			return regexp.MustCompile(`The findings? \w+ not shown here`).FindString(page)
		}, "The finding is not shown here", "The findings are not shown here"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.one, c.text(1))
			require.Equal(t, c.two, c.text(2))
		})
	}
}

func TestCountsHaveThousandsSeparators(t *testing.T) {
	r := ledger()
	r.Findings = nil
	for range 1200 {
		r.Findings = append(r.Findings, ledger().Findings[3])
		r.Filtered = append(r.Filtered, ledger().Filtered[0])
		r.Files = append(r.Files, file("a.png", finding.Skipped, finding.Binary))
	}
	require.Contains(t, render.Body(r), "**1,200 minor**")
	require.Contains(t, r.FilteredList(), "1,201 low confidence")
	require.Contains(t, r.SkippedByReason(), "1,201 binary")
	require.Contains(t, render.Approval(decision.Record{Dropped: make([]decision.Drop, 1200),
		Edited: make([]decision.Edit, 1100)}, true),
		"dropped 1,200 findings and edited 1,100")
	require.Equal(t, "Drafted by a model, approved by rita.", render.Approval(decision.Record{By: "rita",
		Dropped: []decision.Drop{{ID: decision.OverviewID}}, Edited: []decision.Edit{{ID: decision.OverviewID}}}, false))
	require.Contains(t, terminal.Progress(terminal.Running{Done: 1000, Total: 2000}, 80), "1,000/2,000 files")
}

func TestColorAddsNothingButColor(t *testing.T) {
	plain := terminal.Review(partial(), terminal.Options{Width: 80})
	color := terminal.Review(partial(), terminal.Options{Width: 80, Color: true})
	require.NotEqual(t, plain, color)
	require.Equal(t, plain, regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(color, ""))
}

func TestTerminalKeepsItsWidth(t *testing.T) {
	for name, r := range map[string]render.Review{"ledger": ledger(), "partial": partial(), "rules": byRules(),
		"cjk": eastAsian(), "hostile": hostile()} {
		for _, width := range []int{40, 60, 80, 120} {
			for _, line := range strings.Split(terminal.Review(r, terminal.Options{Width: width}), "\n") {
				require.LessOrEqual(t, column.Width(line), width, "%s: %q", name, line)
			}
		}
	}
	for _, width := range []int{20, 40, 80} {
		line := terminal.Progress(terminal.Running{Done: 23, Total: 2000, Findings: 9,
			Used: cost.Usage{Calls: 41, Cost: 120_000}, Waiting: "the rate limit\n\x1b[2J", Elapsed: time.Minute},
			width)
		require.LessOrEqual(t, column.Width(line), width)
		require.NotContains(t, line, "\n")
	}
}

func TestATitleBeginsWithACapitalUnlessItBeginsWithCode(t *testing.T) {
	for raw, want := range map[string]string{
		"nobody closes the file.": "Nobody closes the file", "open": "Open", "été: late": "Été: late", "Kept": "Kept",
		"":                 "",
		"`err` is dropped": "`err` is dropped", "err.Error is called": "err.Error is called",
		"do() fails": "do() fails", "iPhone x": "iPhone x", "max_size is 0": "max_size is 0",
	} {
		require.Equal(t, want, render.PlainTitle(finding.Finding{Title: raw}))
	}
	r := ledger()
	r.Findings[0].Title = "nobody closes the file."
	require.Contains(t, summary.Draft(r, dialog()), "**Nobody closes the file.**")
	require.Contains(t, render.Body(r), "Nobody closes the file\n")
	require.Contains(t, render.Comment(r.Findings[0]), "**Blocker: Nobody closes the file**")
	require.Contains(t, terminal.Review(r, terminal.Options{}), "Nobody closes the file\n")
}

func TestASecretIsNotRepeated(t *testing.T) {
	r := ledger()
	r.Findings = r.Findings[:1]
	f := &r.Findings[0]
	f.Category, f.Quote, f.Suggestion = "secret", "l.Debit(fro…)", ""
	require.Contains(t, terminal.Review(r, terminal.Options{}), "41 │ l.Debit(fro…)")
	require.NotContains(t, terminal.Review(r, terminal.Options{}), "amount)")
	f.Suggestion = "\tl.Debit(os.Getenv(name))\n"
	require.Contains(t, summary.Draft(r, dialog()), "```go\nl.Debit(fro…)\n```")
	require.NotContains(t, summary.Draft(r, dialog()), "l.Debit(from, amount)", "a diff would show the line")
}

func TestNothingIsSaidTwice(t *testing.T) {
	refused := ended(render.Review{Name: "#42"}, "REFUSED",
		"error: decision refused, nothing was posted\n  line 2  /drop F9")
	require.Equal(t, 1, strings.Count(refused, "nothing was posted"))
	require.Contains(t, refused, "## The decision on #42 was refused, nothing was posted\n")
	require.Contains(t, refused, "decision refused\n  line 2  /drop F9")
	require.NotContains(t, summary.Draft(ledger(), dialog()), "9 reviewed", "the count line has it")
}
