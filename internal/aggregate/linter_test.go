package aggregate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// linted is what a linter says of a line of a file of forty added lines.
func linted(line int, rule, title string, s finding.Severity) finding.Finding {
	return finding.Finding{Path: "a.go", Side: finding.Right, Line: line, Severity: s, Category: "lint",
		Confidence: 0.8,
		Title:      title, Source: finding.Linter, Rule: rule,
		Origin: &finding.Origin{Tool: "vet", From: "by ci.yml of this change"}}
}

func modelled(line int, title string, s finding.Severity) finding.Finding {
	return finding.Finding{Path: "a.go", Side: finding.Right, Line: line, Severity: s, Category: "correctness",
		Confidence: 0.9, Title: title, Source: finding.Model}
}

func fortyLines() []diff.File {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "+call%d(first, second)\n", i+1)
	}
	return []diff.File{{Path: "a.go", Status: diff.Added, Additions: 40, Patch: "@@ -0,0 +1,40 @@\n" + b.String()}}
}

func together(perRule int, reported []finding.Finding, earlier []finding.Earlier,
	found ...finding.Finding) []finding.Finding {
	all, _ := aggregate.Findings(aggregate.Input{Files: fortyLines(), Findings: reported, Earlier: earlier, Inline: 15,
		PerRule: perRule, Reviews: []finding.FileReview{{Path: "a.go", State: finding.Reviewed, Findings: found}}})
	return all
}

func TestT40_NoLinterHoldsBackOrLowersAnotherFinding(t *testing.T) {
	t.Parallel()
	found := []finding.Finding{
		modelled(3, "The returned error is ignored", finding.Minor),
		modelled(9, "The loop never ends", finding.Blocker),
	}
	before := finding.Kept(together(10, nil, nil, found...))
	var flood []finding.Finding
	for line := range 40 {
		for i, title := range []string{"The returned error is ignored", "The loop never ends", "x"} {
			flood = append(flood, linted(line+1, fmt.Sprintf("rule%d%d", line, i), title, finding.Major))
		}
	}
	kept := finding.Kept(together(10, flood, nil, found...))
	for _, want := range before {
		at := -1
		for i, f := range kept {
			if f.Source == finding.Model && f.Fingerprint == want.Fingerprint {
				at = i
			}
		}
		require.GreaterOrEqual(t, at, 0, want.Title)
		require.Equal(t, want.Severity, kept[at].Severity)
		require.Equal(t, want.Placement, kept[at].Placement, "they have their lines before linters do")
	}
	linters := 0
	for _, f := range kept {
		if f.Source == finding.Linter {
			linters++
		}
	}
	require.Equal(t, 100, linters)
}

func TestALintersFindingThatAnotherSaysNamesTheLinter(t *testing.T) {
	t.Parallel()
	all := together(10, []finding.Finding{
		linted(3, "errcheck", "Error is ignored that was returned", finding.Minor),
		linted(9, "SA4006", "this value is never used", finding.Minor),
		linted(9, "unused", "This value is never used.", finding.Minor),
		linted(20, "govet", "shadowed", finding.Major), linted(30, "gocritic", "something else", finding.Nit),
	}, nil, modelled(3, "The returned error is ignored", finding.Minor), modelled(20, "It is shadowed", finding.Nit),
		finding.Finding{Path: "a.go", Side: finding.Right, Line: 30, Severity: finding.Minor, Category: "other",
			Confidence: 0.9, Title: "Two words", Body: "As gocritic says.", Source: finding.Model})
	said := map[string]string{}
	for _, f := range finding.Kept(all) {
		said[string(f.Source)+" "+f.Title] = strings.Join(f.Also, ",")
	}
	require.Equal(t, map[string]string{
		"model The returned error is ignored": "vet errcheck",
		"linter This value is never used.":    "vet SA4006", "model It is shadowed": "", "linter shadowed": "",
		"model Two words": "vet gocritic",
	}, said)
	for _, f := range all {
		if f.Filtered == finding.Repeat {
			require.NotEmpty(t, f.ID, "what is decided of the one is remembered of the other")
		}
	}
}

func TestBeyondARulesShareLintersAreCounted(t *testing.T) {
	t.Parallel()
	var reported []finding.Finding
	for line := range 25 {
		reported = append(reported, linted(line+1, "errcheck", fmt.Sprintf("unchecked call number %d", line),
			finding.Minor))
	}
	reported = append(reported, linted(30, "other", "once", finding.Nit))
	first := together(10, reported, nil)
	kept := finding.Kept(first)
	require.Len(t, kept, 11)
	capped := 0
	for _, f := range first {
		if f.Filtered == finding.Capped {
			require.Equal(t, "beyond the 10 of a rule", f.Note)
			capped++
		}
	}
	require.Equal(t, 15, capped)
	require.Empty(t, finding.Kept(together(0, reported, nil)), "0 shows none")

	var posted []finding.Earlier
	for _, f := range kept {
		posted = append(posted, finding.Earlier{Fate: finding.WasPosted, Fingerprint: f.Fingerprint, Path: f.Path,
			Side: f.Side, Title: f.Title, Category: f.Category})
	}
	require.Empty(t, finding.Kept(together(10, reported, posted)), "the next push shows no ten more")
}

func TestLintersAreKnownAgainByRuleAndLine(t *testing.T) {
	t.Parallel()
	was := finding.Kept(together(10, []finding.Finding{linted(5, "errcheck", "unchecked call at line 5",
		finding.Minor)}, nil))[0]
	for fate, held := range map[finding.Fate]finding.Filter{
		finding.WasPosted: finding.AlreadyPosted, finding.WasDropped: finding.DroppedBefore,
	} {
		earlier := []finding.Earlier{{Fate: fate, Fingerprint: was.Fingerprint, Path: "a.go", Side: finding.Right,
			Title: was.Title, Quote: was.Quote, Category: "lint", Line: 5, StartLine: 5}}
		again := together(10, []finding.Finding{linted(5, "errcheck", "unchecked call, now in line 6", finding.Minor)},
			earlier)
		require.Equal(t, held, again[0].Filtered)
		other := together(10, nil, earlier, modelled(5, "Unchecked call at line 5", finding.Minor))
		require.Empty(t, other[0].Filtered, "T40: what a linter said holds no model's finding back")
		third := together(10, []finding.Finding{linted(5, "gosec", "unchecked call at line 5", finding.Minor)}, earlier)
		require.Empty(t, third[0].Filtered, "another rule")
	}
}
