package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
)

var until = time.Date(2026, 12, 5, 14, 10, 0, 0, time.UTC)

func refusal(t *testing.T, err error, check int) *checkpoint.Refusal {
	t.Helper()
	var r *checkpoint.Refusal
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
		"unknown command":         {"/drp F1", "", decision.Approve, ""},
		"drop and edit":           {"/drop F1\n/edit F1: x", "", decision.Approve, ""},
		"changes what is aborted": {"/drop F1", decision.Abort, "", ""},
		"one bad line of three":   {"/drop F1\n/edit\n/drop F2", "", decision.Approve, ""},
	} {
		d, err := gate.Decide(c.text, c.given, c.fallback, []string{"F1", "F2"}, until)
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
	_, err := gate.Decide("/drop F1\nthanks", "", "", []string{"F1"}, until)
	require.ErrorContains(t, refusal(t, err, 11), "there is no decision")
	_, err = gate.Decide("/revise shorter", "", decision.Approve, []string{"F1"}, until)
	require.ErrorContains(t, refusal(t, err, 11), "/revise is not taken here")
	_, err = gate.Decide("", "merge", "", nil, until)
	refusal(t, err, 11)
}

func TestP3_TheAskHoldsForExactlyThisDraft(t *testing.T) {
	t.Parallel()
	kept := []finding.Finding{{ID: "F1"}, {ID: "F2"}}
	ask := gate.NewAsk("o/r#1:ab", "digest", kept, "# Review")
	require.Equal(t, ask, gate.NewAsk("o/r#1:ab", "digest", kept, "# Review"))
	require.Equal(t, []string{"F1", "F2"}, ask.Findings)
	for _, other := range []gate.Ask{
		gate.NewAsk("o/r#1:ac", "digest", kept, "# Review"), gate.NewAsk("o/r#1:ab", "other", kept, "# Review"),
		gate.NewAsk("o/r#1:ab", "digest", kept[:1], "# Review"), gate.NewAsk("o/r#1:ab", "digest", kept, "# Review "),
	} {
		require.NotEqual(t, ask, other)
	}
}

const environment = "ai-review"

func approval(state, user, comment string) github.Approval {
	return github.Approval{Environments: []string{"other", environment}, State: state, User: user, Comment: comment}
}

func TestCheck12_ReachingTheJobProvesNothing(t *testing.T) {
	t.Parallel()
	yes := approval("approved", "rita", "/drop F1")
	elsewhere := yes
	elsewhere.Environments = []string{"ai-review-model"}
	for name, c := range map[string]struct {
		approvals []github.Approval
		before    []string
		want      string // of the refusal; "" where it is approved
	}{
		"approved":                     {[]github.Approval{yes}, nil, ""},
		"behind others":                {[]github.Approval{elsewhere, approval("rejected", "x", ""), yes}, nil, ""},
		"said twice":                   {[]github.Approval{yes, yes}, nil, ""},
		"again after the draft":        {[]github.Approval{yes, yes}, gate.Keys([]github.Approval{yes}), ""},
		"none":                         {nil, nil, "nobody has approved"},
		"rejected":                     {[]github.Approval{approval("rejected", "rita", "")}, nil, "nobody has approved"},
		"pending":                      {[]github.Approval{approval("pending", "rita", "")}, nil, "nobody has approved"},
		"another environment":          {[]github.Approval{elsewhere}, nil, "nobody has approved"},
		"before the draft":             {[]github.Approval{yes}, gate.Keys([]github.Approval{yes}), "nobody has approved"},
		"two people":                   {[]github.Approval{yes, approval("approved", "eve", "/drop F1")}, nil, "two different approvals"},
		"two comments of one person":   {[]github.Approval{yes, approval("approved", "rita", "/approve")}, nil, "two different approvals"},
		"one before, another since":    {[]github.Approval{yes, approval("approved", "eve", "")}, gate.Keys([]github.Approval{yes}), ""},
		"more before than there are":   {nil, gate.Keys([]github.Approval{yes, yes}), "nobody has approved"},
		"one before, of another state": {[]github.Approval{yes}, gate.Keys([]github.Approval{approval("rejected", "rita", "/drop F1")}), ""},
	} {
		got, err := gate.Approved(c.approvals, c.before, environment)
		if c.want == "" {
			require.NoError(t, err, name)
			require.Equal(t, "approved", got.State, name)
			require.Contains(t, got.Environments, environment, name)
			continue
		}
		require.ErrorContains(t, refusal(t, err, 12), c.want, name)
		require.Zero(t, got, name)
	}
}

func TestCheck13_ARejectedDraftIsDecided(t *testing.T) {
	t.Parallel()
	no, yes := approval("rejected", "rita", ""), approval("approved", "eve", "")
	refusal(t, gate.Rejected([]github.Approval{yes, no}, nil, environment), 13)
	refusal(t, gate.Rejected([]github.Approval{no}, nil, ""), 13)
	require.NoError(t, gate.Rejected([]github.Approval{yes}, nil, environment))
	require.NoError(t, gate.Rejected([]github.Approval{no}, nil, "another"))
	require.NoError(t, gate.Rejected([]github.Approval{no}, gate.Keys([]github.Approval{no}), environment), "an earlier draft's")
}

func TestAKeyTellsApprovalsApartAndGivesNothingAway(t *testing.T) {
	t.Parallel()
	a := approval("approved", "rita", "the password is x")
	require.Regexp(t, "^[0-9a-f]{16}$", gate.Key(a))
	for _, other := range []github.Approval{
		approval("rejected", "rita", "the password is x"), approval("approved", "eve", "the password is x"), approval("approved", "rita", ""),
		{Environments: []string{"other ai-review"}, State: a.State, User: a.User, Comment: a.Comment},
	} {
		require.NotEqual(t, gate.Key(a), gate.Key(other))
	}
}
