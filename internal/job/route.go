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
	"github.com/org/pr-review-action/internal/problem"
)

func (j *job) checkRoute() error {
	switch {
	case j.Digest != "" && j.Code != "" && !strings.HasPrefix(j.Digest, j.Code):
		return problem.Usage("code and checkpoint-digest name different drafts", "pass one of them")
	case j.Digest == "" && j.Code == "":
		return problem.Usage("neither checkpoint-digest nor code says which draft is decided",
			"pass checkpoint-digest from the draft job's outputs, or draft from the draft's summary")
	case j.routeA():
		return nil
	case j.event.Name != "workflow_dispatch":
		return problem.Usage("the input environment is missing",
			"name the environment of this job, whose approval is the decision; without one a decision comes by "+
				"workflow_dispatch alone")
	case j.Decision == "":
		return problem.Usage("the input decision is missing", "pass approve or abort")
	}
	return nil
}

// probe refuses a token that can be known to be unable to post.
func (j *job) probe(ctx context.Context) error {
	known, ok, err := j.api.CanWritePulls(ctx, j.ref.Owner, j.ref.Repo)
	if err != nil {
		return err
	}
	if known && !ok && j.Decision != decision.Abort {
		return problem.As(problem.Misuse, problem.New("the token may not write reviews", j.ref.FullName(),
			"give the job pull-requests: write; the draft still waits"), "")
	}
	return nil
}

// mayDecide is check 12 about the account that started this attempt: a reviewer of
// the environment that the draft waits for; else a decider whom the settings name,
// or anybody who may write; and not the author.
func (j *job) mayDecide(ctx context.Context, m checkpoint.Manifest, deciders []string, author string) error {
	login := j.env.TriggeringActor
	member, err := j.api.Member(ctx, j.ref.Owner, j.ref.Repo, login)
	if err != nil && !errors.Is(err, github.ErrNotFound) { // an app or a deleted account is no user
		return err
	}
	who := gate.Decider{Login: login, Bot: member.Bot, Permission: member.Permission, Dispatched: j.ticketed()}
	if err := gate.MayDecide(who, author, j.AllowAuthor, m.Waits()); err != nil || !m.Waits() {
		return cmp.Or(err, gate.Named(login, deciders))
	}
	return j.approvesFor(ctx, login, m)
}

// approvesFor is the part of check 12 that asks whether an account is one of those who
// approve for the draft's environment.
func (j *job) approvesFor(ctx context.Context, login string, m checkpoint.Manifest) error {
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
	for _, team := range env.Teams {
		in, err := j.api.InTeam(ctx, j.ref.Owner, team, login)
		switch {
		case in:
			return nil
		case errors.Is(err, github.ErrNoAccess), errors.Is(err, github.ErrNotFound):
			return problem.Refuse(12, "it cannot be read whether "+login+
				" is one of the environment's reviewers, nothing was posted",
				"approve in the environment's dialog, name people beside the team, or pass a github-token that may "+
					"read the organization's members", problem.At(where+", team "+team))
		case err != nil:
			return err
		}
	}
	return problem.Refuse(12, login+" is none of the environment's reviewers, nothing was posted",
		"let one of them decide", problem.At(where))
}

// approvals reads how the environments of the run that matters were answered:
// of this run where its approval is the decision, else of the one that made
// the draft.
func (j *job) approvals(ctx context.Context, made int64) ([]github.Approval, error) {
	if j.routeA() {
		made = j.env.RunID
	}
	approvals, err := j.api.Approvals(ctx, j.ref.Owner, j.ref.Repo, made)
	return approvals, handoff.NeedsActions(err, "the run's approvals cannot be read")
}
