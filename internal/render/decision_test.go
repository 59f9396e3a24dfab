package render_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/render/terminal"
)

// hidden is a draft of which the summary shows counts alone.
func hidden(d summary.Decide, trust string) summary.Decide {
	d.Counts, d.Trust, d.Show = true, trust, "pr-review-action show org/payments#42"
	return d
}

func redraft() summary.Decide {
	d := dispatch()
	d.Withdraws, d.Extra = "58d1e0c2a9b7f346", 40_000
	return d
}

func reused() render.Review {
	r := ledger()
	r.Notices, r.Filtered, r.Findings, r.Reused = nil, nil, r.Findings[:1], 7
	return r
}

// timedOut is a draft of a run that a deadline ended.
func timedOut() render.Review {
	r := ledger()
	r.Partial, r.Notices, r.Filtered, r.Findings = true, nil, nil, r.Findings[:1]
	for i := range 23 {
		r.Files = append(r.Files, file(fmt.Sprintf("web/page%02d.ts", i), finding.NotReached, "the time was up"))
	}
	r.Files = append(r.Files, file("web/last.ts", finding.NotReached, "the budget was spent"))
	return r
}

func decidedRecord() decision.Record {
	return decision.Record{
		Thread: "org/payments#42:" + head, Digest: strings.Repeat("3f9c2a71be04d855", 4), Code: "3f9c2a71be04d855",
		Decision: decision.Approve,
		By:       "rita-reviewer", At: time.Date(2026, 11, 21, 14, 10, 0, 0, time.UTC), Via: decision.ByApproval,
		Note:    "Thanks, mostly good.",
		Dropped: []decision.Drop{{ID: "F4", Reason: "known, see #31"}},
		Edited:  []decision.Edit{{ID: "F2", Body: "take book first"}},
		Moved:   []decision.Move{{ID: "F3"}}, Severity: []decision.Regrade{{ID: "F1", Severity: finding.Major}},
	}
}

func posted() summary.Ending {
	r := decidedRecord()
	return summary.Ending{Outcome: "POSTED", Page: "https://github.com/org/payments/pull/42#pullrequestreview-17",
		Record: &r, Open: ledger().Findings,
		Changes: []string{"version v1.4.0, now v1.4.1", "prompts 58d1e0c2, now a9b7f346"}}
}

func rejected() summary.Ending {
	r := decidedRecord().With(decision.Decision{Verdict: decision.Abort, Note: "not now"})
	r.Via = decision.ByDispatch
	return summary.Ending{Outcome: "ABORTED", Reason: "rejected by rita-reviewer: not now", Record: &r}
}

func parked() []terminal.Parked {
	at := time.Date(2026, 11, 21, 14, 10, 0, 0, time.UTC)
	run := "https://github.com/org/payments/actions/runs/81234599"
	return []terminal.Parked{
		{Name: "#42", Outcome: "PAUSED", Created: at, Expires: at.AddDate(0, 0, 14), Findings: 4, Blockers: 1,
			State: terminal.Waits, Where: run + "01"},
		{Name: "#42@docs", Outcome: "KEPT", Created: at.Add(50 * time.Hour), Expires: at.AddDate(0, 0, 16),
			Findings: 12, State: terminal.Waits,
			Where: "gh workflow run pr-review-decide.yml -f draft=42-3f9c2a71be04d855 -f decision=approve"},
		{Name: "#7", Outcome: "PAUSED", Created: at.AddDate(0, 0, -3), Expires: at.AddDate(0, 0, 11), Findings: 1200,
			Blockers: 2, State: terminal.Superseded, Where: run + "02"},
		{Name: "#9", Outcome: "PAUSED", Created: at.Add(66*time.Hour + 10*time.Minute), Expires: at, Findings: 0,
			State: terminal.Expired},
		{Name: "#9", Outcome: "PAUSED", Created: at, Expires: at, Findings: 1, State: terminal.Withdrawn},
	}
}

func TestT28_CountsShowNothingOfAFinding(t *testing.T) {
	for name, r := range map[string]render.Review{"ledger": ledger(), "hostile": hostile(), "partial": partial(),
		"sixty": sixty(), "rules": byRules(), "timed out": timedOut()} {
		for _, d := range []summary.Decide{dialog(), dispatch(), keptDraft()} {
			shown := map[string]string{"draft": summary.Draft(r, hidden(d, "seal"))}
			for _, outcome := range []string{"CLEAN", "FAILED", "ABORTED", "EXPIRED", "REFUSED"} {
				record := decidedRecord()
				record.Note, record.Dropped[0].Reason = r.Findings[0].Title, r.Findings[0].Body
				shown[outcome] = summary.End(r, summary.Ending{Outcome: outcome, Record: &record, Counts: true})
			}
			for where, text := range shown {
				require.NotContains(t, text, "collect.example", "%s %s", name, where)
				for _, f := range append(r.Findings, r.Filtered...) {
					for _, secret := range []string{render.PlainTitle(f), f.Path, f.Body, f.Quote} {
						require.False(t, secret != "" && strings.Contains(text, secret), "%s %s: %q", name, where,
							secret)
					}
				}
				require.NotContains(t, text, "skip the migration folder", "a notice quotes the diff")
			}
			require.Contains(t, shown["draft"], r.Result(), name)
			require.Contains(t, shown["draft"], r.Tally(), name)
		}
	}
}

func TestCountsNameTheKeyOnlyWhereOneIsNeeded(t *testing.T) {
	require.Contains(t, summary.Draft(ledger(), hidden(dialog(), "seal")),
		"The findings and 1 warning are not shown here. With the checkpoint key in `PR_REVIEW_CHECKPOINT_KEY`, this "+
			"shows the whole draft:\n\n```\npr-review-action show org/payments#42\n```")
	require.NotContains(t, summary.Draft(ledger(), hidden(dialog(), "digest")), "PR_REVIEW_CHECKPOINT_KEY")
	require.NotContains(t, summary.Draft(weak(), hidden(dialog(), "seal")), "warning")
	require.Contains(t, summary.Draft(ledger(), hidden(dialog(), "seal")), "is `review.md` in the artifact")
	require.NotContains(t, summary.Draft(ledger(), hidden(dialog(), "encrypt")), "review.md")
}

func TestCountsLeaveTheReviewToItsPage(t *testing.T) {
	e := posted()
	e.Counts = true
	require.NotContains(t, summary.End(ledger(), e), "ledger/transfer.go")
	require.Contains(t, summary.End(ledger(), e), "[The review](https://")
	require.Contains(t, summary.End(ledger(), e), "- F4 dropped\n", "but not why")
}

func TestADraftIsRetainedUntilItExpiresUnlessSaid(t *testing.T) {
	d := dialog()
	for after, said := range map[time.Duration]bool{-time.Minute: true, 0: false, time.Hour: false} {
		d.RetainedUntil = d.Expires.Add(after)
		require.Equal(t, said, strings.Contains(summary.Draft(ledger(), d), "GitHub keeps the artifact only until"),
			after)
	}
}

func TestWhatWasNotReachedIsSaidWithItsReasonHoweverMuchItIs(t *testing.T) {
	want := "**Not reached:** 23 files (the time was up) and 1 file (the budget was spent)"
	require.Contains(t, summary.Draft(timedOut(), dialog()), want)
	require.Contains(t, summary.Draft(timedOut(), hidden(dialog(), "seal")), want)
	require.Contains(t, ended(timedOut(), "FAILED", ""), want)
	require.NotContains(t, summary.Draft(partial(), dialog()), "**Not reached:**", "the open list has it")
	require.NotContains(t, render.Body(timedOut()), "**Not reached:**",
		"P2: what was shown by an earlier version is posted as it was")
}

func TestReusedResultsAreSaidWhereTheCostIs(t *testing.T) {
	want := "7 of 9 files taken from earlier runs, not paid again."
	require.Contains(t, summary.Draft(reused(), dialog()), "a limit of $1.00. "+want)
	require.Contains(t, ended(reused(), "CLEAN", ""), "`gpt-6-luna`. "+want)
	require.Contains(t, terminal.Review(reused(), terminal.Options{Width: 80}), want+"\n")
	r := reused()
	r.Reused = 0
	require.Equal(t, render.Body(r), render.Body(reused()))
	require.Equal(t, render.File(r), render.File(reused()), "it is no part of what is approved")
	require.NotContains(t, summary.Draft(r, dialog()), "earlier runs")
}

func TestAnAccountIsBoundedAndInert(t *testing.T) {
	e := posted()
	for range 90 {
		e.Record.Dropped = append(e.Record.Dropped, decision.Drop{ID: "<b>@org", Reason: hostileText})
	}
	e.Record.By, e.Record.Note, e.Changes = "x</details>@org", hostileText, []string{hostileText, "a\n# b"}
	page := summary.End(ledger(), e)
	require.Empty(t, live(page), page)
	require.Contains(t, page, "- and 44 more changes\n")
}

func TestThreadsKeepsItsColumns(t *testing.T) {
	list := parked()
	list[0].Name, list[0].Findings, list[0].Blockers = "帳簿帳簿帳簿帳簿帳簿帳簿帳簿帳簿\x1b[2J", 2000, 2000
	for i, line := range strings.Split(terminal.Threads(list, time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)), "\n") {
		if !strings.HasPrefix(line, "  ") {
			require.LessOrEqual(t, column.Width(line), 80, "%d: %q", i, line)
		}
		require.NotContains(t, line, "\x1b")
	}
	require.Empty(t, terminal.Threads(nil, time.Time{}))
}
