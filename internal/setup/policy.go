package setup

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/wording"
)

// draftEvent is the event that drafts a review. GitHub blocks it in public repositories without a policy
// (https://docs.github.com/en/actions/reference/security/securely-using-pull_request_target).
const draftEvent = "pull_request_target"

// draftEvents start the shipped workflow that drafts.
var draftEvents = []string{draftEvent, "workflow_dispatch"}

// policyStep says how a repository allows the event.
const policyStep = "Settings, Actions, Policies: a policy for " + draftPath + " with the events " + draftEvent +
	" and workflow_dispatch"

// needsPolicy reports whether GitHub starts the workflow of a repository only by a policy.
func (r *repository) needsPolicy() bool { return r.public || r.seen && !r.facts.Private }

// checkEvent checks that the policies of a public repository let events start the workflow that drafts. GitHub shows
// them to administrators alone.
func (r *repository) checkEvent(ctx context.Context, events []string) Check {
	k := Check{What: "event " + draftEvent, State: unseen, Next: policyStep,
		Found: "from 2 December 2026 on GitHub blocks it in public repositories unless a policy allows it"}
	policies, err := r.api.EventPolicies(ctx, r.ref.Owner, r.ref.Repo)
	if err != nil {
		return k
	}
	var allow, block []string
	for _, p := range policies {
		switch blocked := slices.ContainsFunc(events, func(e string) bool { return !slices.Contains(p.Events, e) }); {
		case !covers(p, draftPath):
		case blocked:
			block = append(block, strconv.Quote(p.Name))
		default:
			allow = append(allow, strconv.Quote(p.Name))
		}
	}
	all := wording.List(events)
	k.there = len(block) > 0
	switch {
	case len(block) > 0 && len(allow) > 0: // whether GitHub lists its own policy as well is not documented
		k.Found = "policy " + allow[0] + " allows " + all + ", and " + block[0] + " does not"
	case len(block) > 0:
		k.State, k.Found = no, "policy "+block[0]+" does not allow "+all
	case len(allow) == 0:
		k.State, k.Next = no, "init --apply makes one, or "+policyStep
	default:
		k = Check{What: k.What, State: ok, Found: "policy " + allow[0] + " allows " + all}
	}
	return k
}

// covers reports whether a policy is for a workflow.
func covers(p github.EventPolicy, workflow string) bool {
	matches := func(pattern string) bool {
		found, err := doublestar.Match(pattern, workflow)
		return pattern == "~ALL" || err == nil && found
	}
	return (len(p.Include) == 0 || slices.ContainsFunc(p.Include, matches)) && !slices.ContainsFunc(p.Exclude, matches)
}

// policyStep returns the step that lets the event start the workflow in a public repository.
func (r *repository) policyStep() Step {
	policy := write.EventPolicy("pr-review", draftPath, draftEvents...)
	body, _ := json.Marshal(policy)                            // of strings
	text := strings.ReplaceAll(string(body), `,"`, ",' '"+`"`) // so that the command may be wrapped
	return Step{
		What: "policy by which " + draftEvent + " starts " + draftPath,
		Commands: []string{"printf %s '" + text + "' | gh api repos/" + r.ref.FullName() +
			"/actions/policies --input -"},
		do: func(ctx context.Context) error { return write.New(r.api).CreatePolicy(ctx, r.ref, policy) },
	}
}
