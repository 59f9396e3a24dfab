package aggregate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/finding"
)

// ruled is what a rule says of a line of a file of forty added lines.
func ruled(line int, title, category string, s finding.Severity) finding.Finding {
	return finding.Finding{Path: "a.go", Side: finding.Right, Line: line, Severity: s, Category: category,
		Confidence: 1, Title: title, Source: finding.Rule, Rule: "r"}
}

func of(category string, f finding.Finding) finding.Finding {
	f.Category = category
	return f
}

// reportedAs lists findings as "title: id or why not".
func reportedAs(all []finding.Finding) (lines []string) {
	for _, f := range all {
		why := f.ID
		if f.Filtered != "" {
			why = string(f.Filtered)
		}
		if f.Filtered == finding.LeftOut {
			why += ", " + f.Note
		}
		lines = append(lines, f.Title+": "+why)
	}
	return lines
}

// What a team does not want is left out, and nothing else with it.
func TestTheSettingsLeaveOutWhatATeamDoesNotWant(t *testing.T) {
	t.Parallel()
	const ignored, tls = "The returned error is ignored", "Certificate checks are turned off"
	from := func(s finding.Severity) config.Report { return config.Report{From: s} }
	wanted := func(names ...string) config.Report { return config.Report{Categories: names} }
	for name, c := range map[string]struct {
		report   config.Report
		without  []finding.Finding
		reviewed []finding.Finding
		earlier  []finding.Earlier
		want     []string
	}{
		"nothing said": {config.Report{}, []finding.Finding{ruled(1, "r", "security", finding.Nit)},
			[]finding.Finding{modelled(9, "m", finding.Nit)}, nil, []string{"r: F1", "m: F2"}},
		"from minor": {from(finding.Minor), []finding.Finding{ruled(1, "r", "security", finding.Nit),
			linted(3, "l", "linter", finding.Nit)},
			[]finding.Finding{modelled(9, "m", finding.Nit), modelled(12, "kept", finding.Minor)}, nil,
			[]string{"kept: F1", "r: left_out, below report.from", "linter: left_out, below report.from",
				"m: left_out, below report.from"}},
		"security alone": {wanted("security"), []finding.Finding{ruled(1, "r", "Security", finding.Minor),
			linted(3, "l", "linter", finding.Major)}, []finding.Finding{modelled(9, "m", finding.Blocker)}, nil,
			[]string{"r: F1", "m: left_out, report.categories does not list its category",
				"linter: left_out, report.categories does not list its category"}},
		"tests and style stay off": {wanted("style", "tests"), nil,
			[]finding.Finding{of("style", modelled(9, "s", finding.Minor)),
				of("tests", modelled(3, "t", finding.Minor))},
			nil, []string{"t: left_out, report.tests is off", "s: left_out, report.style is off"}},
		"style on and not wanted": {config.Report{Style: true, Categories: []string{"security"}}, nil,
			[]finding.Finding{of("style", modelled(9, "s", finding.Minor))}, nil,
			[]string{"s: left_out, report.categories does not list its category"}},
		"a credential and hidden text stay": {config.Report{From: finding.Blocker, Categories: []string{"performance"}},
			[]finding.Finding{ruled(1, "key", "secret", finding.Major), ruled(2, "bidi", "hidden-text", finding.Nit)},
			[]finding.Finding{of("secret", modelled(9, "a model's", finding.Major))}, nil,
			[]string{"key: F1", "bidi: F2", "a model's: left_out, report.categories does not list its category"}},
		"a rule's blocker is left out in sight": {wanted("security"),
			[]finding.Finding{ruled(1, "marker", "correctness", finding.Blocker)}, nil, nil,
			[]string{"marker: left_out, report.categories does not list its category"}},
		"a rule lifts the model's over the bar": {from(finding.Major),
			[]finding.Finding{ruled(5, ignored, "error-handling", finding.Major)},
			[]finding.Finding{modelled(5, "An error is dropped", finding.Minor)}, nil,
			[]string{"An error is dropped: F1", ignored + ": repeat"}},
		"a rule's category takes no model's finding along": {wanted("security"),
			[]finding.Finding{ruled(5, tls, "other", finding.Major)},
			[]finding.Finding{of("security", modelled(5, "TLS verification is disabled", finding.Minor))}, nil,
			[]string{"TLS verification is disabled: F1", tls + ": repeat"}},
		"nor a model's a rule's": {wanted("security"), []finding.Finding{ruled(5, tls, "security", finding.Major)},
			[]finding.Finding{of("other", modelled(5, tls, finding.Blocker))}, nil,
			[]string{tls + ": F1", tls + ": left_out, report.categories does not list its category"}},
		"nor one that another says": {wanted("security"), nil,
			[]finding.Finding{of("other", modelled(5, "x is y", finding.Major)),
				of("security", modelled(5, "x is y", finding.Minor))}, nil,
			[]string{"x is y: F1", "x is y: left_out, report.categories does not list its category"}},
		"what was posted stays so": {from(finding.Major), nil, []finding.Finding{modelled(9, "m", finding.Minor)},
			[]finding.Earlier{{Fate: finding.WasPosted, Path: "a.go", Side: finding.Right, Title: "m", Line: 9,
				StartLine: 9, Severity: finding.Minor, Fingerprint: fingerprint(modelled(9, "m", finding.Minor))}},
			[]string{"m: posted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, earlier := aggregate.Findings(aggregate.Input{Files: fortyLines(), Findings: c.without,
				Earlier: c.earlier, Inline: 15, PerRule: 10, Report: c.report,
				Reviews: []finding.FileReview{{Path: "a.go", State: finding.Reviewed, Findings: c.reviewed}}})
			require.Equal(t, c.want, reportedAs(all))
			for _, e := range earlier {
				require.Equal(t, finding.StillThere, e.Now)
			}
		})
	}
}

// fingerprint is that of a finding once its line is quoted.
func fingerprint(f finding.Finding) string {
	f.Quote = fmt.Sprintf("call%d(first, second)", f.Line)
	return finding.Fingerprint(f)
}

// Each is counted, takes no id and no line of others.
func TestWhatIsLeftOutIsCountedAndTakesNoRoom(t *testing.T) {
	t.Parallel()
	var many []finding.Finding
	for line := range 12 {
		many = append(many, ruled(line+1, "r", "security", finding.Nit),
			linted(line+1, "errcheck", fmt.Sprintf("unchecked call number %d", line), finding.Nit))
	}
	many = append(many, linted(20, "errcheck", "unchecked defer", finding.Major))
	all, _ := aggregate.Findings(aggregate.Input{Files: fortyLines(), Findings: many, Inline: 1, PerRule: 1,
		Report: config.Report{From: finding.Minor}})
	require.Len(t, all, 25)
	require.Equal(t, 24, strings.Count(strings.Join(reportedAs(all), "\n"), "left_out"))
	require.Equal(t, "F1", all[0].ID)
	require.Equal(t, finding.Inline, all[0].Placement)
	for _, f := range all[1:] {
		require.Empty(t, f.ID)
	}
}
