package post_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/post"
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
		"rejected before":                     {rejected(nil), yes(), false, true},
		"drafted again after that":            {rejected(nil), yes(), true, false},
		"drafted again in that second":        {rejected(func(r *decision.Record) { r.At = drafted }), yes(), true, false},
		"rejected after it was drafted again": {rejected(func(r *decision.Record) { r.At = drafted.Add(time.Second) }), yes(), true, true},
		"withdrawn, which is no verdict":      {rejected(func(r *decision.Record) { *r = r.Withdraws("") }), yes(), false, false},
		"approved":                            {rejected(func(r *decision.Record) { r.Decision = decision.Approve }), yes(), false, false},
		"another commit's":                    {rejected(func(r *decision.Record) { r.Thread = "another commit's" }), yes(), false, false},
		"this draft's, which Governed holds":  {rejected(func(r *decision.Record) { r.Digest = digest }), yes(), false, false},
		"rejected again":                      {rejected(nil), no(), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := post.Remembered([]post.Claim{claim(1, 8, false, c.by)}, c.mine, c.again, drafted)
			if !c.holds {
				require.NoError(t, err)
				return
			}
			refused(t, err, "a draft of this commit was rejected before", "code 58d1e0c2a9b7f346, by eve", "again: true")
		})
	}
}
