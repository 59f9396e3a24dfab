package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	osuser "os/user"
	"slices"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
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

// decide takes the decision on a parked draft: from the flags, else from the
// person at the terminal; else the draft stays parked.
func (a *app) decide(ctx context.Context, s session, r driver.Report, given decision.Verdict, o *options) error {
	text := o.text()
	if given == "" {
		if err := checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()); err != nil {
			return err
		}
		changed, err := ask.Staged(r, text)
		if err != nil {
			return err
		}
		a.showDraft(changed, o)
		if !a.interactive(o) {
			return a.park(changed, o, text)
		}
		prompt := ask.Prompt{Front: a.Front}
		if given, text = prompt.Ask(ctx, r, text); given == "" {
			return a.park(r, o, text)
		}
	}
	after, err := a.answer(ctx, s, r, given, text, o)
	switch {
	case err != nil:
		return err
	case after.Parked():
		o.undecided()
		return a.decide(ctx, s, after, "", o)
	}
	return a.decided(after, o)
}

// answer checks the draft once more and hands the decision to the graph.
func (a *app) answer(ctx context.Context, s session, r driver.Report, given decision.Verdict, text string,
	o *options) (driver.Report, error) {
	m := r.Packed.Manifest
	if r.State.Pull != nil {
		if err := a.checkPull(ctx, s, r); err != nil {
			return driver.Report{}, err
		}
	}
	if err := checkpoint.CheckExpiry(m, a.Now()); err != nil {
		return driver.Report{}, err
	}
	_, gated := trace.Gate(ctx)
	d, err := gate.Decide(text, given, "", r.State.Items(), m.ExpiresAt)
	gated.Decided(string(d.Verdict), err)
	if err != nil {
		return driver.Report{}, err
	}
	by, err := a.user(ctx, s)
	if err != nil {
		return driver.Report{}, err
	}
	record := decision.Record{Thread: r.Thread, Digest: r.Digest, Code: r.Code, By: by, At: a.Clock(),
		Via: decision.ByCommandLine}
	if d.Verdict == decision.Revise {
		return a.revise(ctx, s, r, &decision.Answer{Decision: d, Record: record.With(d)}, o)
	}
	return driver.Driver{Front: a.Front, Store: s.store, Thread: s.thread}.Decide(ctx, a.posting(s, o),
		driver.AnswerTo(m, decision.Answer{Decision: d, Record: r.State.OnRecord(record.With(d))}))
}

// checkPull is resume check 9 on the command line: the pull request is as it
// was when it was reviewed.
func (a *app) checkPull(ctx context.Context, s session, r driver.Report) error {
	change, err := ingest.Current(ctx, s.api, r.State.Pull.Ref)
	if err != nil {
		return err
	}
	return post.CheckHead(r.Packed.Manifest.Subject, r.Code, driver.PullNow(change))
}

// onScreen is where a review of local input is posted without --out.
const onScreen = "standard output"

// posting is how a review leaves this machine: to the pull request, or for local
// input to a file. Where a process before this one may have posted it, its write may
// still be under way.
func (a *app) posting(s session, o *options) reviewpr.Steps {
	tried := false
	return reviewpr.Steps{
		Post: func(ctx context.Context, state reviewpr.State) (post.Posted, error) {
			if state.Pull != nil {
				return driver.Post(ctx, s.reviews(a, o, state.Pull.Ref, state), state, nil, tried, a.warn)
			}
			return post.Posted{URL: cmp.Or(o.out, onScreen)},
				writeOut(o.out, driver.LocalReview(state))
		},
		Posted: func(context.Context, reviewpr.State) (_ post.Posted, done bool, _ error) {
			tried = true
			return post.Posted{}, false, nil
		},
	}
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
	if name := cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME")); name != "" {
		return name, nil
	}
	if u, err := osuser.Current(); err == nil {
		return u.Username, nil
	}
	return "somebody", nil
}

func (a *app) showDraft(r driver.Report, o *options) {
	if o.json {
		return
	}
	columns, _ := columnsOf(a.Stdout)
	fmt.Fprint(a.Stdout, terminal.Review(r.State.Review(), a.look(columns)), "\n")
}

const asDrafted = "Or as it was drafted."

// park says how the draft can be decided later, and with the changes that were made
// to it so far: commands, one a line.
func (a *app) park(r driver.Report, o *options, changes ...string) error {
	driver.FailOn(o.Settings, &r)
	a.came = r
	if o.json {
		return cmp.Or(r.Print(a.Stdout), driver.Failure(r))
	}
	command := a.resuming(r.Thread, o)
	word := "Parked."
	if r.Outcome == driver.Kept {
		word = fmt.Sprintf("Kept: nothing here is %s or graver.", r.State.Draft.GateFrom)
	}
	if wire.WithPassword(o.store) {
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
	if o.resumed || word == asDrafted {
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

// decided prints the posted review, where it went nowhere else, and the outcome.
func (a *app) decided(r driver.Report, o *options) error {
	if r.Outcome == reviewpr.Posted {
		if err := a.deliver(&r, o); err != nil {
			return err
		}
	}
	driver.Signal(o.Settings, &r, "", a.warn)
	driver.FailOn(o.Settings, &r)
	a.came = r
	if o.json {
		return a.finish(r, o)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Place, r.Thread))
	if !o.quiet {
		fmt.Fprint(a.Stderr, wording.Used(r.Usage))
	}
	return driver.Failure(r)
}

// deliver hands a posted review out here: to --out, or where it went nowhere
// else, to standard output. A review that was posted before is handed out again.
func (a *app) deliver(r *driver.Report, o *options) error {
	switch {
	case r.State.Pull != nil:
		return writeOut(o.out, r.Body)
	case o.out != "" && o.out != r.Place:
		r.Place = o.out
		return writeOut(o.out, driver.LocalReview(r.State))
	case r.Place == onScreen && !o.json:
		fmt.Fprintln(a.Stdout, driver.LocalReview(r.State))
	}
	return nil
}

// again reports a decision that was taken before, and posts what it had
// approved where that did not happen. Another decision is refused.
func (a *app) again(ctx context.Context, s session, r driver.Report, given decision.Verdict, o *options) error {
	taken := r.State.Decision
	if verdict := cmp.Or(given, decision.Approve); (given != "" || o.text() != "") &&
		differs(*taken, verdict, o.text(), r.State) {
		how := ""
		if verdict == taken.Decision {
			how = ", with other changes"
		}
		return problem.Refuse(13, "this draft was decided otherwise before",
			"a draft is decided once; push a new commit, or review this one anew with --again",
			problem.At(fmt.Sprintf("%s: %s by %s on %s%s", r.Thread, taken.Decision, taken.By,
				taken.At.Format("2 January 2006, 15:04 MST"), how)))
	}
	after, err := driver.Driver{Front: a.Front, Store: s.store, Thread: s.thread}.Decide(ctx, a.posting(s, o), nil)
	if err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintln(a.Stderr, guard.Text(handoff.DecidedFirst(*taken)))
	}
	return a.decided(after, o)
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
func (a *app) finish(r driver.Report, o *options) error {
	driver.FailOn(o.Settings, &r)
	a.came = r
	if o.json {
		return errors.Join(r.Print(a.Stdout), driver.Failure(r))
	}
	columns, _ := columnsOf(a.Stdout)
	if len(r.Files) > 0 {
		fmt.Fprint(a.Stdout, terminal.Review(r.State.Review(), a.look(columns)))
	}
	if r.Outcome == reviewpr.Failed {
		fmt.Fprintln(a.Stdout, r.Outcome, r.Thread)
		fmt.Fprintln(a.Stderr, "error: "+guard.Text(r.Message))
		return driver.Failure(r)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Message, r.Place, r.Thread))
	return driver.Failure(r)
}
