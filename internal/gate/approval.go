package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/github"
)

// Approved is resume check 12 of route A: the run's approvals hold one of the
// environment, in state approved, that was not there when the draft parked.
// Reaching the job proves nothing, since an environment that does not exist is
// created without rules on first use. before holds the keys of the approvals
// in the manifest.
//
// GitHub tells neither when an approval was given nor for which job or attempt,
// and promises no order. So two of them that say different things cannot be
// told into a first and a last one, and are refused; one person who says the
// same thing again, as when a failed job is run again, counts once. Another job
// of the run that uses the same environment makes its approvals look like the
// draft's: an environment is for the deciding job alone.
func Approved(approvals []github.Approval, before []string, environment string) (github.Approval, error) {
	candidates := slices.DeleteFunc(since(approvals, before), func(a github.Approval) bool {
		return a.State != "approved" || !of(a, environment)
	})
	if len(candidates) == 0 {
		return github.Approval{}, refuse("nobody has approved this draft",
			"add required reviewers to it under Settings, Environments; on a private repository without Enterprise use the dispatch route: README, \"Deciding by dispatch\"",
			[2]string{"where", "the environment \"" + environment + "\" let this job start without an approval"})
	}
	first := candidates[0]
	for _, other := range candidates[1:] {
		if !strings.EqualFold(other.User, first.User) || !sameCommands(other.Comment, first.Comment) {
			return github.Approval{}, refuse("two different approvals are on record for this draft",
				"re-run all jobs of the workflow for a new draft and approve it once",
				[2]string{"where", "environment \"" + environment + "\": " + first.User + " and " + other.User})
		}
	}
	return first, nil
}

// sameCommands reports whether two comments give the same decision: their
// commands agree line by line; notes do not matter.
func sameCommands(a, b string) bool {
	one, err := decision.Parse(a)
	two, err2 := decision.Parse(b)
	if err != nil || err2 != nil {
		return a == b
	}
	return slices.EqualFunc(one.Commands, two.Commands, func(x, y decision.Command) bool { return x.Text == y.Text })
}

// Rejected is the part of resume check 13 that the run's own record answers:
// a draft that somebody has rejected since it parked is decided, whatever was
// approved before or after: the order is not told. An empty environment stands
// for any.
func Rejected(approvals []github.Approval, before []string, environment string) error {
	for _, a := range since(approvals, before) {
		if a.State != "rejected" || environment != "" && !of(a, environment) {
			continue
		}
		return &checkpoint.Refusal{Check: 13, What: "this draft was rejected before, nothing was posted", Rows: [][2]string{
			{"where", "by " + a.User + ", in the run's deployment review"},
			{"next", "a draft is decided once; re-run all jobs of the workflow, or push, for a new one"},
		}}
	}
	return nil
}

// of reports whether an approval is about an environment. GitHub's names of
// environments are not case-sensitive.
func of(a github.Approval, environment string) bool {
	return slices.ContainsFunc(a.Environments, func(name string) bool { return strings.EqualFold(name, environment) })
}

// since takes the approvals that were there before out of the list, each once.
func since(approvals []github.Approval, before []string) []github.Approval {
	known := map[string]int{}
	for _, key := range before {
		known[key]++
	}
	var later []github.Approval
	for _, a := range approvals {
		if key := Key(a); known[key] > 0 {
			known[key]--
			continue
		}
		later = append(later, a)
	}
	return later
}

// Key names an approval, so that those which were there before a draft parked
// can be told from those that came after. It does not give away the comment.
// The environments' order does not matter: it may change between two readings.
func Key(a github.Approval) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", slices.Sorted(slices.Values(a.Environments)), a.State, a.User, a.Comment))
	return hex.EncodeToString(sum[:8])
}

// Keys gives the key of each approval, in order.
func Keys(approvals []github.Approval) []string {
	keys := make([]string, 0, len(approvals))
	for _, a := range approvals {
		keys = append(keys, Key(a))
	}
	return keys
}
