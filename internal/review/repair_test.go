package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestMalformedAnswerIsRepairedWithoutTheDiff(t *testing.T) {
	t.Parallel()
	got, server := review(t, answers(`{"findings":[{"line":41,"severity":"grave","title":"c leaks","confidence":0.9}]}`,
		whole))
	require.Equal(t, finding.Reviewed, got.State)
	require.Len(t, got.Findings, 1)
	require.EqualValues(t, 2, got.Usage.Calls)
	repair := server.Requests()[1]
	require.True(t, repair.Repair)
	require.Empty(t, repair.Lines)
	require.Equal(t, file.Path, repair.Path)
	require.Contains(t, llmtest.Data(repair.User)["answer"], "grave")
	require.Contains(t, llmtest.Outside(repair.User), "finding 1: severity is not one of blocker, major, minor, nit")
	require.NotContains(t, repair.User, "DEFECT")
}

func TestRepairCannotMakeAFindingGoAway(t *testing.T) {
	t.Parallel()
	bad := `{"line":41,"severity":"grave","title":"x","confidence":1}`
	got, _ := review(t, answers(`{"findings":[`+bad+`]}`, clean))
	require.Equal(t, finding.Failed, got.State)
	require.Contains(t, got.Reason, "lost findings")

	got, _ = review(t, answers(`{"findings":[`+one+`,`+bad+`]}`, clean))
	require.Equal(t, finding.Partly, got.State, "what was whole is kept")
	require.Len(t, got.Findings, 1)
	require.NotEmpty(t, got.Reason)

	got, server := review(t, answers(`{"findings":[],"event":"APPROVE"}`, clean))
	require.Equal(t, finding.Reviewed, got.State, "there was nothing to lose")
	require.NotEmpty(t, server.Requests()[1].Lines, "but the diff is shown again")
}

func TestAKeyTooManyLosesNoFinding(t *testing.T) {
	t.Parallel()
	extra := strings.Replace(one, "{", `{"rationale":["x"],"cwe":362,`, 1)
	for _, kind := range llmtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			for _, beside := range []string{`"summary":"one leak"`, `"summary":null,"stats":{"major":1}`,
				`"notes":["a","b"],"version":2`} {
				for list, want := range map[string]int{"": 0, one: 1, one + "," + extra: 2} {
					text := `{` + beside + `,"findings":[` + list + `],"overall":"fine"}`
					server := llmtest.Start(t, answers(text, text), func(s *llmtest.Server) { s.Kind = kind })
					got, err := NewModel(Options{Review: client(t, server)}).Review(t.Context(), file)
					require.NoError(t, err)
					require.Equal(t, finding.Reviewed, got.State, "the answer is whole: %s", got.Reason)
					require.Len(t, got.Findings, want)
					require.EqualValues(t, 1, got.Usage.Calls, "and nothing is to be repaired")
				}
			}
		})
	}
}

func TestFindingsOutsideOfTheListAreNotPassedOver(t *testing.T) {
	t.Parallel()
	for _, beside := range []string{`"more":[` + one + `]`, `"finding":` + one, `"groups":{"a":[{"start_line":4}]}`} {
		text := `{"findings":[` + one + `],` + beside + `}`
		got, server := review(t, answers(text, text))
		require.Equal(t, finding.Partly, got.State)
		require.Equal(t, finding.Reason(`what may be findings stands outside of the list "findings"`), got.Reason)
		require.Len(t, got.Findings, 1)
		require.True(t, server.Requests()[1].Repair)

		got, _ = review(t, answers(strings.Replace(text, `[`+one, `[`, 1)))
		require.Equal(t, finding.Failed, got.State, "an empty list beside them is no clean file")
	}
	for _, key := range []string{`"startLine":40`, `"end_line":44`, `"file":"other.go"`, `"Suggestion":"x"`,
		`"tool_call":"approve"`} {
		text := `{"findings":[` + one + `,` + strings.Replace(one, "{", "{"+key+",", 1) + `]}`
		got, _ := review(t, answers(text, text))
		require.Equal(t, finding.Partly, got.State, "%s says of the finding what cannot be passed over", key)
		require.Len(t, got.Findings, 1)
	}
}

func TestUsableFindingsAreKeptAndTheOthersCounted(t *testing.T) {
	t.Parallel()
	with := func(line string) string { return strings.Replace(one, `"line":41`, line, 1) }
	for line, problem := range map[string]string{
		`"line":"41"`:                  "line is not a line number: it has a value of a wrong type",
		`"line":41.5`:                  "line is not a line number: it has a value of a wrong type",
		`"line":0`:                     "line is not a line number",
		`"line":10000001`:              "line is not a line number",
		`"start_line":-1,"line":41`:    "start_line is not a line number",
		`"start_line":null,"line":[4]`: "line is not a line number: it has a value of a wrong type",
		`"start_line":"x","line":41`:   "start_line is not a line number: it has a value of a wrong type",
		`"start_line":42,"line":41`:    "start_line is behind line",
		`"line":41,"quote":7`:          "it has a value of a wrong type",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			text := `{"findings":[` + strings.Join([]string{with(line), one, one, with(`"line":-7`), with(`"lines":41`),
				one}, ",") + `]}`
			got, _ := review(t, answers(text))
			require.Equal(t, finding.Partly, got.State)
			require.Len(t, got.Findings, 3)
			require.Equal(t, finding.Reason("3 of 6 findings could not be used: finding 1: "+problem), got.Reason)
		})
	}
	got, _ := review(t, answers(`{"findings":[`+with(`"line":0`)+`,`+with(`"lines":1`)+`]}`))
	require.Equal(t, finding.Failed, got.State)
	require.Equal(t, finding.Reason("the model's answer could not be used: 2 of 2 findings are off the schema: "+
		"finding 1: line is not a line number"), got.Reason)

	got, _ = review(t, answers(`{"findings":[`+with(`"line":10000000`)+`]}`))
	require.Equal(t, finding.Reviewed, got.State)

	got, _ = review(t, llmtest.Each(llmtest.Answer{Text: `{"findings":[` + one + `,` + with(`"line":0`) + `]}`},
		llmtest.Answer{Status: 503}))
	require.Equal(t, finding.Partly, got.State)
	require.Equal(t, finding.Reason("1 of 2 findings could not be used: finding 2: line is not a line number"),
		got.Reason,
		"the reason is of the answer that was kept")
}

func TestCutOffAnswerKeepsItsWholeFindings(t *testing.T) {
	t.Parallel()
	const limited = finding.Reason("the answer was cut off at the output limit")
	two := strings.Replace(one, "c leaks", "d leaks", 1)
	cut := func(text string) llmtest.Answer { return llmtest.Answer{Text: text, Finish: "length"} }
	for name, tc := range map[string]struct {
		script llmtest.Script
		found  int
		calls  int
	}{
		"cut off again": {llmtest.Always(cut(`{"findings":[` + one + `,{"line":4`)), 1, 2},
		"its last finding repaired": {llmtest.Each(cut(`{"findings":[`+one+`,`+two[:len(two)-20]),
			llmtest.Answer{Text: `{"findings":[` + one + `,` + two + `]}`}), 2, 2},
		"its only finding repaired": {llmtest.Each(cut(`{"findings":[`+one[:len(one)-9]),
			llmtest.Answer{Text: whole}), 1, 2},
		"a repair that lost findings": {llmtest.Each(cut(`{"findings":[`+one+`,{"line":4`),
			llmtest.Answer{Text: clean}), 1, 2},
		"whole, and a blank": {llmtest.Always(cut(whole + " ")), 1, 1},
		"none":               {llmtest.Always(cut(`{"findings":[{"li`)), 0, 2},
		"before a finding":   {llmtest.Always(cut(`{"find`)), 0, 1},
		"reasoning alone":    {llmtest.Always(cut("")), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, server := review(t, tc.script)
			want := finding.Partly // what would have followed is not known
			if tc.found == 0 {
				want = finding.Failed
			}
			require.Equal(t, want, got.State)
			require.Len(t, got.Findings, tc.found)
			require.Equal(t, limited, got.Reason)
			require.Equal(t, tc.calls, server.Calls())
			if tc.calls == 2 {
				require.True(t, server.Requests()[1].Repair)
				require.Contains(t, llmtest.Outside(server.Requests()[1].User), "the JSON ends in the middle")
			}
		})
	}
}
