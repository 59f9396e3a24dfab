package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
)

// dispatch starts the deciding workflow for a draft and returns the page of its run.
func (r *remote) dispatch(ctx context.Context, d parkedDraft, given decision.Verdict, text string) (string, error) {
	text = secret.Redact(text) // anybody who may read the repository can read it there
	if _, err := decision.Commands(text); err != nil {
		return "", problem.As(problem.Misuse, err, "")
	}
	inputs := map[string]string{"draft": driver.DraftName(d.Subject.Number, d.code),
		"checkpoint-digest": d.zip.Digest(), "decision": string(given)}
	if strings.TrimSpace(text) != "" {
		inputs["commands"] = text
	}
	return driver.Start(ctx, r.api, r.ref, r.DecideWorkflow, r.branch, inputs)
}

// redraft starts the drafting workflow to revise a draft.
func (r *remote) redraft(ctx context.Context, d parkedDraft, report driver.Report, feedback string) (string, error) {
	if report.State.Draft.Rules {
		return "", problem.Usage("this draft was made by rules, and rules cannot be revised",
			"change single findings with commands such as /drop F2, or draft anew with a model")
	}
	if err := gate.CheckRounds(len(report.State.Rounds)); err != nil {
		return "", err
	}
	return driver.Start(ctx, r.api, r.ref, r.DraftWorkflow, r.branch, map[string]string{"code": d.code,
		"pull-request": strconv.Itoa(d.Subject.Number), "feedback": feedback})
}

// answer approves or rejects what the run of a draft waits for, with the commands as
// its comment, and returns that run's page.
func (r *remote) answer(ctx context.Context, d parkedDraft, given decision.Verdict, text string) (string, error) {
	if err := r.newest(ctx, d); err != nil {
		return "", err
	}
	pending, err := r.api.Pending(ctx, r.ref.Owner, r.ref.Repo, d.RunID)
	if err != nil {
		return "", handoff.NeedsActions(err, "it cannot be read what the draft's run waits for")
	}
	for _, p := range pending {
		switch {
		case !strings.EqualFold(p.Name, d.Environment):
			continue
		case !p.MayApprove:
			return "", problem.Refuse(12,
				"the environment takes no answer from this token's account, nothing was posted",
				"let one of its reviewers decide, who did not start the run where it prevents self-review: "+
					strings.Join(p.Reviewers, ", "),
				problem.At(fmt.Sprintf("environment %q of %s", p.Name, r.page(d.RunID))))
		}
		comment := strings.TrimSpace(secret.Redact(text))
		if comment == "" {
			comment = "/" + string(given)
		}
		return driver.Answer(ctx, r.api, r.ref, d.RunID, p, given == decision.Approve, comment)
	}
	return r.unasked(ctx, d, given, text)
}

// newest refuses a draft whose run has made another since, so that an answer to the
// run would be about that one.
func (r *remote) newest(ctx context.Context, d parkedDraft) error {
	if err := r.list(ctx); err != nil {
		return err
	}
	i := slices.IndexFunc(r.stored, func(s handoff.Stored) bool {
		name, ok := reviewpr.Names.Parse(s.Name)
		return ok && s.RunID == d.RunID && name.Partial == 0 && name.Number == d.Subject.Number &&
			name.Instance == d.Subject.Instance
	})
	if i >= 0 && r.stored[i].Name == d.name {
		return nil
	}
	return problem.Refuse(13, "the run has drafted again since, so its environment asks about another draft",
		r.name+" resume "+driver.Quoted(r.ref.String())+" shows that one", problem.At(r.page(d.RunID)))
}

// unasked is what to do about a draft whose run waits for no answer: another way where
// its draft job opened one.
func (r *remote) unasked(ctx context.Context, d parkedDraft, given decision.Verdict, text string) (string, error) {
	run, err := r.api.Run(ctx, r.ref.Owner, r.ref.Repo, d.RunID)
	switch {
	case err != nil:
		return "", err
	case run.Status == "completed" && d.AllowDispatch:
		return r.dispatch(ctx, d, given, text)
	case run.Status == "completed":
		return "", problem.Refuse(13, fmt.Sprintf("the draft's run has ended (%s) and waits for no answer any more, "+
			"nothing was posted", run.Conclusion),
			"re-run its failed jobs on its page and decide again, nothing is paid again; or run the review workflow "+
				"anew", problem.At(r.page(d.RunID)))
	}
	answers, err := r.api.Approvals(ctx, r.ref.Owner, r.ref.Repo, d.RunID)
	if err != nil {
		return "", err
	}
	for _, a := range gate.Since(answers, d.Approvals) {
		if gate.Of(a, d.Environment) {
			return "", problem.Refuse(13, "the environment has its answer: "+a.State+" by "+a.User,
				"look at the run's page: its deciding job acts on that; if it has failed, re-run it",
				problem.At(r.page(d.RunID)))
		}
	}
	return "", problem.New("the draft's run has not come to its environment yet", r.page(d.RunID),
		"run this again when it waits there")
}
