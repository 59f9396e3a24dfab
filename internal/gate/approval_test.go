package gate_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
)

const environment = "ai-review"

func approval(state, user, comment string) github.Approval {
	return github.Approval{Environments: []string{"other", environment}, State: state, User: user, Comment: comment}
}

// turned is an approval with its environments the other way round.
func turned(a github.Approval) github.Approval {
	a.Environments = []string{environment, "other"}
	return a
}

func named(a github.Approval, environment string) github.Approval {
	a.Environments = []string{environment}
	return a
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
		"approved":              {[]github.Approval{yes}, nil, ""},
		"behind others":         {[]github.Approval{elsewhere, approval("rejected", "x", ""), yes}, nil, ""},
		"said twice":            {[]github.Approval{yes, yes}, nil, ""},
		"again after the draft": {[]github.Approval{yes, yes}, gate.Keys([]github.Approval{yes}), ""},
		"none":                  {nil, nil, "nobody has approved"},
		"rejected": {[]github.Approval{approval("rejected", "rita", "")}, nil,
			"nobody has approved"},
		"pending": {[]github.Approval{approval("pending", "rita", "")}, nil,
			"nobody has approved"},
		"another environment": {[]github.Approval{elsewhere}, nil, "nobody has approved"},
		"before the draft": {[]github.Approval{yes}, gate.Keys([]github.Approval{yes}),
			"nobody has approved"},
		"two people, one effect": {[]github.Approval{yes, approval("approved", "eve", "/drop F1: noise")}, nil,
			""},
		"two people, two effects": {[]github.Approval{yes, approval("approved", "eve", "/drop F2")}, nil,
			"say different things"},
		"a verdict is a command too": {[]github.Approval{yes, approval("approved", "rita", "/approve")}, nil,
			"say different things"},
		"an abort among them": {[]github.Approval{yes, approval("approved", "eve", "/abort")}, nil,
			"say different things"},
		"an approval and an abort": {[]github.Approval{approval("approved", "rita", "/approve"),
			approval("approved", "eve", "/abort")}, nil, "say different things"},
		"two texts": {[]github.Approval{approval("approved", "rita", "/edit F1: x"),
			approval("approved", "eve", "/edit F1: y")}, nil, "say different things"},
		"two severities": {[]github.Approval{approval("approved", "rita", "/severity F1 major"),
			approval("approved", "eve", "/severity F1 minor")}, nil, "say different things"},
		"at its line and in the body": {[]github.Approval{approval("approved", "rita", "/approve"),
			approval("approved", "eve", "/summary F1")}, nil, "say different things"},
		"two overviews": {[]github.Approval{approval("approved", "rita", "/edit O1: x"),
			approval("approved", "eve", "/edit O1: y")}, nil, "say different things"},
		"one drops the overview too": {[]github.Approval{yes, approval("approved", "eve", "/drop F1 O1")}, nil,
			"say different things"},
		"a yes says no more": {[]github.Approval{approval("approved", "eve", "fine"), yes,
			approval("approved", "sam", "")}, nil, ""},
		"an id that is not there": {[]github.Approval{approval("approved", "eve", "/drop F9")}, nil, "F1 to F2"},
		"one before, another since": {[]github.Approval{yes, approval("approved", "eve", "/drop F1")},
			gate.Keys([]github.Approval{yes}), ""},
		"more before than there are": {nil, gate.Keys([]github.Approval{yes, yes}), "nobody has approved"},
		"said again with another note": {[]github.Approval{yes, approval("approved", "Rita", "once more\n/drop F1")},
			nil, ""},
		"two drops of one person": {[]github.Approval{yes, approval("approved", "rita", "/drop F2")}, nil,
			"rita and rita"},
		"twice, one not to be read": {[]github.Approval{approval("approved", "rita", "/drp F1"), yes}, nil, ""},
		"an unreadable one said twice": {[]github.Approval{approval("approved", "rita", "/x"),
			approval("approved", "rita", "/x")}, nil, "unknown command"},
		"environments in other order": {[]github.Approval{turned(yes)}, gate.Keys([]github.Approval{yes}),
			"nobody has approved"},
		"environment of another case": {[]github.Approval{named(yes, "AI-Review")}, nil, ""},
		"waited, then was approved": {[]github.Approval{yes},
			gate.Keys([]github.Approval{approval("pending", "rita", "/drop F1")}), ""},
		"one before, of another state": {[]github.Approval{yes},
			gate.Keys([]github.Approval{approval("rejected", "rita", "/drop F1")}), ""},
	} {
		for _, list := range [][]github.Approval{c.approvals, reversed(c.approvals)} { // no order is promised
			by, d, err := gate.Approved(list, c.before, environment, drafted, said)
			if c.want == "" {
				require.NoError(t, err, name)
				require.NotEmpty(t, by, name)
				require.Equal(t, []string{"F1"}, []string{d.Drop[0].ID}, "%s: a yes takes nothing back", name)
				continue
			}
			require.ErrorContains(t, err, c.want, name)
			require.Empty(t, by, name)
		}
	}
}

// Two findings that say the same trade places once one of them is regraded.
func TestCheck12_ApprovalsThatRegradeDifferentFindingsSayDifferentThings(t *testing.T) {
	t.Parallel()
	alike := []finding.Finding{{ID: "F1", Severity: finding.Major}, {ID: "F2", Severity: finding.Major}}
	read := func(a github.Approval) (decision.Decision, error) {
		return gate.Decide(a.Comment, "", decision.Approve, finding.Items(alike), time.Time{})
	}
	_, _, err := gate.Approved([]github.Approval{approval("approved", "rita", "/severity F1 minor"),
		approval("approved", "eve", "/severity F2 minor")}, nil, environment, alike, read)
	require.ErrorContains(t, err, "say different things")
}

// drafted are the findings of the draft that is approved.
var drafted = []finding.Finding{{ID: "F1", Body: "a", Placement: finding.Inline}, {ID: "F2", Body: "b"}}

// said reads an approval as a job does, and refuses what does not parse.
func said(a github.Approval) (decision.Decision, error) {
	return gate.Decide(a.Comment, "", decision.Approve, finding.Items(drafted), time.Time{})
}

func reversed(all []github.Approval) []github.Approval {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

func TestCheck13_ARejectedDraftIsDecided(t *testing.T) {
	t.Parallel()
	no, yes := approval("rejected", "rita", ""), approval("approved", "eve", "")
	refusal(t, gate.Rejected([]github.Approval{yes, no}, nil, environment), 13)
	refusal(t, gate.Rejected([]github.Approval{no}, nil, ""), 13)
	refusal(t, gate.Rejected([]github.Approval{named(no, "AI-Review")}, nil, environment), 13)
	require.NoError(t, gate.Rejected([]github.Approval{yes}, nil, environment))
	require.NoError(t, gate.Rejected([]github.Approval{no}, nil, "another"))
	require.NoError(t, gate.Rejected([]github.Approval{no}, gate.Keys([]github.Approval{no}), environment),
		"an earlier draft's")
}

func TestCheck13_ApprovingWhatWasRejectedChangesNothing(t *testing.T) {
	t.Parallel()
	no, yes := approval("rejected", "rita", ""), approval("approved", "rita", "")
	for name, c := range map[string]struct {
		approvals, before []github.Approval
		rejected          bool
	}{
		"rejected, then approved":              {[]github.Approval{no, yes}, nil, true},
		"listed the other way round":           {[]github.Approval{yes, no}, nil, true},
		"rejected before this draft":           {[]github.Approval{no, yes}, []github.Approval{no}, false},
		"rejected before it and again":         {[]github.Approval{no, yes, no}, []github.Approval{no}, true},
		"approved before, rejected since":      {[]github.Approval{yes, no}, []github.Approval{yes}, true},
		"another environment rejected with it": {[]github.Approval{named(no, "production"), yes}, nil, false},
		"both environments at once":            {[]github.Approval{turned(no)}, nil, true},
	} {
		err := gate.Rejected(c.approvals, gate.Keys(c.before), environment)
		require.Equal(t, c.rejected, err != nil, name)
		if c.rejected {
			refusal(t, err, 13)
		}
	}
}

func TestAKeyTellsApprovalsApartAndGivesNothingAway(t *testing.T) {
	t.Parallel()
	a := approval("approved", "rita", "the password is x")
	require.Regexp(t, "^[0-9a-f]{16}$", gate.Key(a))
	require.Equal(t, gate.Key(a), gate.Key(turned(a)))
	require.Equal(t, "2134", gate.Key(named(a, environment))[:4], "one environment's key is that of earlier versions")
	for _, other := range []github.Approval{
		approval("rejected", "rita", "the password is x"), approval("approved", "eve", "the password is x"),
		approval("approved", "rita", ""),
		{Environments: []string{"other ai-review"}, State: a.State, User: a.User, Comment: a.Comment},
	} {
		require.NotEqual(t, gate.Key(a), gate.Key(other))
	}
}
