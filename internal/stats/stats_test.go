package stats

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
)

// TestMain has garbage collected rarely: the tests allocate much and keep little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// decided is the record of a decision on a draft that showed these findings.
func decided(t *testing.T, digest, text string, shown ...decision.Shown) decision.Record {
	t.Helper()
	d, err := decision.Parse(text)
	require.NoError(t, err)
	return decision.Record{Digest: digest, Findings: shown}.With(d)
}

func found(id string, s finding.Severity, category string) decision.Shown {
	return decision.Shown{ID: id, Severity: s, Category: category, Source: "model", Model: "gpt-5"}
}

func sample(t *testing.T) []decision.Record {
	t.Helper()
	lint := decision.Shown{ID: "F4", Severity: finding.Nit, Category: "style", Source: "linter", Rule: "errcheck",
		Linter: "golangci-lint"}
	first := []decision.Shown{found("F1", finding.Blocker, "bug"), found("F2", finding.Minor, "bug"),
		found("F3", finding.Major, "style"), lint}
	return []decision.Record{
		decided(t, "d1", "/approve\n/drop F2: known\n/edit F1: other words\n/summary F1\n/severity F3 minor", first...),
		decided(t, "d2", "/abort", found("F1", finding.Blocker, "bug")),
		decided(t, "d3", "/revise kinder", first...),
		decided(t, "d4", "/abort", first...).Withdraws("58d1e0c2a9b7f346"),
		decided(t, "d1", "/approve", first...),
	}
}

func TestOutcomesAreSummedFromWhatApproversDid(t *testing.T) {
	t.Parallel()
	s := sum(verdicts(sample(t)))
	require.Equal(t, []int{2, 1, 1}, []int{s.Drafts, s.Posted, s.Aborted})
	require.Equal(t, Tally{Found: 5, Kept: 3, Dropped: 1, Unposted: 1, Edited: 1, Moved: 1, Regraded: 1,
		Precision: Wilson(3, 4)}, s.All)
	require.Equal(t, []Group{
		{"blocker", Tally{Found: 2, Kept: 1, Unposted: 1, Edited: 1, Moved: 1, Precision: Wilson(1, 1)}},
		{"major", Tally{Found: 1, Kept: 1, Regraded: 1, Precision: Wilson(1, 1)}},
		{"minor", Tally{Found: 1, Dropped: 1, Precision: Wilson(0, 1)}},
		{"nit", Tally{Found: 1, Kept: 1, Precision: Wilson(1, 1)}},
	}, s.BySeverity)
	require.Equal(t, []string{"bug", "style"}, names(s.ByCategory))
	require.Equal(t, []string{"linter", "model"}, names(s.BySource))
	require.Equal(t, []string{"gpt-5"}, names(s.ByModel))
	require.Equal(t, []Group{{"golangci-lint errcheck", Tally{Found: 1, Kept: 1, Precision: Wilson(1, 1)}}}, s.ByRule)
	require.Equal(t, []string{"golangci-lint"}, names(s.ByLinter))
	for _, groups := range [][]Group{s.BySeverity, s.ByCategory, s.BySource} {
		var total Tally
		for _, g := range groups {
			require.Equal(t, g.Found, g.Kept+g.Dropped+g.Unposted)
			total.add(g.Tally)
		}
		total.rate()
		require.Equal(t, s.All, total)
	}
}

func names(groups []Group) (all []string) {
	for _, g := range groups {
		all = append(all, g.Name)
	}
	return all
}

func TestP11_TheOrderOfDraftsChangesNothing(t *testing.T) {
	t.Parallel()
	all := sample(t)[:4]
	want := sum(verdicts(all))
	slices.Reverse(all)
	require.Equal(t, want, sum(verdicts(all)))
}

func TestJSONHasTheDocumentedKeys(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(sum(verdicts(sample(t)[1:2])))
	require.NoError(t, err)
	tally := `"found":1,"kept":0,"dropped":0,"unposted":1,"edited":0,"moved":0,"regraded":0,"precision":null}`
	require.JSONEq(t, `{"drafts":1,"posted":0,"aborted":1,"findings":{`+tally+`,"by_severity":[{"name":"blocker",`+
		tally+`],"by_category":[{"name":"bug",`+
		tally+`],"by_source":[{"name":"model",`+tally+`],"by_model":[{"name":"gpt-5",`+
		tally+`],"by_rule":[],"by_linter":[]}`, string(text))
	text, err = json.Marshal(sum(nil))
	require.NoError(t, err)
	require.Contains(t, string(text), `"by_severity":[]`)
}

func TestT13_TextIsInertAndFitsATerminal(t *testing.T) {
	t.Parallel()
	require.Equal(t, "No draft was decided yet.\n", Stats{}.Text())
	var all []decision.Shown
	for i, category := range append(slices.Repeat([]string{"bug"}, 12_345), "\x1b[31m::add-mask::x",
		"::stop-commands::x", strings.Repeat("é", 300), "##[error]", "a\nb", "") {
		all = append(all, found(fmt.Sprint("F", i+1), finding.Major, category))
	}
	for i := range 30 {
		all = append(all, found(fmt.Sprint("G", i), finding.Minor, fmt.Sprintf("c%02d", i)))
	}
	all[3].Rule, all[3].Linter = strings.Repeat("rule ", 30)+"::x", "golangci-lint"
	s := sum([]decision.Record{decided(t, "d", "/approve\n/drop F1: known\n/drop F2", all...)})
	require.Len(t, s.ByCategory, maxGroups)
	require.Equal(t, "other", s.ByCategory[maxGroups-1].Name)
	text := s.Text()
	require.NotContains(t, text, "\x1b")
	require.Contains(t, text, "Findings: 12381 (12379 posted, 1 dropped with a reason, 1 left out unjudged)\n"+
		"Precision, posted of those judged: 100.0 %, 95 % interval 100.0 to 100.0 %\n")
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
		require.NotRegexp(t, `^\s*::|##\[`, line)
	}
}

func TestWilsonAgainstKnownValues(t *testing.T) {
	t.Parallel()
	require.Nil(t, Wilson(0, 0))
	for _, c := range []struct {
		k, n int
		want Interval
	}{
		{8, 10, Interval{0.8, 0.4902, 0.9433}}, {0, 10, Interval{0, 0, 0.2775}}, {10, 10, Interval{1, 0.7225, 1}},
		{80, 100, Interval{0.8, 0.7112, 0.8666}},
	} {
		require.Equal(t, c.want, *Wilson(c.k, c.n), "%d of %d", c.k, c.n)
	}
}
