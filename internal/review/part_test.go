package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
)

func TestT31_ALargeChangeIsReviewedInParts(t *testing.T) {
	t.Parallel()
	m, server := full(t, llmtest.Honest)
	got, err := m.Review(t.Context(), long(3))
	require.NoError(t, err)
	require.Equal(t, finding.Reviewed, got.State)
	require.Equal(t, []string{"x of 1 leaks", "x of 2 leaks", "x of 3 leaks"}, titles(got.Findings))
	require.Equal(t, "classify review1 verify1 review2 verify2 review3 verify3", tasks(got.Calls))
	for i, r := range asked(server, llmtest.Review) {
		require.Equal(t, i+1, partOf(r))
		require.Less(t, len(r.User), maxPart+4096)
		require.Contains(t, llmtest.Outside(r.User), "This is part "+string(rune('1'+i))+" of 3")
	}
	require.NotContains(t, server.Requests()[0].User, "x of 2", "a label takes a look at the beginning")
}

func TestP6_APartThatFailsIsNamedAndTheOthersCount(t *testing.T) {
	t.Parallel()
	const why = ": the model's address answered 503: the server is failing; run again later"
	for _, c := range []struct {
		fail   []int
		state  finding.State
		reason finding.Reason
		told   int
	}{
		{[]int{2}, finding.Partly, "part 2 of 3" + why, 0},
		{[]int{2, 3}, finding.Partly, "part 2 of 3" + why + "; and 1 more of its parts", 0},
		{[]int{1, 2, 3}, finding.Failed, "part 1 of 3" + why, 1},
	} {
		m, _ := full(t, func(r llmtest.Request) llmtest.Answer {
			if slices.Contains(c.fail, partOf(r)) {
				return llmtest.Answer{Status: 503}
			}
			return llmtest.Honest(r)
		})
		told := 0
		m.OnFailure = func(string, error) { told++ }
		got, err := alone(m).Review(t.Context(), long(3))
		require.NoError(t, err)
		require.Equal(t, c.state, got.State)
		require.Equal(t, c.reason, got.Reason)
		require.Len(t, got.Findings, 3-len(c.fail))
		require.Equal(t, c.told, told)
	}
}

func TestAPartWhoseWholeFindingsAreKeptDoesNotFailTheFile(t *testing.T) {
	t.Parallel()
	m, _ := full(t, func(r llmtest.Request) llmtest.Answer {
		a := llmtest.Honest(r)
		a.Text, a.Finish = strings.TrimSuffix(a.Text, "]}"), "length"
		return a
	})
	got, err := alone(m).Review(t.Context(), long(2))
	require.NoError(t, err)
	require.Equal(t, finding.Partly, got.State)
	require.Len(t, got.Findings, 2)
}

func TestP4_EqualFailuresOfTwoPartsAreNotTakenForOneAnother(t *testing.T) {
	t.Parallel()
	m, server := full(t, func(r llmtest.Request) llmtest.Answer {
		if r.Try%2 == 1 {
			return llmtest.Answer{Refusal: "no"}
		}
		return llmtest.Honest(r)
	})
	m.Once = (&journal{kept: map[string]Recorded{}}).once
	got, err := alone(m).Review(t.Context(), long(2))
	require.NoError(t, err)
	require.Equal(t, []string{"x of 1 leaks", "x of 2 leaks"}, titles(got.Findings))
	require.Equal(t, "review1 again1 review2 again2", tasks(got.Calls))
	require.Equal(t, 4, server.Calls())
}

func TestP9_AFileWhoseLaterPartsCannotBePaidWasNotReached(t *testing.T) {
	t.Parallel()
	for money := range 3 {
		m, _ := full(t, llmtest.Honest)
		alone(m).Options.Review = &spending{Chatter: m.Options.Review, left: money}
		m.OnFailure = func(string, error) { t.Error("it has not failed") }
		got, err := m.Review(t.Context(), long(3))
		require.ErrorIs(t, err, cost.ErrSpent)
		require.EqualValues(t, money, got.Usage.Calls)
		require.Len(t, got.Calls, money)
		require.Empty(t, got.State)
		require.Empty(t, got.Findings, "it will be read anew, from the answers that are kept")
	}
}
