package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/job"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"

	"github.com/org/pr-review-action/internal/local"
)

// chooseDraft returns the newest waiting draft, or the newest draft if none waits. It returns
// an error if deciding is set and several wait: the approver has to name one.
func (r *remote) chooseDraft(ctx context.Context, deciding bool) (d parkedDraft, waits bool, err error) {
	drafts, err := r.namedDrafts(ctx)
	if err != nil {
		return d, false, err
	}
	now, err := r.api.Pull(ctx, r.ref)
	if err != nil {
		return d, false, err
	}
	waiting := r.decidable(ctx, drafts, map[int]string{r.ref.Number: openHead(now)})
	if len(waiting) == 0 {
		return drafts[0], false, nil
	}
	var codes []string
	for _, d := range waiting {
		codes = append(codes, "--code "+d.code)
	}
	if what := fmt.Sprintf("%d drafts of %s wait", len(codes), r.ref); len(codes) > 1 && deciding {
		return d, true, problem.Usage(what, "name one: "+strings.Join(codes, " or "))
	} else if len(codes) > 1 {
		r.Warn(what + ", this is the newest of " + strings.Join(codes, ", "))
	}
	return waiting[0], true, nil
}

// resume shows a draft on GitHub and asks for a decision, or takes the flags' decision, and
// has it carried out. A draft that is not waiting is only shown.
func (r *remote) resume(ctx context.Context, d parkedDraft, waits bool, given decision.Verdict) (err error) {
	began := r.Now()
	ctx, over, err := r.StartTrace(ctx, r.Settings, r.Trace, r.Warn)
	if err != nil {
		return err
	}
	defer over()
	report, err := r.open(ctx, d)
	if err != nil {
		return err
	}
	ctx, span := trace.Run(trace.Continue(ctx, report.State.Draft.Trace), "resume", began)
	defer func() { span.End(err) }()
	text := r.Text()
	if given == "" {
		var shown driver.Report
		if given, text, shown, err = r.Put(ctx, report, waits); err != nil {
			return err
		}
		if given == "" {
			return r.park(ctx, d, shown, text)
		}
		if err := r.refresh(ctx); err != nil { // somebody may have decided meanwhile
			return err
		}
	}
	return r.decide(ctx, d, report, given, text)
}

// park prints how to decide a draft on GitHub later, with the changes made to it so far.
func (r *remote) park(ctx context.Context, d parkedDraft, report driver.Report, changes string) error {
	if r.JSON {
		return report.Print(r.Stdout)
	}
	if changed := local.WithCommands(changes); changed != "" {
		fmt.Fprintf(r.Stdout, "Decide with your changes:\n  %s\nOr as it was drafted.\n",
			guard.Text(r.resumeLine(d)+" --approve"+changed))
	}
	err := r.printStanding(ctx, d, report)
	if err == nil && r.Resumed {
		fmt.Fprintln(r.Stdout, report.Outcome, report.Thread)
	}
	return err
}

// decide carries out a decision: by answering for the environment that the draft waits for,
// by a dispatch, or under the caller's own account.
func (r *remote) decide(ctx context.Context, d parkedDraft, report driver.Report, given decision.Verdict,
	text string) error {
	asked, err := gate.Decide(text, given, "", report.State.Items(), d.ExpiresAt)
	if err != nil {
		return err
	}
	claim, decided := r.decision(ctx, d)
	if decided {
		mine := decision.Record{Thread: d.Thread, Digest: report.Digest, Code: d.code}.With(asked)
		if err := handoff.Governed([]handoff.Claim{claim}, mine); err != nil {
			return err
		}
		return r.reportDecided(ctx, d, report, claim)
	}
	if err := r.checkDecidable(ctx, d); err != nil {
		return err
	}
	var page string
	switch {
	case given == decision.Revise:
		page, err = r.redraft(ctx, d, report, asked.Feedback)
	case given == decision.Approve && r.Post:
		return r.postOwn(ctx, d, text)
	case d.Waits():
		page, err = r.answer(ctx, d, given, text)
	default:
		page, err = r.dispatch(ctx, d, given, text)
	}
	if err != nil {
		return err
	}
	return r.reportHandedOff(report, page,
		fmt.Sprintf("The decision (%s) on draft %s is with GitHub, whose job checks it and acts on it", given, d.code))
}

// checkDecidable returns an error if the draft cannot be decided any more: its pull request has
// moved or was reviewed, or the draft has expired.
func (r *remote) checkDecidable(ctx context.Context, d parkedDraft) error {
	now, err := r.api.Pull(ctx, r.ref)
	if err != nil {
		return err
	}
	anew := driver.Dispatch(r.DraftWorkflow, r.ref, d.Subject.Number)
	if err := post.CheckHead(d.Subject, d.code, anew, post.Now{Open: now.Open(), Merged: now.Merged,
		HeadSHA: now.HeadSHA, DiffDigest: d.Subject.Digest}); err != nil {
		return err
	}
	if err := checkpoint.CheckExpiry(d.Manifest, r.Now()); err != nil || r.Post {
		return err
	}
	if page, _ := r.posted(ctx, d.Manifest); page != "" {
		return problem.Refuse(13, "a review of this commit has already been posted, nothing was posted now",
			"a commit is reviewed once; push a new one for a new review", problem.At(page))
	}
	return nil
}

// reportDecided prints that somebody else has already decided the same.
func (r *remote) reportDecided(ctx context.Context, d parkedDraft, report driver.Report, claim handoff.Claim) error {
	said := handoff.DecidedFirst(claim.Record)
	if claim.Live {
		return r.reportHandedOff(report, r.runPage(claim.Run), said)
	}
	r.Say(said)
	report.Outcome, report.Message = reviewpr.Aborted, said
	if claim.Record.Decision == decision.Approve {
		report.Outcome = reviewpr.Posted
		report.ReviewURL, _ = r.posted(ctx, d.Manifest)
	}
	if r.JSON {
		return report.Print(r.Stdout)
	}
	fmt.Fprintln(r.Stdout, report.Outcome, cmp.Or(report.ReviewURL, d.Thread))
	return nil
}

// reportHandedOff prints that a run on GitHub does the rest, and the page of that run.
func (r *remote) reportHandedOff(report driver.Report, page, said string) error {
	if r.JSON {
		report.Outcome, report.Message = driver.Paused, said+": "+page
		return report.Print(r.Stdout)
	}
	r.Say(said + ".")
	fmt.Fprintln(r.Stdout, driver.Paused, page)
	return nil
}

// dispatch starts the deciding workflow for a draft and returns the page of its run.
func (r *remote) dispatch(ctx context.Context, d parkedDraft, given decision.Verdict, text string) (string, error) {
	text = secret.Redact(text) // everybody who can read the repository can read the inputs
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
	err := cmp.Or(driver.MayRevise(&wire.Reviewer{}, report.State.Draft), gate.CheckRounds(len(report.State.Rounds)))
	if err != nil {
		return "", err
	}
	return driver.Start(ctx, r.api, r.ref, r.DraftWorkflow, r.branch, map[string]string{"code": d.code,
		"pull-request": strconv.Itoa(d.Subject.Number), "feedback": feedback})
}

// answer approves or rejects the pending deployment of the draft's run, with the commands as
// its comment, and returns the run's page.
func (r *remote) answer(ctx context.Context, d parkedDraft, given decision.Verdict, text string) (string, error) {
	if err := r.checkNewest(ctx, d); err != nil {
		return "", err
	}
	pending, err := r.api.Pending(ctx, r.ref.Owner, r.ref.Repo, d.RunID)
	if err != nil {
		return "", handoff.NeedsActions(err, "cannot tell what the draft's run is waiting for")
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
				problem.At(fmt.Sprintf("environment %q of %s", p.Name, r.runPage(d.RunID))))
		}
		comment := strings.TrimSpace(secret.Redact(text))
		if comment == "" {
			comment = "/" + string(given)
		}
		return driver.Answer(ctx, r.api, r.ref, d.RunID, p, given == decision.Approve, comment)
	}
	run, err := r.api.Run(ctx, r.ref.Owner, r.ref.Repo, d.RunID)
	if err == nil && run.Status == "completed" && d.AllowDispatch {
		return r.dispatch(ctx, d, given, text)
	}
	return "", cmp.Or[error](err, problem.Refuse(13, "the draft's run is not waiting for this answer ("+
		strings.TrimSpace(run.Status+" "+run.Conclusion)+"), nothing was posted",
		"look at its page: somebody may have answered, or it waits later; if it has failed, re-run its failed jobs, "+
			"nothing is paid again", problem.At(r.runPage(d.RunID))))
}

// postOwn approves a draft and posts it with the caller's token, under their own account, after
// every check of a deciding job.
func (r *remote) postOwn(ctx context.Context, d parkedDraft, text string) error {
	if d.Waits() {
		return problem.Refuse(12, "the draft waits for an environment, so nobody posts it under their own account, "+
			"nothing was posted", "leave out --post: that answers for the environment",
			problem.At("environment "+d.Environment+", "+r.runPage(d.RunID)))
	}
	s := r.Settings
	s.Protection, s.Instance, s.Code, s.Digest = r.protection(d.Manifest), d.Subject.Instance, d.code, d.zip.Digest()
	r.Say("Checking whether this was posted before; GitHub may show that a few seconds late.")
	report, err := job.PostOwn(ctx, r.Front, s, job.Own{API: r.api, Pull: r.ref, Branch: r.branch,
		Commands: text, Warn: r.Warn, Tell: r.Say})
	if err != nil {
		return err
	}
	return r.Decided(ctx, report)
}

// checkNewest returns an error if the draft's run has made a newer draft: an answer to the run
// would apply to that one.
func (r *remote) checkNewest(ctx context.Context, d parkedDraft) error {
	if err := r.refresh(ctx); err != nil {
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
		r.Name+" resume "+driver.Quoted(r.ref.String())+" shows that one", problem.At(r.runPage(d.RunID)))
}
