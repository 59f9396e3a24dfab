package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render/terminal"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/org/pr-review-action/internal/wording"
)

// goFrom goes on with a thread from where it stands: an unfinished revision, a decision, a
// draft that waits, or none of these.
func (l *localRun) goFrom(ctx context.Context, r driver.Report, given decision.Verdict) error {
	switch {
	case r.Revising():
		return l.finishRevision(ctx, r, given)
	case r.State.Decision != nil:
		return l.again(ctx, r, given)
	case r.Parked():
		return l.decide(ctx, r, given)
	}
	return l.finish(r)
}

// finishRevision goes on with a revision that a run before this one was asked for.
// A decision that is given now was made about a draft that is not there yet.
func (l *localRun) finishRevision(ctx context.Context, r driver.Report, given decision.Verdict) error {
	d, _ := decision.Parse(l.text()) // it parsed before
	if (given != "" || len(l.lines) > 0) && (given != decision.Revise || d.Feedback != r.Asked()) {
		return problem.Usage("this draft is being revised, so there is nothing to decide yet",
			fmt.Sprintf("finish that first: %s, with the model's flags", l.resuming(r.Thread, l.options)))
	}
	after, err := l.revise(ctx, r, nil)
	if err != nil {
		return err
	}
	l.undecided()
	return l.decide(ctx, after, "")
}

// decide takes the decision on a parked draft: from the flags, else from the
// person at the terminal; else the draft stays parked.
func (l *localRun) decide(ctx context.Context, r driver.Report, given decision.Verdict) error {
	text := l.text()
	if given == "" {
		err, shown := checkpoint.CheckExpiry(r.Packed.Manifest, l.Now()), r
		if err == nil {
			given, text, shown, err = l.put(ctx, r, true)
		}
		if err != nil {
			return err
		}
		if given == "" {
			return l.park(shown, text)
		}
	}
	after, err := l.answer(ctx, r, given, text)
	switch {
	case err != nil:
		return err
	case after.Parked():
		l.undecided()
		return l.decide(ctx, after, "")
	}
	return l.decided(after)
}

// put shows a draft with the changes of the flags, and asks about it where a person can be
// asked. Without a verdict the draft stays, and shown is what is told of it, with the
// changes so far.
func (a *app) put(ctx context.Context, r driver.Report, asks bool) (given decision.Verdict, text string,
	shown driver.Report, err error) {
	text = a.text()
	if shown, err = ask.Staged(r, text); err != nil {
		return "", text, shown, err
	}
	if a.showDraft(shown); asks && a.interactive(a.options) {
		given, text = ask.Prompt{Front: a.Front}.Ask(ctx, r, text)
		shown = r
	}
	return given, text, shown, nil
}

// answer checks the draft once more and hands the decision to the graph.
func (l *localRun) answer(ctx context.Context, r driver.Report, given decision.Verdict,
	text string) (driver.Report, error) {
	m := r.Packed.Manifest
	if r.State.Pull != nil { // resume check 9: it is as it was when it was reviewed
		change, err := ingest.Current(ctx, l.api, r.State.Pull.Ref)
		if err == nil {
			err = post.CheckHead(m.Subject, r.Code, driver.PullNow(change))
		}
		if err != nil {
			return driver.Report{}, err
		}
	}
	if err := checkpoint.CheckExpiry(m, l.Now()); err != nil {
		return driver.Report{}, err
	}
	_, gated := trace.Gate(ctx)
	d, err := gate.Decide(text, given, "", r.State.Items(), m.ExpiresAt)
	gated.Decided(string(d.Verdict), err)
	if err != nil {
		return driver.Report{}, err
	}
	by, err := l.user(ctx, l.session)
	if err != nil {
		return driver.Report{}, err
	}
	record := decision.Record{Thread: r.Thread, Digest: r.Digest, Code: r.Code, By: by, At: l.Clock(),
		Via: decision.ByCommandLine}
	if d.Verdict == decision.Revise {
		return l.revise(ctx, r, &decision.Answer{Decision: d, Record: record.With(d)})
	}
	decided := decision.Answer{Decision: d, Record: r.State.OnRecord(record.With(d))}
	return l.carryOut(ctx, driver.AnswerTo(m, decided))
}

// onScreen is where a review of local input is posted without --out.
const onScreen = "standard output"

// carryOut acts on an answer, or where that is nil, on what was decided before. A review
// leaves this machine to the pull request, or for local input to a file. Where a process
// before this one may have posted it, its write may still be under way.
func (l *localRun) carryOut(ctx context.Context, answer *graph.Answer) (driver.Report, error) {
	tried := false
	return driver.Driver{Front: l.Front, Store: l.store, Thread: l.thread}.Decide(ctx, reviewpr.Steps{
		Post: func(ctx context.Context, state reviewpr.State) (post.Posted, error) {
			if state.Pull != nil {
				return driver.Post(ctx, l.reviews(state.Pull.Ref, state), state, nil, tried, l.warn)
			}
			return post.Posted{URL: cmp.Or(l.out, onScreen)}, writeOut(l.out, driver.LocalReview(state))
		},
		Posted: func(context.Context, reviewpr.State) (_ post.Posted, done bool, _ error) {
			tried = true
			return post.Posted{}, false, nil
		},
	}, answer)
}

// writeOut writes a review to the file that --out names, if it does.
func writeOut(name, text string) error {
	if name == "" {
		return nil
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return problem.New("the review could not be written", err.Error(),
			"name another file with --out and resume: the decision is kept")
	}
	return nil
}

// user is who decides on the command line.
func (a *app) user(ctx context.Context, s session) (string, error) {
	if s.api != nil {
		viewer, err := s.api.Viewer(ctx)
		if err != nil || viewer.Login != "" {
			return viewer.Login, err
		}
	}
	return cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME"), a.Getenv("USERNAME"), "somebody"), nil
}

func (a *app) showDraft(r driver.Report) {
	if a.json {
		return
	}
	fmt.Fprint(a.Stdout, terminal.Review(r.State.Review(), a.look()), "\n")
}

const asDrafted = "Or as it was drafted."

// park says how the draft can be decided later, and with the changes that were made
// to it so far: commands, one a line.
func (a *app) park(r driver.Report, changes ...string) error {
	driver.FailOn(a.Settings, &r)
	a.came = r
	if a.json {
		return cmp.Or(r.Print(a.Stdout), driver.Failure(r))
	}
	command := a.resuming(r.Thread, a.options)
	word := "Parked."
	if r.Outcome == driver.Kept {
		word = fmt.Sprintf("Kept: nothing here is %s or higher.", r.State.Draft.GateFrom)
	}
	if wire.WithPassword(a.store) {
		word += " Set PR_REVIEW_STORE to the store's address: its password is not shown here."
	}
	if len(r.Findings) == 0 && r.Outcome == driver.Kept {
		word = "Kept: there is nothing to post."
	}
	if changed := withCommands(changes); changed != "" {
		fmt.Fprintf(a.Stdout, "%s Decide with your changes:\n  %s --approve\n", word, guard.Text(command+changed))
		word = asDrafted
	}
	fmt.Fprintf(a.Stdout, "%s Decide with\n  %s --approve\n(%s)\n", word, command, others(r))
	if r.State.LacksMoney() {
		fmt.Fprintln(a.Stdout, "The same review with a higher --max-cost goes on with the rest; what is paid is kept.")
	}
	if a.resumed || word == asDrafted {
		fmt.Fprintln(a.Stdout, r.Outcome, r.Thread)
	}
	return driver.Failure(r)
}

// others are the flags in place of --approve, or beside it: of the finding to drop the
// mildest one's id.
func others(r driver.Report) string {
	if n := len(r.Findings); n > 0 {
		return "or --abort; with changes: --command \"/drop " + r.Findings[n-1].ID + "\""
	}
	return "or --abort"
}

// decided hands a posted review out here, to --out, or where it went nowhere else, to
// standard output; and prints the outcome.
func (a *app) decided(r driver.Report) error {
	var err error
	switch { // a review that was posted before is handed out again
	case r.Outcome != reviewpr.Posted:
	case r.State.Pull != nil:
		err = writeOut(a.out, r.Body)
	case a.out != "" && a.out != r.Place:
		r.Place = a.out
		err = writeOut(a.out, driver.LocalReview(r.State))
	case r.Place == onScreen && !a.json:
		fmt.Fprintln(a.Stdout, driver.LocalReview(r.State))
	}
	if err != nil {
		return err
	}
	driver.Signal(a.Settings, &r, "", a.warn)
	driver.FailOn(a.Settings, &r)
	a.came = r
	if a.json {
		return a.finish(r)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Place, r.Thread))
	if !a.quiet {
		fmt.Fprint(a.Stderr, wording.Used(r.Usage))
	}
	return driver.Failure(r)
}

// again reports a decision that was taken before, and posts what it had
// approved where that did not happen. Another decision is refused.
func (l *localRun) again(ctx context.Context, r driver.Report, given decision.Verdict) error {
	taken := r.State.Decision
	if verdict := cmp.Or(given, decision.Approve); (given != "" || l.text() != "") &&
		differs(*taken, verdict, l.text(), r.State) {
		how := ""
		if verdict == taken.Decision {
			how = ", with other changes"
		}
		return problem.Refuse(13, "this draft has already been decided differently",
			"a draft is decided once; push a new commit, or review this one again with --again",
			problem.At(fmt.Sprintf("%s: %s by %s on %s%s", r.Thread, taken.Decision, taken.By,
				taken.At.Format("2 January 2006, 15:04 MST"), how)))
	}
	after, err := l.carryOut(ctx, nil)
	if err != nil {
		return err
	}
	l.say(handoff.DecidedFirst(*taken))
	return l.decided(after)
}

// differs reports whether a decision is another than the one that was taken.
func differs(taken decision.Record, given decision.Verdict, text string, s reviewpr.State) bool {
	comments := slices.DeleteFunc(slices.Clone(s.Comments), func(f finding.Finding) bool {
		return f.Filtered != "" && f.Filtered != finding.Dropped
	})
	before := slices.Clone(s.Earlier) // what the decision itself dropped stood then
	for i, e := range before {
		if e.ID != "" && slices.ContainsFunc(taken.Dropped, func(x decision.Drop) bool { return x.ID == e.ID }) {
			before[i].Fate = finding.WasPosted
		}
	}
	d, err := decision.Parse(text)
	if err == nil {
		d, err = d.Check(finding.Items(comments, before...))
	}
	if err != nil || given != taken.Decision {
		return true
	}
	d.Verdict = given
	return !taken.Same(taken.With(d))
}

// finish prints what a run without a decision came to.
func (a *app) finish(r driver.Report) error {
	driver.FailOn(a.Settings, &r)
	a.came = r
	if a.json {
		return errors.Join(r.Print(a.Stdout), driver.Failure(r))
	}
	if len(r.Files) > 0 {
		fmt.Fprint(a.Stdout, terminal.Review(r.State.Review(), a.look()))
	}
	if r.Outcome == reviewpr.Failed {
		fmt.Fprintln(a.Stdout, r.Outcome, r.Thread)
		fmt.Fprintln(a.Stderr, "error: "+guard.Text(r.Message))
		return driver.Failure(r)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Message, r.Place, r.Thread))
	return driver.Failure(r)
}
