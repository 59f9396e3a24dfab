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
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/trace"
)

// resume is the deciding job: it finds the draft, proves that it is the one
// that was shown, takes the decision, puts it on record and posts.
func (j *job) resume(ctx context.Context) (r driver.Report, err error) {
	if err := j.checkRoute(); err != nil {
		return driver.Report{}, err
	}
	if err := j.probe(ctx); err != nil {
		return driver.Report{}, err
	}
	p, err := j.found(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	ctx, span := trace.Run(trace.Continue(ctx, p.state.Draft.Trace), "resume", j.began)
	defer func() { j.EndRun(span, j.ref, r, j.began, err) }()
	_, gated := trace.Gate(ctx)
	answer, err := j.decide(ctx, p.state, p.verified)
	gated.Decided(string(answer.Decision.Verdict), err)
	if err != nil {
		return driver.Report{}, err
	}
	return j.carryOut(ctx, p, answer)
}

// opened is a verified draft in a graph that can decide it.
type opened struct {
	verified
	state reviewpr.State
	in    *handoff.Draft[reviewpr.State]
}

// found is the draft that the inputs name, once checks 1 to 10 let it pass.
func (j *job) found(ctx context.Context) (opened, error) {
	draft, err := j.verify(ctx)
	if err != nil {
		return opened{}, err
	}
	return j.open(ctx, draft)
}

func (j *job) open(ctx context.Context, draft verified) (opened, error) {
	steps := reviewpr.Steps{Post: func(ctx context.Context, s reviewpr.State) (post.Posted, error) {
		return driver.Post(ctx, j.ours, s, j.desk(draft.now.Pull).Race(*s.Decision), false, j.runner.Warning)
	}}
	in, err := reviewpr.Subject(driver.CheckShown).Open(ctx, draft.Draft,
		func(store graph.Store) (*graph.Flow[reviewpr.State], error) {
			return reviewpr.New(steps, store, driver.Sealing(j.Protection)...)
		})
	if err != nil {
		return opened{}, err
	}
	return opened{draft, in.State, in}, nil
}

// carryOut puts an answer on record and acts on it.
func (j *job) carryOut(ctx context.Context, p opened, answer decision.Answer) (driver.Report, error) {
	defer driver.Beat(ctx, j.tell, driver.Deciding)()
	if err := p.in.CarryOut(ctx, j.desk(p.now.Pull), answer); err != nil {
		return driver.Report{}, err
	}
	r, err := driver.ReportOf(context.WithoutCancel(ctx), p.in.Flow, p.in.Store, p.Manifest.Thread, j.Protection)
	r.Changes = p.changes
	return r, err
}

func (j *job) checkRoute() error {
	switch {
	case j.Digest != "" && j.Code != "" && !strings.HasPrefix(j.Digest, j.Code):
		return problem.Usage("code and checkpoint-digest name different drafts", "pass one of them")
	case j.Digest == "" && j.Code == "":
		return problem.Usage("neither checkpoint-digest nor code says which draft is decided",
			"pass checkpoint-digest from the draft job's outputs, or code from the draft's summary")
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

// decide takes the decision: the environment's approvals, or the dispatch.
func (j *job) decide(ctx context.Context, state reviewpr.State, o verified) (decision.Answer, error) {
	approvals, err := j.approvals(ctx, o.Manifest.RunID)
	if err != nil {
		return decision.Answer{}, err
	}
	record := decision.Record{Thread: o.Manifest.Thread, Digest: o.Digest, Code: o.Code, At: j.Clock(), By: j.by(),
		Via: decision.ByDispatch}
	rejected := gate.Rejected(approvals, o.Manifest.Approvals, cmp.Or(j.Environment, o.Manifest.Environment))
	var d decision.Decision
	switch {
	case j.routeA() && rejected != nil:
		return decision.Answer{}, rejected
	case j.routeA():
		record.Via = decision.ByApproval
		record.By, d, err = gate.Approved(approvals, o.Manifest.Approvals, j.Environment, everything(state),
			j.approval(state, o))
	default:
		if d, err = j.read("", "", state, o); err == nil {
			err = cmp.Or(gate.Open(o.Manifest), j.dispatched(ctx, o, state.Draft.Config.Deciders), rejected)
		}
	}
	return decision.Answer{Decision: d, Record: record.With(d)}, err
}

// everything is what two decisions on a draft are compared by.
func everything(s reviewpr.State) []finding.Finding {
	all := slices.Clone(s.Comments)
	for _, e := range finding.Standing(s.Earlier) {
		all = append(all, e.Finding())
	}
	return all
}

// approval reads what one approval decides: its comment, by somebody who may. One
// that is void is kept for the summary.
func (j *job) approval(state reviewpr.State, o verified) func(github.Approval) (decision.Decision, error) {
	return func(a github.Approval) (d decision.Decision, err error) {
		err = gate.MayDecide(gate.Decider{Login: a.User}, o.now.Pull.Author, j.AllowAuthor, true)
		if err == nil {
			d, err = j.read(a.Comment, decision.Approve, state, o)
		}
		if err != nil {
			j.void = append(j.void, a.User+": "+driver.Gist(err))
		}
		return d, err
	}
}

// read is check 11: what a comment and the input commands decide about the draft.
func (j *job) read(comment string, fallback decision.Verdict, state reviewpr.State,
	o verified) (decision.Decision, error) {
	commands, err := decision.Commands(secret.Redact(j.Commands))
	if err != nil {
		return decision.Decision{}, j.mistake(err, o.Manifest)
	}
	text := strings.TrimSpace(comment + "\n" + commands)
	if asked, wrong := decision.Parse(text); wrong == nil && asked.Verdict == decision.Revise {
		return decision.Decision{}, gate.RefuseRevise(j.revising(o.Code, asked.Feedback))
	}
	d, err := gate.Decide(text, j.Decision, fallback, state.Items(), o.Manifest.ExpiresAt)
	return d, j.mistake(err, o.Manifest)
}

// revising is the command that revises a draft, with the feedback where it may
// be shown and fits a line of the message.
func (j *job) revising(code, feedback string) string {
	line := driver.Dispatch(j.DraftWorkflow, j.ref, j.ref.Number) + " -f code=" + code + " -f feedback="
	if text := driver.Quoted(feedback); j.Summary != "counts" && len(line)+len(text) < 400 {
		return line + text
	}
	return line + "'TEXT'"
}

// mistake says of a decision that does not parse what the route needs.
func (j *job) mistake(err error, m checkpoint.Manifest) error {
	if wrong, ok := errors.AsType[*decision.Error](err); ok {
		wrong.Until, wrong.Unquoted = m.ExpiresAt, j.Summary == "counts"
		if j.routeA() {
			wrong.Next = "Re-run failed jobs, and approve again with the line corrected: this approval is void, and " +
				"nothing is paid again"
		}
	}
	return err
}

// dispatched is check 12 of a dispatch: who started it, from where, and whether
// they may decide the draft. What the runner does not tell is nobody and nowhere.
func (j *job) dispatched(ctx context.Context, o verified, deciders []string) error {
	if err := gate.Dispatch(j.env.Actor, j.env.TriggeringActor, j.env.Ref, o.now.Pull.DefaultBranch); err != nil {
		return err
	}
	return j.mayDecide(ctx, o.Manifest, deciders, o.now.Pull.Author)
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
	who := gate.Decider{Login: login, Bot: member.Bot, Permission: member.Permission}
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
