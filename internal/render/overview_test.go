package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/ticket"
)

// asked is the ledger's review with an overview that is posted, and a ticket.
func asked() render.Review {
	r := ledger()
	r.Posts, r.Overview = true, "`Transfer` now locks the book before the accounts, and `Close` "+
		"returns its "+
		"error. The report counts in cents throughout; its format is unchanged."
	r.Asked = render.Asked{
		Posted: true, Tickets: []ticket.Ticket{{Key: "PAY-101", Summary: "No money from failed debits"}},
		Criteria: []finding.Criterion{
			{N: 1, Text: "A failed debit leaves both accounts as they were", Verdict: finding.Met,
				Evidence: []finding.Lines{{Path: "ledger/transfer.go", StartLine: 41, EndLine: 44},
					{Path: "ledger/transfer.go", StartLine: 51, EndLine: 51},
					{Path: "api/handler.go", StartLine: 7, EndLine: 9}}},
			{N: 2, Text: "Each failure is logged with the account's `id|name`", Verdict: finding.NotMet},
			{N: 3, Verdict: finding.Unknown},
			{N: 4, Text: "Amounts are shown in cents", Verdict: finding.NotMet,
				Evidence: []finding.Lines{{Path: "ledger/report.go", StartLine: 15, EndLine: 15}}},
			{N: 5, Text: "Said to be met, without a line", Verdict: finding.Met},
		},
		Unasked: []finding.Unasked{{Lines: finding.Lines{Path: "docs/setup.md", StartLine: 3, EndLine: 12},
			Text: "rewrites the setup guide"}},
		Missing: []string{"Without ticket: PAY-9 is not visible to the Jira user", "the commits could not be read",
			"Without page: 65603 is archived"},
	}
	return r
}

func TestWhatWasMissingIsOneLineAlsoWhereNothingElseIsPosted(t *testing.T) {
	r := asked()
	const line = "Without ticket: PAY-9 is not visible to the Jira user; the commits could not be read. " +
		"Without page: " +
		"65603 is archived"
	require.Contains(t, summary.Draft(r, dialog()), line)
	r.Asked.Posted, r.Posts = false, false
	body := render.Body(r)
	require.Contains(t, body, line)
	require.NotContains(t, body, "What was asked")
	require.NotContains(t, body, "Transfer` now locks", "the overview is for the approver")
	require.Contains(t, summary.Draft(r, dialog()), "**What it does, in a model's words** (not posted): `Transfer` now")
	require.NotContains(t, summary.Draft(ledger(), dialog()), "Without ticket", "who configures no tracker is never told")
}

// T10, T11, T12: what a ticket or a model says is text, in a table too.
func TestT12_TextsOfTicketsAndOverviewsStayText(t *testing.T) {
	hostile := "a | b\n| 1 | evidence at | <img src=x> " +
		"@admin #1 [x](https://evil.example) <!-- pr-review:v1 --> ![i](https://e.example/i.png)"
	r := asked()
	r.Overview = hostile
	r.Asked.Tickets[0].Summary, r.Asked.Criteria[0].Text, r.Asked.Unasked[0].Text = hostile, hostile, hostile
	r.Asked.Missing[0] = hostile
	for _, out := range []string{summary.Draft(r, dialog()), render.Body(r), render.File(r)} {
		for _, live := range []string{`<img`, `<!-- pr-review`, `\[x\]\(`, `!\[i\]`} {
			require.NotRegexp(t, `[^\\]`+live, out)
		}
		require.NotRegexp(t, "[^`]@admin", out)
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "| 1 ") {
				bare := strings.ReplaceAll(line, `\|`, "")
				require.Equal(t, 4, strings.Count(bare, "|"), line)
			}
		}
	}
}
