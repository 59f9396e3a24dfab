package render_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
)

// phone is about what a page of 375 by 812 pixels shows of GitHub's style:
// columns of text and of a heading in a row, pixels.
const (
	phoneColumns = 48
	phoneHeading = 27
	phoneHeight  = 812
)

var linkTarget = regexp.MustCompile(`\]\([^)]*\)`)

// pixels is about how high a paragraph is on a phone, its margin included.
func pixels(block string) int {
	text := linkTarget.ReplaceAllString(strings.NewReplacer("*", "", "`", "", "#", "", "[", "").Replace(block), "")
	switch {
	case strings.HasPrefix(block, "```"): // its rows are not wrapped
		return 20*(strings.Count(block, "\n")-1) + 48
	case strings.HasPrefix(block, "## "):
		return 30*len(column.Wrap(text, phoneHeading)) + 23
	case strings.HasPrefix(block, "#### "):
		return 20*len(column.Wrap(text, phoneColumns-4)) + 24
	case strings.HasPrefix(block, "> [!"):
		rows := 2
		for _, line := range strings.Split(block, "\n")[1:] {
			rows += len(column.Wrap(line, phoneColumns-4))
		}
		return 24*rows + 8
	}
	return 24*len(column.Wrap(text, phoneColumns)) + 16
}

// TestTheFirstScreenDecides was set against pictures of the five pull requests.
func TestTheFirstScreenDecides(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		for _, d := range []summary.Decide{dialog(), dispatch()} {
			r := s.review(t)
			d.Elapsed = 74_000_000_000
			high, decide := 16, false
			for _, block := range strings.Split(foldedBlock.ReplaceAllString(summary.Draft(r, d), "$1"), "\n\n") {
				if strings.HasPrefix(block, "**"+render.Title(r.Findings[0])) {
					high += 24 * len(column.Wrap(render.Title(r.Findings[0]), phoneColumns-2))
					break
				}
				high += pixels(block)
				decide = decide || strings.HasPrefix(block, "**Decide** in ")
			}
			require.True(t, decide, s.Title)
			require.LessOrEqual(t, high, phoneHeight, s.Title)
		}
	}
}

func TestEvidenceFitsOnAPhone(t *testing.T) {
	t.Parallel()
	r := ledger()
	var rows strings.Builder
	for line := 1; line < 60; line++ {
		rows.WriteString("+" + strings.Repeat("\t", 2+line%2) + "x := 1\n")
	}
	r.Hunks = shown(map[string]string{r.Findings[1].Path: "@@ -0,0 +1,59 @@\n" + rows.String()})
	f := &r.Findings[1]
	f.StartLine, f.Line = 10, 41
	page := summary.Draft(r, dialog())
	require.Contains(t, page, "```diff\n+\tx := 1\n+x := 1\n+\tx := 1\n"+
		strings.Repeat("+x := 1\n+\tx := 1\n", 6)+"… 20 more lines\n```", "without the indentation that all share")
}
