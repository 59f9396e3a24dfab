package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wording"
)

// CheckRecord is the part of resume check 13 that a recorded decision answers:
// the same verdict on the same draft may be repeated, a different one is refused.
// A withdrawn draft accepts none.
func CheckRecord(r decision.Record, digest string, now decision.Verdict) error {
	switch {
	case r.Digest != digest:
		return nil
	case r.Withdrawn():
		next := "decide the newer draft: the summary of the run that drafted again has its code"
		if r.Replaced != "" {
			next = "decide the newer draft, code " + r.Replaced
		}
		return problem.Refuse(13, "this draft was withdrawn when its commit was drafted again, nothing was posted",
			next, problem.At(fmt.Sprintf("code %s, by %s on %s", r.Code, r.By, wording.Minute(r.At))))
	case r.Decision != now:
		return refuseOther(r, "")
	}
	return nil
}

// Governed compares a decision with the oldest claim on its draft. Only that one
// counts, because a later one may come from a job that was refused. The two must
// be equal, including changes. A rejected draft can still be withdrawn.
func Governed(claims []Claim, mine decision.Record) error {
	claims = claimsOn(claims, mine.Digest)
	if len(claims) == 0 {
		return nil
	}
	by := claims[0].Record
	if mine.Withdrawn() && by.Decision == decision.Abort {
		return nil
	}
	if err := CheckRecord(by, mine.Digest, mine.Decision); err != nil || by.Same(mine) {
		return err
	}
	return refuseOther(by, ", with other changes")
}

// claimsOn returns the claims on one draft, oldest first.
func claimsOn(claims []Claim, digest string) []Claim {
	return slices.DeleteFunc(oldestFirst(claims), func(c Claim) bool { return c.Record.Digest != digest })
}

func oldestFirst(claims []Claim) []Claim {
	sorted := slices.Clone(claims)
	order.Stable(sorted, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	return sorted
}

// Remembered refuses an approval, or a revision, if another draft of the commit was rejected,
// unless this draft was made again after that. Pass only claims that a seal
// vouches for: without a seal a rejection applies to its draft alone.
func Remembered(claims []Claim, mine decision.Record, again bool, drafted time.Time) error {
	for _, c := range oldestFirst(claims) {
		by := c.Record
		rejected := by.Thread == mine.Thread && by.Digest != mine.Digest && by.Decision == decision.Abort &&
			!by.Withdrawn()
		if !rejected || mine.Decision == decision.Abort || again && !by.At.After(drafted) {
			continue
		}
		return problem.Refuse(13, "a draft of this commit has already been rejected, nothing was posted",
			"draft again (a review with again: true), or push",
			problem.At(fmt.Sprintf("code %s, by %s on %s", by.Code, by.By, wording.Minute(by.At))))
	}
	return nil
}

func refuseOther(r decision.Record, how string) error {
	next := "a draft can be decided only once; a new commit gets a new draft"
	if r.Decision == decision.Abort {
		next = "a draft is decided once: draft again (a review with --again; again: true in a workflow), or push"
	}
	return problem.Refuse(13, "this draft has already been decided differently, nothing was posted", next,
		problem.At(fmt.Sprintf("%s by %s on %s%s", r.Decision, r.By, wording.Minute(r.At), how)))
}

const draftAnew = "start a new draft: run the workflow that drafts again"
