// Package job runs the program as a step of a workflow. Depending on the input mode it
// drafts, revises, decides, marks, comments on a ticket or records a rejection.
//
// It uses neither a clone nor a terminal. What it shares with the command line is in driver.
// Start reading at Run.
package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render/proposal"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wording"
)

// Run runs the program as a step of a workflow and returns its exit code.
func Run(ctx context.Context, f *driver.Front) int {
	env, err := action.ReadEnv(f.Getenv)
	j := &job{Front: f, Settings: settings.Defaults(), env: env, runner: action.New(env, f.Stdout), began: f.Now()}
	j.warn, j.tell = j.runner.Warning, func(line string) { fmt.Fprintln(f.Stdout, guard.Line(line, driver.MaxLine)) }
	var r driver.Report
	if err == nil {
		r, err = j.run(ctx)
	}
	return j.end(r, err)
}

func (j *job) run(ctx context.Context) (driver.Report, error) {
	if err := j.setUp(); err != nil {
		return driver.Report{}, err
	}
	ctx, over, err := j.StartTrace(ctx, j.Settings, "", j.warn)
	if err != nil {
		return driver.Report{}, err
	}
	defer over()
	if j.isTicketJob() {
		return j.runTicket(ctx)
	}
	switch j.Mode {
	case "resume", "record":
		return j.decideReview(ctx)
	case "revise":
		return j.revise(ctx)
	case "mark":
		return j.markWaiting(ctx)
	}
	ctx, span := trace.Run(ctx, "review", j.began)
	r, err := j.review(ctx)
	j.EndRun(span, j.ref, r, j.began, err)
	return r, err
}

// runTicket runs a job about a ticket.
func (j *job) runTicket(ctx context.Context) (driver.Report, error) {
	switch j.Mode {
	case "implement":
		return j.implement(ctx)
	case "resume", "record":
		return decides(ctx, j, func(ctx context.Context) (*gated[ticketpr.State], error) {
			p, err := j.decidedTicketDraft(ctx)
			return p.gated, err
		})
	case "revise":
		return j.reviseTicket(ctx)
	case "comment":
		return j.comment(ctx)
	}
	return driver.Report{}, problem.Usage("the input ticket has no place in mode "+j.Mode,
		"ticket goes with implement, resume, revise, record and comment")
}

// end writes outputs, summary and annotation, and returns the exit code.
func (j *job) end(r driver.Report, err error) int {
	for _, void := range j.void {
		j.warn("an approval is void, " + void)
	}
	if err != nil {
		r.Outcome, r.Message = driver.OutcomeOf(err), driver.Explain(err)
	} else if !j.isTicketJob() {
		if driver.FailOn(j.Settings, &r); !r.Read && r.Thread != "" && j.FailOn != "" {
			j.warn("what was posted before could not be read, so open-findings and open-blockers are empty, " +
				"and fail-on counts only what this run posts")
		}
	}
	if r.Outcome == ticketpr.Failed && r.Failed != nil {
		r.Message = driver.Explain(r.Failed)
	}
	if r.State.Draft.Name == "" {
		r.State.Draft.Name = j.subjectName()
	}
	if r.Outcome == "" && err != nil {
		if writeErr := j.runner.Summary(summary.Mistake(driver.Explain(err))); writeErr != nil {
			j.warn(writeErr.Error())
		}
	}
	if r.Outcome != "" {
		if writeErr := errors.Join(j.runner.SetOutputs(outputs(r, j.env.RunID)), j.summarize(r)); writeErr != nil {
			err = errors.Join(err, writeErr)
		}
		j.notify(r)
	}
	if err == nil {
		if err = driver.Failure(r); err == nil {
			j.tell(strings.Join(strings.Fields(r.Outcome+" "+r.Thread+" "+r.ReviewURL+" "+
				r.PullRequest+" "+r.Message), " "))
			return 0
		}
	}
	j.runner.Error(driver.Explain(err))
	return driver.ExitCode(err)
}

// summarize writes the job summary.
func (j *job) summarize(r driver.Report) error {
	switch {
	case r.Page != "":
		return j.runner.Summary(r.Page)
	case r.Parked() && r.Code != "" && !j.isTicketJob():
		more := !r.State.Draft.Rules && len(r.State.Rounds) < gate.MaxRounds
		return j.runner.Summary(summary.Draft(r.State.Review(), j.howToDecide(r, more)))
	}
	void := j.void
	if r.Outcome == driver.Refused && len(void) == 1 && !j.isTicketJob() {
		void = nil // the reason says the same
	}
	end := summary.Ending{Outcome: r.Outcome, Reason: r.Message, Page: r.ReviewURL, Record: r.State.Decision,
		Changes: r.Changes, Counts: j.Summary == "counts", Reuses: j.Protection.Keyed(), Void: void,
		Verdict: j.verdict(r.Outcome), Open: r.OpenFindings()}
	if r.Outcome == driver.Expired {
		end.Restart = j.dispatchOf(j.DraftWorkflow)
	}
	if j.isTicketJob() {
		return j.runner.Summary(proposal.End(j.asked.Key, end, proposal.Ended{Branch: r.Branch, Pull: r.PullRequest,
			Form: r.Form, Bot: r.Bot}))
	}
	return j.runner.Summary(summary.End(r.State.Review(), end))
}

// verdict returns the summary's heading where it depends on the job, or "".
func (j *job) verdict(outcome string) string {
	switch {
	case outcome != driver.Refused && outcome != ticketpr.Failed:
	case j.Mode == "mark":
		return "The commit of % was not marked"
	case j.Mode == "comment":
		return "No comment was left on %"
	case j.isTicketJob() && j.Mode != "implement" && j.Mode != "revise" && outcome == ticketpr.Failed:
		return "The change for % could not be carried out"
	}
	return ""
}

// notify writes on the run's page that a draft waits for a dispatch. No job of the run waits,
// so GitHub shows the run as completed.
func (j *job) notify(r driver.Report) {
	if r.Outcome != driver.Paused || j.Environment != "" || r.Code == "" {
		return
	}
	draft := driver.DraftName(j.ref.Number, r.Code)
	said := r.State.Review()
	what := fmt.Sprintf("#%d waits for a decision: %s", j.ref.Number,
		wording.Joined("; ", wording.Joined(", ", said.Result(), said.Settled()), said.Stands()))
	switch {
	case j.Ticket != "":
		what = fmt.Sprintf("The change for %s waits for a decision", guard.Line(j.Ticket, driver.MaxLine))
		draft = r.Code
	case !r.State.Covered():
		what += ", not every file was read"
	}
	j.runner.Notice(fmt.Sprintf("%s. The draft %s: %s. Decide: %s/actions/workflows/%s", what, draft,
		driver.RunPage(j.ref, j.env.RunID), j.ref.Web(), path.Base(j.DecideWorkflow)))
}

// outputs returns the action's outputs: numbers, enums, digests and addresses built by us.
func outputs(r driver.Report, run int64) map[string]string {
	open, blockers, dollars := "", "", ""
	if n := r.Open(); n.Findings != nil { // nil if what was posted could not be read
		open, blockers = strconv.Itoa(*n.Findings), strconv.Itoa(*n.Blockers)
	}
	if known := r.Usage.Known(); known != nil {
		dollars = fmt.Sprintf("%.6f", float64(*known)/1e6)
	}
	environment := cmp.Or(r.State.Draft.Environment, r.Packed.Manifest.Environment)
	if r.Outcome == driver.Kept { // it waits for nobody; a dispatch may still decide it
		environment = ""
	}
	return map[string]string{
		"outcome": r.Outcome, "thread-id": r.Thread, "checkpoint-digest": r.Digest, "artifact-name": r.Artifact,
		"code":   r.Code,
		"run-id": strconv.FormatInt(run, 10), "findings": strconv.Itoa(len(r.Findings)),
		"blockers": strconv.Itoa(finding.Count(r.Findings, finding.Blocker)),
		"partial":  strconv.FormatBool(r.Partial), "cost-usd": dollars,
		"review-url":    r.ReviewURL,
		"open-findings": open, "open-blockers": blockers,
		"branch": r.Branch, "pull-request-url": r.PullRequest,
		"environment": environment,
	}
}
