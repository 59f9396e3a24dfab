package dataset_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
)

func TestTicketsThatCannotBeScoredAreMistakes(t *testing.T) {
	t.Parallel()
	at := []dataset.Place{{Path: "queue.go", LineStart: 11, LineEnd: 11}}
	fine := dataset.Criterion{Text: "x", Verdict: finding.Met, Evidence: at}
	for name, c := range map[string]struct {
		ticket dataset.Ticket
		want   string
	}{
		"fine":        {asking(fine), ""},
		"no key":      {dataset.Ticket{Summary: "s", Criteria: asking(fine).Criteria}, "key or summary is missing"},
		"no criteria": {dataset.Ticket{Key: "A-1", Summary: "s"}, "it has no criteria"},
		"unknown verdict": {criterion("x", "done", nil),
			`criteria[0]: verdict "done" is not one of met, not_met, unknown`},
		"no text":         {criterion(" ", finding.NotMet, nil), "criteria[0]: text is missing"},
		"met by nothing":  {criterion("x", finding.Met, nil), "criteria[0]: it is met, and no evidence is named"},
		"beside the diff": {criterion("x", finding.Met, place("queue.go", 900)), "does not show lines 900 to 900"},
		"of no file":      {criterion("x", finding.Met, place("other.go", 11)), `lines 11 to 11 of "other.go"`},
		"unasked": {dataset.Ticket{Key: "A-1", Summary: "s", Criteria: asking(fine).Criteria,
			Unasked: place("x", 1)},
			"unasked[0]: the diff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := sample()[1]
			one.Ticket = &c.ticket
			cases, err := dataset.Read(write(t, t.TempDir()+"/cases.jsonl", encoded(t, []dataset.Case{one})))
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, one.Ticket, cases[0].Ticket)
				require.Equal(t, "A-1", cases[0].Context().Tickets[0].Key)
				return
			}
			require.ErrorContains(t, err, "ticket: ")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func criterion(text string, v finding.Verdict, evidence []dataset.Place) dataset.Ticket {
	return asking(dataset.Criterion{Text: text, Verdict: v, Evidence: evidence})
}

func asking(all ...dataset.Criterion) dataset.Ticket {
	return dataset.Ticket{Key: "A-1", Summary: "s", Criteria: all}
}

func place(path string, line int) []dataset.Place {
	return []dataset.Place{{Path: path, LineStart: line, LineEnd: line}}
}

func TestATicketIsPartOfWhatACaseIs(t *testing.T) {
	t.Parallel()
	cases, err := dataset.Read(dataset.TicketsName)
	require.NoError(t, err)
	before := dataset.Fingerprint(cases)
	c := *cases[0].Ticket
	c.Criteria = append([]dataset.Criterion{}, c.Criteria...)
	c.Criteria[0].Verdict = finding.NotMet
	cases[0].Ticket = &c
	require.NotEqual(t, before, dataset.Fingerprint(cases))
	for _, c := range cases {
		require.True(t, strings.HasPrefix(c.ID, "ticket-"))
	}
}
