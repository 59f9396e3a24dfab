package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
)

// checkNamed refuses inputs that name no draft, or two different ones.
func (j *job) checkNamed() error {
	switch {
	case j.Digest == "" && j.Code == "":
		return problem.Usage("neither checkpoint-digest nor code says which draft is meant",
			"pass checkpoint-digest from the draft job's outputs, or code or draft from the draft's summary")
	case j.Digest != "" && j.Code != "" && !strings.HasPrefix(j.Digest, j.Code):
		return problem.Usage("code and checkpoint-digest name different drafts", "pass one of them")
	}
	return nil
}

func (j *job) checkRoute() error {
	switch err := j.checkNamed(); {
	case err != nil || j.routeA():
		return err
	case j.event.Name != "workflow_dispatch":
		return problem.Usage("the input environment is missing",
			"name the environment of this job, whose approval is the decision; without one a decision comes by "+
				"workflow_dispatch alone")
	case j.Decision == "":
		return problem.Usage("the input decision is missing", "pass approve or abort")
	}
	return nil
}

// checkToken refuses a token that is known to be unable to post, unless the decision is to abort.
func (j *job) checkToken(ctx context.Context) error {
	known, ok, err := j.api.CanWritePulls(ctx, j.ref.Owner, j.ref.Repo)
	if err != nil {
		return err
	}
	if known && !ok && j.Decision != decision.Abort {
		return problem.Usage("the token may not write reviews",
			"give the job pull-requests: write; the draft still waits", problem.At(j.ref.FullName()))
	}
	return nil
}

// checkMayDecide is check 12 for the account that started this attempt. If the draft waits for an
// environment, it must be a reviewer there; otherwise a decider named in the settings or, if
// they name none, anyone who may write. The author is refused unless allow-author is set.
func (j *job) checkMayDecide(ctx context.Context, m checkpoint.Manifest, deciders []string, author string) error {
	login := j.env.TriggeringActor
	member, err := j.api.Member(ctx, j.ref.Owner, j.ref.Repo, login)
	unknown := errors.Is(err, github.ErrNotFound) || // an app or a deleted account is not a user
		j.own && errors.Is(err, github.ErrNoAccess) // without write access one cannot read that either
	if err != nil && !unknown {
		return err
	}
	who := gate.Decider{Login: login, Bot: member.Bot, Permission: member.Permission, Dispatched: j.isTicketJob()}
	vouched := m.Waits() || len(deciders) > 0 && !j.own // a reader's own review would not count as ours
	if err := gate.MayDecide(who, author, j.AllowAuthor, vouched); err != nil || !m.Waits() {
		return cmp.Or(err, gate.CheckDeciders(login, deciders))
	}
	return j.checkReviewer(ctx, login, m)
}

// checkReviewer is the part of check 12 that refuses an account that is not a reviewer of the
// draft's environment.
func (j *job) checkReviewer(ctx context.Context, login string, m checkpoint.Manifest) error {
	where := fmt.Sprintf("environment %q", m.Environment)
	env, err := j.api.Environment(ctx, j.ref.Owner, j.ref.Repo, m.Environment)
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		return handoff.NeedsActions(err, where+": its reviewers cannot be read")
	}
	if env.NoSelf {
		run, err := j.runs.Read(ctx, m.RunID)
		if err != nil {
			return err
		}
		if strings.EqualFold(run.Actor, login) {
			return problem.Refuse(12, login+" started the run that made the draft, nothing was posted",
				"let another one of its reviewers decide", problem.At(where+" prevents self-review"))
		}
	}
	if slices.ContainsFunc(env.Users, func(user string) bool { return strings.EqualFold(user, login) }) {
		return nil
	}
	var unclear string // GitHub answers alike for a team that the token may not read and for one without this member
	for _, team := range env.Teams {
		in, err := j.api.InTeam(ctx, j.ref.Owner, team, login)
		switch {
		case in:
			return nil
		case errors.Is(err, github.ErrNoAccess), errors.Is(err, github.ErrNotFound):
			unclear = cmp.Or(unclear, team)
		case err != nil:
			return err
		}
	}
	if unclear != "" {
		return problem.Refuse(12, "cannot tell whether "+login+
			" is one of the environment's reviewers, nothing was posted",
			"approve in the environment's dialog, name people in addition to the team, or pass a github-token that "+
				"may read the organization's members", problem.At(where+", team "+unclear))
	}
	return problem.Refuse(12, login+" is not one of the environment's reviewers, nothing was posted",
		"let one of them decide", problem.At(where))
}

// approvals returns the answers that reviewers gave to a run's environments: to this run's if
// its approval is the decision, otherwise to those of run made, which made the draft.
func (j *job) approvals(ctx context.Context, made int64) ([]github.Approval, error) {
	if j.routeA() {
		made = j.env.RunID
	}
	approvals, err := j.api.Approvals(ctx, j.ref.Owner, j.ref.Repo, made)
	return approvals, handoff.NeedsActions(err, "the run's approvals cannot be read")
}

// gateRules checks, before anything is paid for, that the named environment will ask someone,
// and returns the keys of the approvals the run has already. If none is named it reads them
// only as far as the token may, because a later job may still name one.
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

// chooseEnvironment switches to the environment that the base's path rules name, if an
// environment decides at all. It checks that one before anything is paid for.
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
		name = rules[0].Name // files that GitHub does not list may match any rule
	}
	if name != "" && j.Environment == "" {
		j.warn("the settings name an environment for these files, and the input environment is empty: a " +
			"dispatch decides this draft, by anybody who may write")
	}
	if name == "" || j.Environment == "" || name == j.Environment {
		return nil
	}
	j.Environment = name
	return j.checkEnvironment(ctx)
}

// warnAlone warns if the environment's only reviewer is the author, who may not decide.
func (j *job) warnAlone(author string) {
	if e := j.gateEnv; e.Reviewers == 1 && len(e.Users) == 1 && strings.EqualFold(e.Users[0], author) &&
		!j.AllowAuthor {
		j.warn(fmt.Sprintf("nobody may approve this draft: %s wrote the pull request and is the only "+
			"reviewer of the environment %q; add another one, or set allow-author: true", author, e.Name))
	}
}

// checkEnvironment reads the environment's rules into j.gateEnv. It refuses an environment that
// would ask nobody for approval.
func (j *job) checkEnvironment(ctx context.Context) error {
	if j.Environment == "" {
		return nil
	}
	env, err := j.api.Environment(ctx, j.ref.Owner, j.ref.Repo, j.Environment)
	j.gateEnv = env
	var what string
	switch {
	case errors.Is(err, github.ErrNotFound):
		what = "does not exist"
	case err == nil && env.Reviewers == 0:
		what = "has no required reviewers"
	default:
		return handoff.NeedsActions(err, fmt.Sprintf("the rules of the environment %q cannot be read", j.Environment))
	}
	return problem.Usage(fmt.Sprintf("the environment %q %s, so nobody would be asked", j.Environment, what),
		"add required reviewers there; on a private repository without Enterprise use the dispatch route: "+
			"https://github.com/org/pr-review-action/blob/v1/.github/GUIDES.md#3-deciding-by-dispatch",
		problem.At(j.ref.FullName()+", Settings, Environments"))
}
