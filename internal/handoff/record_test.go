package handoff_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
)

func TestCheck13_ARejectionHoldsForLaterDraftsOfItsCommit(t *testing.T) {
	t.Parallel()
	drafted := time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)
	rejected := func(change func(*decision.Record)) decision.Record {
		r := no()
		r.Digest, r.Code, r.At = "another draft's", "58d1e0c2a9b7f346", drafted.Add(-time.Hour)
		if change != nil {
			change(&r)
		}
		return r
	}
	for name, c := range map[string]struct {
		by    decision.Record
		mine  decision.Record
		again bool
		holds bool
	}{
		"rejected before":          {rejected(nil), yes(), false, true},
		"drafted again after that": {rejected(nil), yes(), true, false},
		"drafted again in that second": {rejected(func(r *decision.Record) {
			r.At = drafted
		}), yes(), true, false},
		"rejected after it was drafted again": {rejected(func(r *decision.Record) {
			r.At = drafted.Add(time.Second)
		}), yes(), true, true},
		"withdrawn, which is no verdict": {rejected(func(r *decision.Record) {
			*r = r.Withdraws("")
		}), yes(), false, false},
		"approved": {rejected(func(r *decision.Record) {
			r.Decision = decision.Approve
		}), yes(), false, false},
		"another commit's": {rejected(func(r *decision.Record) {
			r.Thread = "another commit's"
		}), yes(), false, false},
		"this draft's, which Governed holds": {rejected(func(r *decision.Record) {
			r.Digest = digest
		}), yes(), false, false},
		"rejected again":         {rejected(nil), no(), false, false},
		"a revision of it after": {rejected(nil), yes().With(decision.Decision{Verdict: decision.Revise}), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := handoff.Remembered([]handoff.Claim{claim(1, 8, false, c.by)}, c.mine, c.again, drafted)
			if !c.holds {
				require.NoError(t, err)
				return
			}
			refused(t, err, "a draft of this commit has already been rejected", "code 58d1e0c2a9b7f346, by eve",
				"again: true")
		})
	}
}

func TestCheck13_ARecordOfAnotherVerdictRefuses(t *testing.T) {
	t.Parallel()
	record := decision.Record{Digest: digest, Decision: decision.Abort, By: "rita"}
	require.NoError(t, handoff.CheckRecord(record, digest, decision.Abort))
	require.NoError(t, handoff.CheckRecord(record, "another draft", decision.Approve))
	var r *problem.Error
	require.ErrorAs(t, handoff.CheckRecord(record, digest, decision.Approve), &r)
	require.Equal(t, 13, r.Check)
	require.Contains(t, r.Error(), "abort by rita")
	require.Contains(t, r.Error(), "draft again (a review with --again; again: true in a workflow)")
	record.Decision = decision.Approve
	refused(t, handoff.CheckRecord(record, digest, decision.Abort), "a new commit gets a new draft")
}

func TestCheck13_AWithdrawnDraftPointsToTheNewerOne(t *testing.T) {
	t.Parallel()
	record := decision.Record{Digest: digest, Code: digest[:16], By: "rita"}.Withdraws("")
	for _, verdict := range []decision.Verdict{decision.Approve, decision.Abort} {
		refused(t, handoff.CheckRecord(record, digest, verdict), "withdrawn",
			"the summary of the run that drafted again has its code")
		refused(t, handoff.CheckRecord(record.Withdraws("58d1e0c2a9b7f346"), digest, verdict), "code 58d1e0c2a9b7f346")
	}
}

func TestCheck13_ARefusedJobsRecordDoesNotGovern(t *testing.T) {
	t.Parallel()
	lost := []handoff.Claim{claim(6, 8, false, no()), claim(5, 7, false, yes())}
	require.NoError(t, handoff.Governed(lost, yes()), "the first decision again")
	refused(t, handoff.Governed(lost, no()), "approve by rita")
	require.NoError(t, handoff.Governed(nil, yes()))
	require.Equal(t, int64(6), lost[0].ID, "the list is left as it was")
}
