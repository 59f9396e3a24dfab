package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
)

// gateRules reads, before anything is paid, whether the named environment will
// ask anybody, and which approvals the run has already. Where none is named the
// second is read as far as the token may: a later job may still name one.
func (j *job) gateRules(ctx context.Context) ([]string, error) {
	if err := j.checkEnvironment(ctx); err != nil {
		return nil, err
	}
	approvals, err := j.api.Approvals(ctx, j.ref.Owner, j.ref.Repo, j.env.RunID)
	if j.Environment == "" && (errors.Is(err, github.ErrNoAccess) || errors.Is(err, github.ErrNotFound)) {
		err = nil
	}
	return gate.Keys(approvals), handoff.NeedsActions(err, "the run's approvals cannot be read")
}

// chooseEnvironment takes the environment that the base's path rules name, where
// an environment decides at all. It is checked before anything is paid.
func (j *job) chooseEnvironment(ctx context.Context, change ingest.Change) error {
	var paths []string
	for _, f := range change.Files {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	name := change.Config.EnvironmentFor(paths)
	if rules := change.Config.Environments; len(rules) > 0 && change.Unlisted > 0 {
		name = rules[0].Name // what GitHub does not list may be anything
	}
	if name != "" && j.Environment == "" {
		j.runner.Warning("the settings name an environment for these files, and the input environment is empty: a " +
			"dispatch decides this draft, by anybody who may write")
	}
	if name == "" || j.Environment == "" || name == j.Environment {
		return nil
	}
	j.Environment = name
	return j.checkEnvironment(ctx)
}

// checkEnvironment refuses one whose approval nobody would be asked for.
func (j *job) checkEnvironment(ctx context.Context) error {
	if j.Environment == "" {
		return nil
	}
	env, err := j.api.Environment(ctx, j.ref.Owner, j.ref.Repo, j.Environment)
	j.environmentID = env.ID
	var what string
	switch {
	case errors.Is(err, github.ErrNotFound):
		what = "does not exist"
	case err == nil && env.Reviewers == 0:
		what = "has no required reviewers"
	default:
		return handoff.NeedsActions(err, fmt.Sprintf("the rules of the environment %q cannot be read", j.Environment))
	}
	return problem.As(problem.Misuse, problem.New(fmt.Sprintf("the environment %q %s, so nobody would be asked",
		j.Environment, what), j.ref.FullName()+", Settings, Environments",
		"add required reviewers there; on a private repository without Enterprise use the dispatch route: "+
			"https://github.com/org/pr-review-action/blob/v1/.github/GUIDES.md#3-deciding-by-dispatch"), "")
}
