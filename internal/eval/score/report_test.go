package score

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/stats"
)

func TestAPriceThatIsNotKnownIsNull(t *testing.T) {
	t.Parallel()
	unpriced := cost.Usage{Calls: 2, Unpriced: 2, InputTokens: 7}
	printed, err := json.Marshal(Summarize([]Result{{Judging: unpriced, Usage: unpriced}}, About{}))
	require.NoError(t, err)
	var got struct {
		Total          *int           `json:"cost_microusd"`
		PerCase        map[string]any `json:"cost_per_case_microusd"`
		Usage, Judging struct {
			Tokens int  `json:"input_tokens"`
			Cost   *int `json:"cost_microusd"`
		}
	}
	require.NoError(t, json.Unmarshal(printed, &got))
	require.Nil(t, got.Total)
	require.Nil(t, got.PerCase)
	require.Nil(t, got.Usage.Cost)
	require.Nil(t, got.Judging.Cost)
	require.Equal(t, 7, got.Judging.Tokens)
}

func TestSummaryCountsByHand(t *testing.T) {
	t.Parallel()
	r := Summarize(sample(), aboutSample())
	require.Equal(t, Counts{Cases: 6, Passed: 3, Golden: 5, Hit: 2, FileHit: 2, Posted: 6, Matched: 2, Valid: 1,
		CleanCases: 2, CleanFalsePositives: 1}, r.Counts)
	require.Equal(t, map[string]map[string]Counts{
		"language": {
			"go":         {Cases: 2, Passed: 1, Golden: 3, Hit: 1, FileHit: 1, Posted: 4, Matched: 1, Valid: 1},
			"typescript": {Cases: 2, Passed: 1, Golden: 2, Hit: 1, FileHit: 1, Posted: 1, Matched: 1},
			"python":     {Cases: 2, Passed: 1, CleanCases: 2, Posted: 1, CleanFalsePositives: 1},
		},
		"severity": {
			"blocker": {Cases: 1, Passed: 1, Golden: 1, Hit: 1, FileHit: 1, Posted: 1},
			"major":   {Cases: 2, Golden: 2, Posted: 2, Matched: 1},
			"minor": {Cases: 1, Passed: 1, Golden: 2, Hit: 1, FileHit: 1, Posted: 2, Matched: 1,
				CleanFalsePositives: 1},
			"nit":   {Posted: 1, Valid: 1},
			"clean": {Cases: 2, Passed: 1, CleanCases: 2},
		},
		"visibility": {
			"local":   {Cases: 2, Passed: 1, Golden: 3, Hit: 2, FileHit: 2, Posted: 1, Matched: 1},
			"context": {Cases: 2, Passed: 1, Golden: 2, Posted: 4, Matched: 1, Valid: 1},
			"clean":   {Cases: 2, Passed: 1, CleanCases: 2, Posted: 1, CleanFalsePositives: 1},
		},
	}, r.By)
	require.Equal(t, 1, r.UnreadCases)
	require.Equal(t, cost.MicroUSD(66_000), *r.Cost)
	require.Equal(t, []string{"go-2", "ts-2", "py-2"},
		[]string{r.NotPassed[0].Case, r.NotPassed[1].Case, r.NotPassed[2].Case})
	require.Equal(t, "ts-2", r.Losses["threshold"][0].Case)
	require.Len(t, r.Moved["anchor"], 1)
}

func TestRatesFollowFromTheCounts(t *testing.T) {
	t.Parallel()
	r := Summarize(sample(), aboutSample())
	require.Equal(t, stats.Wilson(3, 6), r.Rates.Pass)
	require.Equal(t, stats.Wilson(2, 5), r.Rates.Recall)
	require.Equal(t, stats.Wilson(2, 6), r.Rates.Precision)
	require.Equal(t, stats.Wilson(3, 6), r.Rates.PrecisionJudged)
	require.InDelta(t, 0.5, *r.Rates.FalsePositivesOnClean, 1e-9)
	require.InDelta(t, 1, *r.Rates.PostedPerCase, 1e-9)
	require.InDelta(t, 2/6., *r.Rates.UnmatchedMajorPerCase, 1e-4)
	require.InDelta(t, 9_000, r.CostPerCase.P50, 1e-9)
	require.InDelta(t, 2.5, r.Latency.P50, 1e-9)
	require.InDelta(t, 21.25, r.Seconds, 1e-9)
}

func TestP11_OrderDecidesListsAlone(t *testing.T) {
	t.Parallel()
	ordered, reversed := sample(), sample()
	slices.Reverse(reversed)
	about := aboutSample()
	a := Summarize(ordered, about)
	b := Summarize(reversed, about)
	slices.Reverse(b.NotPassed)
	require.Equal(t, object(t, a), object(t, b))
}

func TestACaseWhoseRunFailedWasNotRead(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, Summarize([]Result{{Outcome: reviewpr.Failed, Unread: []string{"a.go: failed"}},
		{Outcome: "PAUSED"}}, About{}).UnreadCases)
	require.Equal(t, 1, Summarize([]Result{{Outcome: reviewpr.Failed}}, About{}).UnreadCases)
}

func TestWithoutADenominatorThereIsNoRate(t *testing.T) {
	t.Parallel()
	r := Summarize(nil, About{})
	require.Equal(t, Rates{}, r.Rates)
	for _, want := range []string{`"recall":null`, `"pass":null`, `"latency_seconds":null`,
		`"cost_per_case_microusd":null`, `"losses":{}`, `"moved":{}`, `"not_passed":[]`, `"agreement":null`,
		`"fingerprints":{}`} {
		require.Contains(t, object(t, r), want)
	}
	quiet := Summarize(sample()[3:4], About{})
	require.Equal(t, stats.Wilson(0, 1), quiet.Rates.Recall)
	require.Nil(t, quiet.Rates.Precision)
	require.Nil(t, quiet.Rates.FalsePositivesOnClean)
}

func TestWithoutAJudgeNothingIsJudged(t *testing.T) {
	t.Parallel()
	about := aboutSample()
	about.Judge = ""
	r := Summarize(sample(), about)
	require.False(t, r.judged())
	require.Nil(t, r.Rates.PrecisionJudged)
	require.NotNil(t, Summarize(sample(), aboutSample()).Rates.PrecisionJudged)
}

func TestAJudgeIsUsableFrom27Of30On(t *testing.T) {
	t.Parallel()
	require.True(t, Agreement{Agreed: 27, Of: 30}.usable())
	require.False(t, Agreement{Agreed: 26, Of: 30}.usable())
}

func TestAReportHasTheKeysOfTheContract(t *testing.T) {
	t.Parallel()
	var keys map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(object(t, Summarize(sample(), aboutSample()))), &keys))
	for _, key := range strings.Fields("cases passed golden hit posted matched clean_cases clean_false_positives by " +
		"losses moved cost_microusd seconds fingerprints" +
		" valid reviewer model judge agreement unread_cases usage judging rates latency_seconds") {
		require.Contains(t, keys, key)
	}
	var timed []string
	for key := range keys {
		if strings.Contains(key, "second") {
			timed = append(timed, key)
		}
	}
	require.ElementsMatch(t, []string{"seconds", "latency_seconds"}, timed)
}

func TestALossIsALineOfTheReportWithItsCase(t *testing.T) {
	t.Parallel()
	r := Summarize(sample(), aboutSample())
	require.JSONEq(t, `{"case":"ts-2","stage":"dedupe","path":"e.ts","start_line":89,"line":90,"severity":"nit"`+
		`,"title":"Twice","known":false,"why":""}`, object(t, r.Losses["dedupe"][0]))
}

func object(t *testing.T, r any) string {
	t.Helper()
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return string(text)
}
