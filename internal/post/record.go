package post

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
)

// CheckRecord is the part of resume check 13 that a decision on record answers:
// the same verdict on the same draft may be given again, another one may not. A
// draft that was drafted again takes none.
func CheckRecord(r decision.Record, digest string, now decision.Verdict) error {
	switch {
	case r.Digest != digest:
		return nil
	case r.Withdrawn():
		next := "decide the newer draft: the summary of the run that drafted again has its code"
		if r.Replaced != "" {
			next = "decide the newer draft, code " + r.Replaced
		}
		return refuse("this draft was withdrawn when its commit was drafted again, nothing was posted", next,
			[2]string{"where", fmt.Sprintf("code %s, by %s on %s", r.Code, r.By, when(r))})
	case r.Decision != now:
		return decidedOtherwise(r, "")
	}
	return nil
}

// Governed holds a decision against the oldest claim on its draft, which alone
// counts: a younger one may be of a job that was refused. They must be the same,
// changes included. A draft that was rejected can be withdrawn all the same.
func Governed(claims []Claim, mine decision.Record) error {
	claims = onDraft(claims, mine.Digest)
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
	return decidedOtherwise(by, ", with other changes")
}

// onDraft are the claims on one draft, the oldest first.
func onDraft(claims []Claim, digest string) []Claim {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.Record.Digest != digest })
	slices.SortFunc(claims, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	return claims
}

func decidedOtherwise(r decision.Record, how string) error {
	return refuse("this draft was decided otherwise before, nothing was posted",
		"a draft is decided once: decide the same again, push a new commit, or draft this one anew with again: true",
		[2]string{"where", fmt.Sprintf("%s by %s on %s%s", r.Decision, r.By, when(r), how)})
}

func when(r decision.Record) string { return r.At.UTC().Format("2 January 2006, 15:04 UTC") }

// refuse is check 13's no; its last row is what to do next.
func refuse(what, next string, rows ...[2]string) error {
	return &checkpoint.Refusal{Check: 13, What: what, Rows: append(rows, [2]string{"next", next})}
}
