package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// warnAlone warns of an environment that asks the author alone, who may not decide.
func (j *job) warnAlone(author string) {
	if e := j.asks; e.Reviewers == 1 && len(e.Users) == 1 && strings.EqualFold(e.Users[0], author) && !j.AllowAuthor {
		j.runner.Warning(fmt.Sprintf("nobody may approve this draft: %s wrote the pull request and is the only "+
			"reviewer of the environment %q; add another one, or set allow-author: true", author, e.Name))
	}
}

// checkEnvironment refuses one whose approval nobody would be asked for.
func (j *job) checkEnvironment(ctx context.Context) error {
	if j.Environment == "" {
		return nil
	}
	env, err := j.api.Environment(ctx, j.ref.Owner, j.ref.Repo, j.Environment)
	j.asks = env
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
