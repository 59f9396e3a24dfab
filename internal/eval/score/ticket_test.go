package score

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

// held is a case whose ticket has three criteria and a part that nobody asked for, and
// what was said of it.
func held(said []finding.Criterion, unasked ...finding.Lines) Result {
	at := dataset.Place{Path: "a.go", LineStart: 3, LineEnd: 4}
	t := dataset.Ticket{Criteria: []dataset.Criterion{
		{Verdict: finding.Met, Evidence: []dataset.Place{at}}, {Verdict: finding.NotMet}, {Verdict: finding.Unknown}},
		Unasked: []dataset.Place{{Path: "b.go", LineStart: 9, LineEnd: 9}}}
	var parts []finding.Unasked
	for _, l := range unasked {
		parts = append(parts, finding.Unasked{Lines: l})
	}
	r := Result{ID: "one", Kind: dataset.Clean, Language: "go"}
	r.ScoreTicket(t, said, parts)
	Grade(&r)
	return r
}

func says(at finding.Lines, all ...finding.Verdict) (said []finding.Criterion) {
	for i, v := range all {
		said = append(said, finding.Criterion{N: i + 1, Verdict: v})
		if v == finding.Met {
			said[i].Evidence = []finding.Lines{at}
		}
	}
	return said
}

func TestVerdictsAreHeldAgainstTheTicket(t *testing.T) {
	t.Parallel()
	good := finding.Lines{Path: "a.go", StartLine: 4, EndLine: 6}
	aside := finding.Lines{Path: "a.go", StartLine: 5, EndLine: 5}
	part := finding.Lines{Path: "b.go", StartLine: 1, EndLine: 9}
	const met, not, unknown = finding.Met, finding.NotMet, finding.Unknown
	for _, c := range []struct {
		name    string
		said    []finding.Criterion
		unasked []finding.Lines
		want    TicketScore
		why     string
	}{
		{"all right", says(good, met, not, unknown), []finding.Lines{part},
			TicketScore{Criteria: 3, Right: 3, Met: 1, Evidenced: 1, Unasked: 1, Named: 1}, ""},
		{"evidence next to it", says(aside, met, not, unknown), []finding.Lines{part},
			TicketScore{Criteria: 3, Right: 3, Met: 1, Unasked: 1, Named: 1},
			"misjudged 1 of 3 criteria: 1 (met, at other lines than those named)"},
		{"all met", says(good, met, met, met), []finding.Lines{part},
			TicketScore{Criteria: 3, Right: 1, Wrong: 2, Met: 1, Evidenced: 1, Unasked: 1, Named: 1},
			"misjudged 2 of 3 criteria: 2 (not met, said to be met), 3 (unknown, said to be met)"},
		{"nothing said", nil, nil, TicketScore{Criteria: 3, Right: 1, Wrong: 2, Unasked: 1},
			"misjudged 2 of 3 criteria: 1 (met, said to be unknown), 2 (not met, said to be unknown); " +
				"did not name 1 of 1 part that nobody asked for"},
		{"another part", says(good, met, not, unknown), []finding.Lines{good},
			TicketScore{Criteria: 3, Right: 3, Met: 1, Evidenced: 1, Unasked: 1, Beside: 1},
			"did not name 1 of 1 part that nobody asked for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := held(c.said, c.unasked...)
			require.Equal(t, c.why, r.Why)
			require.Equal(t, c.why == "", r.Passed)
			report := Summarize([]Result{r, {Kind: dataset.Clean}}, About{})
			require.Equal(t, c.want, *report.Asked)
			require.Contains(t, report.Markdown(), "### Against the tickets")
		})
	}
	bare := Summarize([]Result{{Kind: dataset.Clean}}, About{})
	require.Nil(t, bare.Asked)
	require.NotContains(t, bare.Markdown(), "tickets")
}

func TestABaselineOfVerdictsIsHeld(t *testing.T) {
	t.Parallel()
	at := finding.Lines{Path: "a.go", StartLine: 3, EndLine: 3}
	part := finding.Lines{Path: "b.go", StartLine: 9, EndLine: 9}
	was := Summarize([]Result{held(says(at, finding.Met, finding.NotMet, finding.Unknown), part)}, About{})
	text, err := json.Marshal(was)
	require.NoError(t, err)
	baseline, err := ReadReport(text)
	require.NoError(t, err)
	is := Summarize([]Result{held(says(at, finding.Met, finding.Met, finding.Unknown))}, About{})
	require.Equal(t, []string{
		"pass rate: 0.0 (0 of 1), in the baseline 100.0 (1 of 1); 0 points are tolerated",
		"verdicts on criteria: 66.7 (2 of 3), in the baseline 100.0 (3 of 3); 0 points are tolerated",
		"parts nobody asked for: 0.0 (0 of 1), in the baseline 100.0 (1 of 1); 0 points are tolerated"},
		is.Missed(baseline, 0))
}
