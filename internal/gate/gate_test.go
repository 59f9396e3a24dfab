package gate_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/problem"
)

var until = time.Date(2026, 12, 5, 14, 10, 0, 0, time.UTC)

func refusal(t *testing.T, err error, check int) *problem.Error {
	t.Helper()
	var r *problem.Error
	require.ErrorAs(t, err, &r)
	require.Equal(t, check, r.Check)
	require.Equal(t, "next", r.Rows[len(r.Rows)-1][0], "P12: the last row is what to do")
	return r
}

func TestCheck11_TheDecisionParsesWholeAndNamesThisDraft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text            string
		given, fallback decision.Verdict
		want            decision.Verdict // "" where it is refused
	}{
		"given":                   {"", decision.Approve, "", decision.Approve},
		"in the text":             {"/abort", "", decision.Approve, decision.Abort},
		"fallback":                {"looks fine", "", decision.Approve, decision.Approve},
		"changes and fallback":    {"/drop F1: known\n/edit F2: better", "", decision.Approve, decision.Approve},
		"given and in the text":   {"/approve\n/drop F2", decision.Approve, "", decision.Approve},
		"hidden in front":         {"\u200b /abort", "", decision.Approve, decision.Abort},
		"contradicts":             {"/abort", decision.Approve, "", ""},
		"two verdicts":            {"/approve\n/abort", "", decision.Approve, ""},
		"unknown id":              {"/drop F3", "", decision.Approve, ""},
		"not to be read, given":   {"/drp F1", decision.Approve, "", ""},
		"unknown command":         {"/drp F1", "", decision.Approve, ""},
		"drop and edit":           {"/drop F1\n/edit F1: x", "", decision.Approve, ""},
		"changes what is aborted": {"/drop F1", decision.Abort, "", ""},
		"one bad line of three":   {"/drop F1\n/edit\n/drop F2", "", decision.Approve, ""},
	} {
		d, err := gate.Decide(c.text, c.given, c.fallback, finding.Items(draft()[:2]), until)
		if c.want != "" {
			require.NoError(t, err, name)
			require.Equal(t, c.want, d.Verdict, name)
			continue
		}
		var bad *decision.Error
		require.ErrorAs(t, err, &bad, name)
		require.Equal(t, until, bad.Until, name)
		require.Zero(t, d, name)
		require.Contains(t, err.Error(), "5 December 2026", name)
	}
}

func TestCheck11_WithoutAVerdictNothingIsDecided(t *testing.T) {
	t.Parallel()
	_, err := gate.Decide("/drop F1\nthanks", "", "", finding.Items(draft()[:1]), until)
	require.ErrorContains(t, refusal(t, err, 11), "there is no decision")
	d, err := gate.Decide("/revise shorter", "", decision.Approve, finding.Items(draft()[:1]), until)
	require.NoError(t, err)
	require.Equal(t, decision.Revise, d.Verdict)
	require.NoError(t, gate.CheckRounds(gate.MaxRounds-1))
	require.ErrorContains(t, refusal(t, gate.CheckRounds(gate.MaxRounds), 11), "revised three times")
	_, err = gate.Decide("", "merge", "", nil, until)
	refusal(t, err, 11)
}

func TestP3_TheAskHoldsForExactlyThisDraft(t *testing.T) {
	t.Parallel()
	kept := []finding.Finding{{ID: "F1"}, {ID: "F2"}}
	ask := gate.NewAsk("o/r#1:ab", "digest", kept, "# Review")
	require.Equal(t, ask, gate.NewAsk("o/r#1:ab", "digest", kept, "# Review"))
	require.Equal(t, []string{"F1", "F2"}, ask.Findings)
	asked, err := json.Marshal(ask)
	require.NoError(t, err)
	require.NoError(t, gate.Same(asked, ask))
	require.Error(t, gate.Same(asked, gate.NewAsk("o/r#1:ab", "other", kept, "# Review")))
	require.Error(t, gate.Same(asked, gate.NewAsk("o/r#1:ab", "digest", kept, "# Review ")))
	require.Error(t, gate.Same([]byte("{"), gate.Ask{}))
	for _, other := range []gate.Ask{
		gate.NewAsk("o/r#1:ac", "digest", kept, "# Review"), gate.NewAsk("o/r#1:ab", "other", kept, "# Review"),
		gate.NewAsk("o/r#1:ab", "digest", kept[:1], "# Review"), gate.NewAsk("o/r#1:ab", "digest", kept, "# Review "),
	} {
		require.NotEqual(t, ask, other)
	}
}

func TestT9_ADecisionKeepsNoCredential(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "x7Kq2LmR9TzVb4NcW8yJd5HfG1sPaE6uQo3C"
	d, err := gate.Decide("/edit F1: Use "+token+" there.\n/drop F2: "+token+"\nas I said: "+token, "",
		decision.Approve, finding.Items(draft()[:2]), until)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%+v", d), token)
	require.Contains(t, d.Edit[0].Body, "Use <redacted ")
}
