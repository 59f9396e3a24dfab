package gate

import (
	"slices"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/github"
)

// Approved is resume check 12 of route A: the run's approvals hold one of the
// environment, in state approved, that was not there when the draft parked.
// Reaching the job proves nothing, since an environment that does not exist is
// created without rules on first use. before holds the keys of the approvals
// in the manifest.
func Approved(approvals []github.Approval, before []string, environment string) (github.Approval, error) {
	candidates := since(approvals, before)
	candidates = slices.DeleteFunc(candidates, func(a github.Approval) bool {
		return a.State != "approved" || !slices.Contains(a.Environments, environment)
	})
	if len(candidates) == 0 {
		return github.Approval{}, &checkpoint.Refusal{Check: 12, What: "nobody has approved this draft, nothing was posted", Rows: [][2]string{
			{"where", "the environment \"" + environment + "\" let this job start without an approval"},
			{"next", "add required reviewers to it under Settings, Environments; on a private repository without Enterprise use the dispatch route: README, \"Deciding by dispatch\""},
		}}
	}
	first := candidates[0]
	for _, other := range candidates[1:] {
		if other.User != first.User || other.Comment != first.Comment {
			return github.Approval{}, &checkpoint.Refusal{Check: 12, What: "two different approvals are on record for this draft, nothing was posted", Rows: [][2]string{
				{"where", "environment \"" + environment + "\": " + first.User + " and " + other.User},
				{"next", "re-run the whole workflow for a new draft and approve it once"},
			}}
		}
	}
	return first, nil
}

// Rejected is the part of resume check 13 that the run's own record answers:
// a draft that somebody has rejected since it parked is decided. An empty
// environment stands for any.
func Rejected(approvals []github.Approval, before []string, environment string) error {
	for _, a := range since(approvals, before) {
		if a.State != "rejected" || environment != "" && !slices.Contains(a.Environments, environment) {
			continue
		}
		return &checkpoint.Refusal{Check: 13, What: "this draft was rejected before, nothing was posted", Rows: [][2]string{
			{"where", "by " + a.User + ", in the run's deployment review"},
			{"next", "a draft is decided once; re-run the whole workflow, or push, for a new one"},
		}}
	}
	return nil
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
