package post_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/post"
)

// attack is a decision from the shared samples, in its own words.
type attack struct {
	Actor, Decision, Permission, Comment, Then string
	PRAuthor                                   string `json:"pr_author"`
	ApprovedHead                               string `json:"approved_head"`
	CurrentHead                                string `json:"current_head"`
	Checkpoint                                 string `json:"checkpoint_sha256"`
	PRState                                    string `json:"pr_state"`
	Times                                      int
	Edits                                      []struct {
		Index int
		Body  string
	}
}

// decide is the attack as a deciding job takes it: the checks that are about
// the decision, then the review.
func (a attack) decide(t *testing.T, p *page, verdict string) error {
	text, given := a.Comment, decision.Verdict(strings.Replace(verdict, "reject", "abort", 1))
	if given == "edit" {
		given = decision.Approve
	}
	for _, e := range a.Edits {
		text += fmt.Sprintf("\n/edit F%d: %s", e.Index+1, e.Body)
	}
	z := []byte("a checkpoint")
	if err := checkpoint.CheckDigest(z, cmp.Or(a.Checkpoint, checkpoint.Digest(z))); err != nil {
		return err
	}
	m := checkpoint.Subject{Number: 42, Head: cmp.Or(a.ApprovedHead, head)}
	if err := post.CheckHead(m, "", "", post.Now{Open: a.PRState != "closed",
		HeadSHA: cmp.Or(a.CurrentHead, head)}); err != nil {
		return err
	}
	d, err := gate.Decide(text, given, "", []decision.Item{{ID: "F1"}, {ID: "F2"}}, time.Time{})
	if err != nil {
		return err
	}
	if err := gate.MayDecide(gate.Decider{Login: a.Actor, Permission: cmp.Or(a.Permission, "write")}, a.PRAuthor, false,
		false); err != nil {
		return err
	}
	if d.Verdict == decision.Abort {
		return nil
	}
	q := request()
	q.Review.Findings = finding.Apply(d, q.Review.Findings)
	_, err = post.Review(t.Context(), p, p, q)
	return err
}

func TestT11_T14_T17_T24_T25_T26_T29_AttacksThroughTheDecision(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, row := range llmtest.Attacks(t) {
		if row.Channel != "decision-input" {
			continue
		}
		rows++
		var a attack
		require.NoError(t, json.Unmarshal([]byte(row.Payload), &a), row.ID)
		p := &page{}
		err := a.decide(t, p, a.Decision)
		switch {
		case a.Times == 2:
			require.NoError(t, cmp.Or(err, a.decide(t, p, a.Decision)), row.ID)
			require.Len(t, p.reviews, 1, "%s: once", row.ID)
		case a.Then != "":
			require.NoError(t, err, row.ID)
			refused(t, handoff.CheckRecord(decision.Record{Digest: digest, Decision: decision.Abort}, digest,
				decision.Verdict(a.Then)))
		case row.Must == "rejected-with-error":
			require.Error(t, err, row.ID)
			require.Empty(t, p.reviews, row.ID)
		default:
			require.NoError(t, err, row.ID)
			require.Len(t, p.writes, 1, row.ID)
			require.NotRegexp(t, "!\\[[^]]*[^\\\\]]\\(|(^|[^`])@org", p.writes[0].Body, row.ID)
			require.NotContains(t, p.reviews[0].Body, "merge it", row.ID)
		}
	}
	require.Positive(t, rows)
}
