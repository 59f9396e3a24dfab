package ticketpr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/pull"
)

func TestATicketIsAKeyOrAnIssueOfTheRepository(t *testing.T) {
	t.Parallel()
	of := pull.Ref{Owner: "o", Repo: "r"}
	for text, want := range map[string]ticketpr.Asked{
		"PAY-88": {Key: "PAY-88", From: "PAY-88"}, " task-101 ": {Key: "TASK-101", From: "TASK-101"},
		"#7": {Key: "gh-7", From: "o/r#7"}, "7": {Key: "gh-7", From: "o/r#7"}, "gh-7": {Key: "gh-7", From: "o/r#7"},
		"GH-7": {Key: "gh-7", From: "o/r#7"}, "O/R#7": {Key: "gh-7", From: "o/r#7"},
		"": {}, "PAY": {}, "PAY-0": {}, "x/y#7": {}, "o/r#0": {}, "o/r#": {}, "gh-7x": {}, "-1": {}, "P-1": {},
		"PAY-88; rm": {}, "../PAY-88": {},
	} {
		got, err := ticketpr.ParseTicket(text, of)
		require.Equal(t, want, got, "%q", text)
		require.Equal(t, want == ticketpr.Asked{}, err != nil, "%q", text)
	}
	require.Equal(t, "o/r~gh-7:abc", ticketpr.ThreadID(of, "gh-7", "abc"))
	require.Equal(t, 7, ticketpr.IssueNumber("gh-7"))
	require.Zero(t, ticketpr.IssueNumber("7"))
	require.Zero(t, ticketpr.IssueNumber("PAY-88"))
}
