package eval_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/ticket"
)

func TestVerdictsOnTicketsAreScored(t *testing.T) {
	t.Parallel()
	cases, err := dataset.Read(dataset.TicketsName)
	require.NoError(t, err)
	require.Len(t, cases, 8)
	for name, c := range map[string]struct {
		reviewer eval.Reviewer
		want     score.TicketScore
	}{
		"a model that knows": {eval.Scripted(oracle.Options{Recall: 1, Seed: 1}),
			score.TicketScore{Criteria: 17, Right: 17, Met: 9, Evidenced: 9, Unasked: 1, Named: 1}},
		// every met without evidence is one that cannot be told; four criteria are such
		"a model that says met": {eval.Scripted(oracle.Options{Recall: 0, Seed: 1}),
			score.TicketScore{Criteria: 17, Right: 4, Wrong: 13, Unasked: 1}},
		"a model that names lines beside the diff": {eval.Reviewer{Name: "liar", Chat: liar{}},
			score.TicketScore{Criteria: 17, Right: 4, Wrong: 13, Unasked: 1}},
		"rules": {eval.Reviewer{Name: "offline"}, score.TicketScore{Criteria: 17, Right: 4, Wrong: 13, Unasked: 1}},
	} {
		for _, show := range []ticket.Show{ticket.ShowKey, ticket.ShowCriteria, ticket.ShowFull} {
			t.Run(name+", "+string(show), func(t *testing.T) {
				t.Parallel()
				o := options(t, t.TempDir(), c.reviewer)
				o.Cases, o.Concurrency, o.Config.Context.Show = cases, 4, show
				report, err := eval.Run(t.Context(), o)
				require.NoError(t, err)
				require.Equal(t, c.want, *report.Asked)
				require.Equal(t, c.want.Right == 17, report.Passed == 8)
			})
		}
	}
}

// liar says of each criterion that it is met, and names lines that are not part of the diff.
type liar struct{}

func (liar) Identity() string { return "liar" }

func (liar) Chat(_ context.Context, q llm.Request) (llm.Answer, error) {
	used := cost.Usage{Calls: 1}
	if !strings.Contains(q.User, "criteri") {
		return llm.Answer{Text: `{"findings":[]}`, Usage: used}, nil
	}
	const says = `{"n":N,"verdict":"met","evidence":[{"path":"a.go","start_line":900,"end_line":901},` +
		`{"path":"../../etc/passwd","start_line":1,"end_line":1}]}`
	var all []string
	for _, n := range []string{"1", "2", "3"} {
		all = append(all, strings.Replace(says, "N", n, 1))
	}
	return llm.Answer{Text: `{"overview":"It does all.","findings":[],"unasked":[],"criteria":[` +
		strings.Join(all, ",") + `]}`, Usage: used}, nil
}

func TestOnePageTellsOfTheTicket(t *testing.T) {
	t.Parallel()
	cases, err := dataset.Read(dataset.TicketsName)
	require.NoError(t, err)
	o := options(t, t.TempDir(), eval.Scripted(oracle.Options{Recall: 0, Seed: 1}))
	o.Cases = cases
	_, err = eval.Run(t.Context(), o)
	require.NoError(t, err)
	page, err := eval.Page(t.Context(), o.Dir, "ticket-unasked")
	require.NoError(t, err)
	require.Contains(t, page, "1. **met**, said to be unknown · The theme follows the system setting")
	require.Contains(t, page, "Parts nobody asked for: 0 of 1 named; 0 others named.")
}
