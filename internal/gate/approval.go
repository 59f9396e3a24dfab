package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/problem"
)

// Approved is resume check 12 of route A: among the run's approvals there is one of
// the environment, in state approved, that was not there when the draft parked.
// Reaching the job proves nothing, since an environment that does not exist is created
// without rules on first use. before holds the keys of the approvals in the manifest.
// Reserve the environment for the deciding job: approvals for another job of the run
// that uses it look like the draft's.
//
// GitHub reports neither when an approval was given nor for which job or attempt, and
// promises no order, so approvals are a set. read returns the decision in an
// approval's comment; an approval that read refuses is void, and its error is returned
// if no other remains. An approval without commands is a plain yes. If several have
// commands, these must have the same effect; otherwise the error names both approvers.
func Approved(approvals []github.Approval, before []string, environment string, findings []finding.Finding,
	read func(github.Approval) (decision.Decision, error)) (by string, d decision.Decision, err error) {
	for _, a := range NewApprovals(approvals, before) {
		if a.State != "approved" || !IsFor(a, environment) {
			continue
		}
		said, void := read(a)
		switch {
		case void != nil:
			err = void
		case len(d.Commands) == 0:
			by, d = a.User, said
		case len(said.Commands) > 0 && !sameEffect(d, said, findings):
			return "", decision.Decision{}, refuse("two approvals of this draft say different things",
				"both stay in the run for good: draft again (a review with again: true), or dispatch the decision "+
					"where allow-dispatch lets the environment's reviewers",
				[2]string{"where", "environment \"" + environment + "\": " + by + " and " + a.User})
		}
	}
	switch {
	case by != "":
		return by, d, nil
	case err == nil:
		err = refuse("nobody has approved this draft",
			"add required reviewers to it under Settings, Environments; on a private repository without Enterprise "+
				"use the dispatch route: "+
				"https://github.com/org/pr-review-action/blob/v1/.github/GUIDES.md#3-deciding-by-dispatch",
			[2]string{"where", "the environment \"" + environment + "\" let this job start without an approval"})
	}
	return "", decision.Decision{}, err
}

// sameEffect reports whether two decisions lead to the same review, its overview included.
func sameEffect(a, b decision.Decision, all []finding.Finding) bool {
	all = append(slices.Clone(all), finding.Finding{ID: decision.OverviewID})
	return a.Verdict == b.Verdict && slices.EqualFunc(finding.Apply(a, all), finding.Apply(b, all),
		func(x, y finding.Finding) bool {
			return x.ID == y.ID && x.Body == y.Body && x.Severity == y.Severity && x.Placement == y.Placement &&
				x.Filtered == y.Filtered
		})
}

// Rejected is the part of resume check 13 that the run's own record answers: a
// draft that was rejected since it parked is decided, whatever was approved
// before or after, because GitHub reports no order. An empty environment matches
// any.
func Rejected(approvals []github.Approval, before []string, environment string) error {
	a, found := Rejection(approvals, before, environment)
	if !found {
		return nil
	}
	return problem.Refuse(13, "this draft has already been rejected, nothing was posted",
		"a draft is decided once: draft again (a review with again: true), or push",
		problem.At("by "+a.User+", in the run's deployment review"))
}

// Rejection returns the answer that rejected a draft since it parked, for an
// environment or, if that is empty, for any. before holds the keys of the answers
// in the manifest.
func Rejection(approvals []github.Approval, before []string, environment string) (github.Approval, bool) {
	for _, a := range NewApprovals(approvals, before) {
		if a.State == "rejected" && (environment == "" || IsFor(a, environment)) {
			return a, true
		}
	}
	return github.Approval{}, false
}

// IsFor reports whether an approval is for an environment. GitHub compares the names
// of environments without case.
func IsFor(a github.Approval, environment string) bool {
	return slices.ContainsFunc(a.Environments, func(name string) bool { return strings.EqualFold(name, environment) })
}

// NewApprovals returns the approvals that are not among the keys in before. Each key removes
// one approval, so that a second identical approval by the same person counts.
func NewApprovals(approvals []github.Approval, before []string) []github.Approval {
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

// Key returns a key that tells approvals from before a draft parked from later
// ones. It does not reveal the comment. The order of environments does not
// matter, because it may change between two readings.
func Key(a github.Approval) string {
	return checkpoint.Code(checkpoint.Digest(fmt.Appendf(nil, "%q %q %q %q",
		slices.Sorted(slices.Values(a.Environments)), a.State, a.User, a.Comment)))
}

// Keys returns the key of each approval, in order.
func Keys(approvals []github.Approval) []string {
	keys := make([]string, 0, len(approvals))
	for _, a := range approvals {
		keys = append(keys, Key(a))
	}
	return keys
}
