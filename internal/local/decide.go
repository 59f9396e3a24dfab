package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	osuser "os/user"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/ask"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
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

// GoFrom continues a thread from its current state: an unfinished revision, a decision, a
// waiting draft, or none of these. It refuses one whose review has not ended.
func (l *Run) GoFrom(ctx context.Context, r driver.Report, given decision.Verdict) error {
	switch {
	case r.Revising():
		return l.finishRevision(ctx, r, given)
	case r.State.Decision != nil:
		return l.repeatDecision(ctx, r, given)
	case r.Parked():
		return l.Terminal.decide(ctx, l, r, given)
	case r.Running:
		return problem.Refuse(1, "there is no draft to decide yet", "wait for the review that runs; one that was "+
			"interrupted continues when the same review is run again", problem.At(r.Thread+": "+r.UnderWay()))
	case given == decision.Revise:
		return problem.Refuse(1, "there is no draft to revise", "review it with --again for a new one",
			problem.At(r.Thread+" is "+r.Outcome))
	}
	return l.Finish(r)
}

// finishRevision continues a revision that was requested in an earlier run. It refuses a
// decision given now, because the draft to decide does not exist yet.
func (l *Run) finishRevision(ctx context.Context, r driver.Report, given decision.Verdict) error {
	d, _ := decision.Parse(l.Text()) // parsed without error before
	if (given != "" || len(l.lines) > 0) && (given != decision.Revise || d.Feedback != r.Asked()) {
		return problem.Usage("this draft is being revised, so there is nothing to decide yet",
			fmt.Sprintf("finish that first: %s, with the model's flags", l.Resuming(r.Thread)))
	}
	after, err := l.revise(ctx, r, nil)
	if err != nil {
		return err
	}
	l.clearDecision()
	return l.Terminal.decide(ctx, l, after, "")
}

// subject is the kind of a draft in the local store, the review of a change or a change for a
// ticket, as the common path of decisions uses it.
type subject interface {
	// ask shows a draft, and asks about it if a person can be asked. Without a verdict the
	// draft stays parked, and shown is the draft to report, with the changes so far.
	ask(ctx context.Context, r driver.Report) (given decision.Verdict, text string, shown driver.Report, err error)
	Park(r driver.Report, changes string) error
	checkUnmoved(ctx context.Context, r driver.Report) error // resume check 9: nothing moved since the draft was made
	items(r driver.Report) []decision.Item                   // what a decision can name
	deciderName(ctx context.Context) (string, error)         // who decides
	// carryOut acts on an answer, which may ask for another draft.
	carryOut(ctx context.Context, r driver.Report, answer decision.Answer) (driver.Report, error)
	Decided(ctx context.Context, r driver.Report) error // prints the result of a decision
}

// decide takes the decision on a parked draft from the flags or else from the person at the
// terminal. Without a decision the draft stays parked.
func (a *Terminal) decide(ctx context.Context, s subject, r driver.Report, given decision.Verdict) error {
	text := a.Text()
	if given == "" {
		err, shown := checkpoint.CheckExpiry(r.Packed.Manifest, a.Now()), r
		if err == nil {
			given, text, shown, err = s.ask(ctx, r)
		}
		if err != nil {
			return err
		}
		if given == "" {
			return s.Park(shown, text)
		}
	}
	after, err := a.answer(ctx, s, r, given, text)
	switch {
	case err != nil:
		return err
	case after.Parked():
		a.clearDecision()
		return a.decide(ctx, s, after, "")
	}
	return s.Decided(ctx, after)
}

// answer checks the draft once more and carries out the decision.
func (a *Terminal) answer(ctx context.Context, s subject, r driver.Report, given decision.Verdict,
	text string) (driver.Report, error) {
	m := r.Packed.Manifest
	if err := cmp.Or(s.checkUnmoved(ctx, r), checkpoint.CheckExpiry(m, a.Now())); err != nil {
		return driver.Report{}, err
	}
	_, gated := trace.Gate(ctx)
	d, err := gate.Decide(text, given, "", s.items(r), m.ExpiresAt)
	gated.Decided(string(d.Verdict), err)
	if err != nil {
		return driver.Report{}, err
	}
	by, err := s.deciderName(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	record := r.Packed.Record(by, a.Clock(), decision.ByCommandLine)
	return s.carryOut(ctx, r, decision.Answer{Decision: d, Record: record.With(d)})
}

// Put shows a draft with the flags' changes and, if asks is true and a person can be asked,
// asks about it. Without a verdict the draft stays parked; text has the changes so far, and
// shown is the draft to report.
func (a *Terminal) Put(ctx context.Context, r driver.Report, asks bool) (given decision.Verdict, text string,
	shown driver.Report, err error) {
	text = a.Text()
	if shown, err = ask.Staged(r, text); err != nil {
		return "", text, shown, err
	}
	if a.ShowDraft(shown); asks && a.Interactive(a.Options) {
		given, text = ask.Prompt{Front: a.Front}.Review(ctx, r, text)
		shown = r
	}
	return given, text, shown, nil
}

func (l *Run) ask(ctx context.Context, r driver.Report) (given decision.Verdict, text string,
	shown driver.Report, err error) {
	return l.Put(ctx, r, true)
}

func (l *Run) checkUnmoved(ctx context.Context, r driver.Report) error {
	if r.State.Pull == nil {
		return nil
	}
	change, err := ingest.Current(ctx, l.API, r.State.Pull.Ref)
	if err != nil {
		return err
	}
	return post.CheckHead(r.Packed.Manifest.Subject, r.Code, l.againCommand(r.State.Pull.Ref), driver.PullNow(change))
}

func (l *Run) items(r driver.Report) []decision.Item { return r.State.Items() }

func (l *Run) deciderName(ctx context.Context) (string, error) { return l.user(ctx, l.API) }

func (l *Run) carryOut(ctx context.Context, r driver.Report, answer decision.Answer) (driver.Report, error) {
	if answer.Decision.Verdict == decision.Revise {
		return l.revise(ctx, r, &answer)
	}
	if err := l.checkMayPost(answer.Decision.Verdict); err != nil {
		return driver.Report{}, err
	}
	answer.Record = r.State.OnRecord(answer.Record)
	return l.publish(ctx, driver.AnswerTo(r.Packed.Manifest, answer))
}

// checkMayPost refuses to approve a pull request's review without a token.
func (l *Run) checkMayPost(given decision.Verdict) error {
	if given != decision.Approve || l.API == nil || l.API.Authorized() {
		return nil
	}
	pull, _, _ := strings.Cut(l.Thread, ":")
	return problem.Usage("there is no token to post the review with",
		"set GITHUB_TOKEN to one that may write pull requests there, such as $(gh auth token)", problem.At(pull))
}

// onScreen is the place where a review of local input is posted without --out, or with --out -.
const onScreen = "standard output"

func (o *Options) place() string {
	if o.out == "" || o.out == "-" {
		return onScreen
	}
	return o.out
}

// publish carries out an answer or, if that is nil, the earlier decision. A review goes to
// the pull request or, for local input, to a file. An earlier process may have posted it, and
// its write may still be in progress; driver.Post is told of that.
func (l *Run) publish(ctx context.Context, answer *graph.Answer) (driver.Report, error) {
	tried := false
	return driver.Driver{Front: l.Front, Store: l.Store, Thread: l.Thread}.Decide(ctx, reviewpr.Steps{
		Post: func(ctx context.Context, state reviewpr.State) (post.Posted, error) {
			if state.Pull != nil {
				return driver.Post(ctx, l.reviews(state.Pull.Ref, state), state, nil, tried, l.Warn)
			}
			return post.Posted{URL: l.place()}, writeOut(l.place(), driver.LocalReview(state))
		},
		Posted: func(context.Context, reviewpr.State) (_ post.Posted, done bool, _ error) {
			tried = true
			return post.Posted{}, false, nil
		},
	}, answer)
}

// writeOut writes a review to a file. If the place is onScreen it does nothing: Decided prints it.
func writeOut(name, text string) error {
	if name == onScreen {
		return nil
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return problem.New("the review could not be written", err.Error(),
			"name another file with --out and resume: the decision is kept")
	}
	return nil
}

// user returns the name of the person who decides on the command line: the token's login if
// there is one, otherwise the name of this machine's user.
func (a *Terminal) user(ctx context.Context, api *github.Client) (string, error) {
	if api != nil && api.Authorized() {
		viewer, err := api.Viewer(ctx)
		if err != nil || viewer.Login != "" {
			return viewer.Login, err
		}
	}
	if name := cmp.Or(a.Getenv("USER"), a.Getenv("LOGNAME")); name != "" {
		return name, nil
	}
	if u, err := osuser.Current(); err == nil { // a container may set neither variable
		return u.Username, nil
	}
	return "somebody", nil
}

// ShowDraft prints a review, unless JSON is printed.
func (a *Terminal) ShowDraft(r driver.Report) {
	if a.JSON {
		return
	}
	fmt.Fprint(a.Stdout, terminal.Review(r.State.Review(), a.Look()), "\n")
}

// Park prints how the draft can be decided later, also with the changes made to it so far.
// These are commands, one per line.
func (a *Terminal) Park(r driver.Report, changes string) error {
	driver.FailOn(a.Settings, &r)
	a.came = r
	if a.JSON {
		return cmp.Or(r.Print(a.Stdout), driver.Failure(r))
	}
	command := a.Resuming(r.Thread)
	word := "Parked."
	if r.Outcome == driver.Kept {
		word = fmt.Sprintf("Kept: nothing here is %s or higher.", r.State.Draft.GateFrom)
	}
	if r.Outcome == driver.Kept && len(r.Findings) == 0 {
		word = "Kept: there is nothing to post."
	}
	if wire.WithPassword(a.Store) {
		word += " Set PR_REVIEW_STORE to the store's address: its password is not shown here."
	}
	others := Others(r) + ")"
	if r.State.LacksMoney() {
		others += "\nThe same review with a higher --max-cost goes on with the rest; what is paid is kept."
	}
	a.printParked(r, word, command, others, changes)
	return driver.Failure(r)
}

// printParked prints the command that decides a draft, in word what happened to it, and the other
// decisions. With changes it also prints the command that makes them.
func (a *Terminal) printParked(r driver.Report, word, command, others, changes string) {
	with := WithCommands(changes)
	if with != "" {
		fmt.Fprintf(a.Stdout, "%s Decide with your changes:\n  %s --approve\n", word, guard.Text(command+with))
		word = "Or as it was drafted."
	}
	fmt.Fprintf(a.Stdout, "%s Decide with\n  %s --approve\n(%s\n", word, command, others)
	if a.Resumed || with != "" {
		fmt.Fprintln(a.Stdout, r.Outcome, r.Thread)
	}
}

// Others returns a hint with the flags that go in place of --approve or next to it. Its example
// drops the least severe finding.
func Others(r driver.Report) string {
	if n := len(r.Findings); n > 0 {
		return "or --abort; with changes: --command \"/drop " + r.Findings[n-1].ID + "\""
	}
	return "or --abort"
}

// Decided prints the outcome of a decision, and before it a review that has no other place.
func (a *Terminal) Decided(_ context.Context, r driver.Report) error {
	var err error
	if r.Outcome == reviewpr.Posted {
		err = a.writeReview(&r)
	}
	if err != nil {
		return err
	}
	driver.WriteSARIF(a.Settings, &r, "", a.Warn)
	driver.FailOn(a.Settings, &r)
	a.came = r
	if a.JSON {
		return a.Finish(r)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Place, r.Thread))
	if used := wording.Costs(r.Usage, 0); used != nil && !a.Quiet {
		fmt.Fprintf(a.Stderr, "used: %s\n", strings.Join(used, ", "))
	}
	return driver.Failure(r)
}

// writeReview writes a posted review to --out, or prints one that went nowhere else. One that was posted before is
// written again.
func (a *Terminal) writeReview(r *driver.Report) error {
	place, before := a.place(), r.Place
	if a.out == "" && before != onScreen {
		return nil
	}
	text := r.Body
	if r.State.Pull == nil {
		text, r.Place = driver.LocalReview(r.State), place
	}
	switch {
	case place == onScreen && !a.JSON:
		fmt.Fprintln(a.Stdout, text)
	case place != before:
		return writeOut(place, text)
	}
	return nil
}

// repeatDecision reports a decision taken before, and posts what it approved if that has not happened
// yet. It refuses a different decision.
func (l *Run) repeatDecision(ctx context.Context, r driver.Report, given decision.Verdict) error {
	if err := l.checkSameDecision(r.State.Decision, given, r.State.Items()); err != nil {
		return err
	}
	after, err := l.publish(ctx, nil)
	if err != nil {
		return err
	}
	said := handoff.DecidedFirst(*r.State.Decision)
	if r.State.Pull == nil || after.Outcome == reviewpr.Aborted {
		said += "; review --again makes another draft"
	}
	l.Say(said)
	return l.Decided(ctx, after)
}

// checkSameDecision refuses a decision in the flags that differs from the one taken on the draft,
// including its changes. items are what a decision can name.
func (o *Options) checkSameDecision(taken *decision.Record, given decision.Verdict,
	items []decision.Item) error {
	if taken == nil || given == "" && o.Text() == "" {
		return nil
	}
	d, err := gate.Decide(o.Text(), cmp.Or(given, decision.Approve), "", items, time.Time{})
	if err != nil {
		return err
	}
	return handoff.Governed([]handoff.Claim{{Record: *taken}}, taken.With(d))
}

// Finish prints the result of a run without a decision.
func (a *Terminal) Finish(r driver.Report) error {
	driver.FailOn(a.Settings, &r)
	a.came = r
	if a.JSON {
		return errors.Join(r.Print(a.Stdout), driver.Failure(r))
	}
	if len(r.Files) > 0 {
		fmt.Fprint(a.Stdout, terminal.Review(r.State.Review(), a.Look()))
	}
	if r.Outcome == reviewpr.Failed {
		fmt.Fprintln(a.Stdout, r.Outcome, r.Thread)
		fmt.Fprintln(a.Stderr, "error: "+guard.Text(r.Message))
		return driver.Failure(r)
	}
	fmt.Fprintln(a.Stdout, r.Outcome, cmp.Or(r.Message, r.Place, r.Thread))
	return driver.Failure(r)
}
