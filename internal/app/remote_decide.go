package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/trace"
)

// chosen is the newest draft that waits, or where none does, the newest. Of several
// that wait none is decided unseen.
func (r *remote) chosen(ctx context.Context, deciding bool) (d parkedDraft, waits bool, err error) {
	drafts, err := r.ofPull(ctx)
	if err != nil {
		return d, false, err
	}
	now, err := r.api.Pull(ctx, r.ref)
	if err != nil {
		return d, false, err
	}
	heads := map[int]string{}
	if now.Open() {
		heads[r.ref.Number] = now.HeadSHA
	}
	waiting := r.waiting(ctx, drafts, heads)
	if len(waiting) == 0 {
		return drafts[0], false, nil
	}
	if others := waiting[1:]; len(others) > 0 {
		var codes []string
		for _, d := range waiting {
			codes = append(codes, "--code "+d.code)
		}
		what := fmt.Sprintf("%d drafts of %s wait", len(waiting), r.ref)
		if deciding {
			return d, true, problem.Usage(what, "name one: "+strings.Join(codes, " or "))
		}
		r.warn(what + ", this is the newest; another: " + strings.Join(codes[1:], ", "))
	}
	return waiting[0], true, nil
}

// resume shows a draft on GitHub and asks, or takes the decision of the flags, and sees
// to it that the decision is carried out. One that does not wait is shown alone.
func (r *remote) resume(ctx context.Context, d parkedDraft, waits bool, given decision.Verdict) (err error) {
	began := r.Now()
	ctx, over, err := r.Traced(ctx, r.Settings, r.trace, r.warn)
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
	text := r.text()
	if given == "" {
		changed, err := ask.Staged(report, text)
		if err != nil {
			return err
		}
		r.showDraft(changed)
		if !waits || !r.interactive(r.app.options) {
			return r.park(ctx, d, changed, text)
		}
		if given, text = (ask.Prompt{Front: r.Front}).Ask(ctx, report, text); given == "" {
			return r.park(ctx, d, report, text)
		}
		if err := r.list(ctx); err != nil { // it may have been decided while it was looked at
			return err
		}
	}
	return r.decide(ctx, d, report, given, text)
}

// park says how a draft on GitHub can be decided later, with the changes that were
// made to it so far.
func (r *remote) park(ctx context.Context, d parkedDraft, report driver.Report, changes string) error {
	if r.json {
		return report.Print(r.Stdout)
	}
	if changed := withCommands([]string{changes}); changed != "" {
		fmt.Fprintf(r.Stdout, "Decide with your changes:\n  %s\nOr as it was drafted.\n",
			guard.Text(r.resuming(d)+" --approve"+changed))
	}
	err := r.tell(ctx, d, report)
	if err == nil && r.resumed {
		fmt.Fprintln(r.Stdout, report.Outcome, report.Thread)
	}
	return err
}

// decide carries a decision out: by answering for the environment that the draft waits
// for, by a dispatch, or under the caller's own account.
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
		return r.decidedBefore(ctx, d, report, claim)
	}
	if err := r.stands(ctx, d); err != nil {
		return err
	}
	var page string
	switch {
	case given == decision.Revise:
		page, err = r.redraft(ctx, d, report, asked.Feedback)
	case given == decision.Approve && r.post:
		return r.postOwn(ctx, d, text)
	case d.Waits():
		page, err = r.answer(ctx, d, given, text)
	default:
		page, err = r.dispatch(ctx, d, given, text)
	}
	if err != nil {
		return err
	}
	return r.handed(report, page,
		fmt.Sprintf("The decision (%s) on draft %s is with GitHub, whose job checks it and acts on it", given, d.code))
}

// stands refuses to decide a draft whose pull request has moved or was reviewed, or
// whose time is over.
func (r *remote) stands(ctx context.Context, d parkedDraft) error {
	now, err := r.api.Pull(ctx, r.ref)
	if err != nil {
		return err
	}
	if err := post.CheckHead(d.Subject, d.code, post.Now{Open: now.Open(), Merged: now.Merged, HeadSHA: now.HeadSHA,
		DiffDigest: d.Subject.Digest}); err != nil {
		return err
	}
	if err := checkpoint.CheckExpiry(d.Manifest, r.Now()); err != nil || r.post {
		return err
	}
	if page := r.posted(ctx, d); page != "" {
		return problem.Refuse(13, "a review of this commit was posted before, nothing was posted now",
			"a commit is reviewed once; push a new one for a new review", problem.At(page))
	}
	return nil
}

// decidedBefore reports the same decision of somebody else.
func (r *remote) decidedBefore(ctx context.Context, d parkedDraft, report driver.Report, claim handoff.Claim) error {
	said := handoff.DecidedFirst(claim.Record)
	if claim.Live {
		return r.handed(report, r.page(claim.Run), said)
	}
	r.say(said)
	report.Outcome, report.Message = reviewpr.Aborted, said
	if claim.Record.Decision == decision.Approve {
		report.Outcome, report.ReviewURL = reviewpr.Posted, r.posted(ctx, d)
	}
	if r.json {
		return report.Print(r.Stdout)
	}
	fmt.Fprintln(r.Stdout, report.Outcome, cmp.Or(report.ReviewURL, d.Thread))
	return nil
}

// handed says that a run of GitHub's does the rest, and which.
func (r *remote) handed(report driver.Report, page, said string) error {
	if r.json {
		report.Outcome, report.Message = driver.Paused, said+": "+page
		return report.Print(r.Stdout)
	}
	r.say(said + ".")
	fmt.Fprintln(r.Stdout, driver.Paused, page)
	return nil
}
