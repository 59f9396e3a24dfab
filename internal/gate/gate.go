// Package gate asks a person for a decision and checks the answer: what it must
// contain, and who may give it.
//
// It implements resume checks 11 and 12 and reaches neither a model nor the pull
// request. Start reading at Ask and Decide; MayDecide, Dispatch and Approved
// check who decided.
package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
)

// Ask is the question put to the approver. It is hashed into the gate's id, so
// that an answer applies to exactly this draft.
type Ask struct {
	Thread     string   `json:"thread"`
	DiffDigest string   `json:"diff_digest"`
	Findings   []string `json:"findings"` // ids, in the order shown
	Shown      string   `json:"shown"`    // SHA-256 of the review as it will be posted
}

// NewAsk returns the question for a draft. shown is the whole review as the
// approver could read it.
func NewAsk(thread, diffDigest string, kept []finding.Finding, shown string) Ask {
	return Ask{Thread: thread, DiffDigest: diffDigest, Findings: IDs(kept), Shown: checkpoint.Digest([]byte(shown))}
}

// Same refuses a gate's question that does not match the current draft.
func Same(asked []byte, now Ask) error {
	var before Ask
	if err := json.Unmarshal(asked, &before); err != nil {
		return err
	}
	if before.Shown != now.Shown || before.DiffDigest != now.DiffDigest {
		return errors.New("the draft is not the one that was asked about")
	}
	return nil
}

// IDs returns the findings' ids in order.
func IDs(findings []finding.Finding) []string {
	ids := make([]string, 0, len(findings))
	for _, f := range findings {
		ids = append(ids, f.ID)
	}
	return ids
}

// Decide is resume check 11: the decision parses completely and names only findings or
// files of this draft, which are given in its order. given is the verdict of the input or
// flag and may be empty; fallback applies if neither it nor the text has a verdict.
func Decide(text string, given, fallback decision.Verdict, draft []decision.Item,
	until time.Time) (decision.Decision, error) {
	d, err := decision.Parse(secret.Redact(text)) // no credential may be kept or posted
	if err == nil {
		d, err = d.Check(draft)
	}
	if err == nil && given != "" {
		d, err = d.Under(given)
	}
	if refused, ok := err.(*decision.Error); ok {
		refused.Until = until
		refused.About(draft)
	}
	if err != nil {
		return decision.Decision{}, err
	}
	d.Verdict = cmp.Or(d.Verdict, fallback)
	if !slices.Contains([]decision.Verdict{decision.Approve, decision.Abort, decision.Revise}, d.Verdict) {
		return d, problem.Refuse(11, "there is no decision", "decide with /approve or /abort")
	}
	return d, nil
}

// MaxRounds is the number of times a draft can be revised.
const MaxRounds = 3

// CheckRounds is the part of resume check 11 that limits revisions: before is how
// often the draft has been revised.
func CheckRounds(before int) error {
	if before < MaxRounds {
		return nil
	}
	return problem.Refuse(11, "this draft has already been revised three times, nothing was posted",
		"approve it with changes, or abort it")
}

// RefuseRevise is the part of resume check 11 that refuses a revision in a job
// that decides, because such a job has no model. The draft stays unchanged.
// dispatch is the complete command that revises it.
func RefuseRevise(dispatch string) error {
	return problem.Refuse(11, "/revise needs a model, and the job that decides has none: nothing was posted", dispatch,
		[2]string{"draft", "still waits, unchanged"})
}
