package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
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
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
)

// gated is a flow whose drafts wait at a gate, as the jobs behind that gate handle it. S is
// the state of its graph. Every draft takes the same path: it is found and proved to be what
// was shown, then the decision is taken, recorded and carried out.
type gated[S any] struct {
	*job
	of      handoff.Subject[S]
	origin  handoff.Origin
	graph   string // name
	version int
	prompt  string                                        // fingerprint; "" if prompts are not compared
	build   func(graph.Store) (*graph.Flow[S], error)     // returns the graph that carries a draft out
	unmoved func(context.Context, checkpoint.Draft) error // check 9
	// finds what was done on a thread, whichever of its drafts was decided
	standing func(ctx context.Context, s S, thread string) (where string, found bool, err error)

	author   func(context.Context, checkpoint.Manifest) (login string, err error) // may not decide; "" excludes nobody
	deciders func(S) []string                                                     // named by the settings
	items    func(S) []decision.Item                                              // what a decision can name
	compared func(S) []finding.Finding                                            // approvals must agree on these
	parent   func(S) string                                                       // the drafting span; "" for none
	// adds to a record what it keeps of its draft; nil adds nothing
	onRecord func(S, decision.Record) decision.Record
	report   func(context.Context, *handoff.Draft[S]) (driver.Report, error)

	speaks  bool     // posts in the name of the token's account, as a review does
	changes []string // since the draft was made, without effect on the decision
}

// decides runs a job behind a gate: the deciding job, which takes the decision on the draft, records it and carries
// it out, or in mode record the one that follows it if it did not run. about reads what the drafts are about.
func decides[S any](ctx context.Context, j *job,
	about func(context.Context) (*gated[S], error)) (driver.Report, error) {
	if j.Mode == "record" && !j.routeA() {
		return driver.Report{}, problem.Usage("the input environment is missing",
			"mode record notes how that environment answered; a dispatch is on record by itself")
	}
	var approvals []github.Approval
	err := j.checkRoute()
	if err == nil && j.Mode == "record" {
		if approvals, err = j.approvals(ctx, j.env.RunID); err == nil {
			if _, any := gate.Rejection(approvals, nil, j.Environment); !any {
				return j.reportUndecided(ctx), nil
			}
		}
	}
	if err != nil {
		return driver.Report{}, err
	}
	g, err := about(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	draft, err := g.verify(ctx)
	switch {
	case err != nil:
		return driver.Report{}, err
	case j.Mode == "record":
		return g.reject(ctx, draft, approvals)
	}
	return g.act(ctx, "resume", draft, g.decide, g.carryOut)
}

// reportUndecided returns the report on a draft that nobody has rejected: it may be posted, by a job that fail-on
// failed.
func (j *job) reportUndecided(ctx context.Context) driver.Report {
	left := driver.Report{Outcome: driver.Paused, Message: "nobody has rejected this draft: a push withdrew it, or " +
		"the log of the deciding job says why it is not posted"}
	if j.isTicketJob() {
		return left
	}
	var draft checkpoint.Draft
	g, err := j.gatedReview(ctx)
	if err == nil {
		draft, err = g.verify(ctx)
	}
	if err != nil {
		return left
	}
	if page, posted, err := j.posted(ctx, draft.Manifest.Thread, draft.Manifest.Subject.Digest); err == nil && posted {
		return driver.Report{Outcome: reviewpr.Posted, Thread: draft.Manifest.Thread, ReviewURL: page,
			Message: "the log of the deciding job says why it failed all the same"}
	}
	return left
}

// verify returns the draft that the inputs name after it passed resume checks 1 to 10.
func (g *gated[S]) verify(ctx context.Context) (draft checkpoint.Draft, err error) {
	shown := cmp.Or(g.Digest, g.Code)
	r := handoff.Resume{
		Origin: g.origin, Graph: g.graph, Version: g.version, Shown: shown,
		Name: g.origin.Names.Draft(g.origin.Subject, shown),
		Settings: checkpoint.Settings{Trust: g.Protection.Trust, Environment: g.Environment,
			ToolVersion: wire.Version(), PromptFingerprint: g.prompt},
		Unmoved: g.unmoved,
	}
	r.Run = cmp.Or(g.RunID, r.Run)
	if !g.routeA() { // a run of another workflow drafted it
		r.Run, r.Workflow = g.RunID, g.DraftWorkflow
	}
	if r.Run != 0 {
		r.Expired = func(ctx context.Context) bool {
			run, err := g.runs.Read(ctx, r.Run)
			return err == nil && !run.Created.IsZero() && r.Now.After(run.Created.Add(g.Expires))
		}
	}
	candidates, err := g.candidates(ctx, r)
	if err == nil {
		draft, g.changes, err = r.Verify(ctx, candidates)
	}
	return draft, err
}

// act opens a draft in a graph that can decide it, takes the decision on it, and acts on that, in
// spans that continue the draft's.
func (g *gated[S]) act(ctx context.Context, name string, draft checkpoint.Draft,
	take func(context.Context, *handoff.Draft[S]) (decision.Answer, error),
	do func(context.Context, *handoff.Draft[S], decision.Answer) (driver.Report, error)) (r driver.Report, err error) {
	o, err := g.of.Open(ctx, draft, g.build)
	if err != nil {
		return driver.Report{}, err
	}
	ctx, span := trace.Run(trace.Continue(ctx, g.parent(o.State)), name, g.began)
	defer func() { g.EndRun(span, g.ref, r, g.began, err) }()
	_, waited := trace.Gate(ctx)
	answer, err := take(ctx, o)
	waited.Decided(string(answer.Decision.Verdict), err)
	if err == nil {
		r, err = do(ctx, o, answer)
	}
	if err != nil { // the outputs name the draft anyway
		r.Thread, r.Digest, r.Code = draft.Manifest.Thread, draft.Digest, draft.Code
	}
	return r, err
}

// reject runs the job behind a deciding job that did not run: it records who rejected the
// draft in the environment's dialog, and why. If nobody did, the draft is unchanged: a push
// withdrew it, or the deciding job's log says more.
func (g *gated[S]) reject(ctx context.Context, draft checkpoint.Draft,
	approvals []github.Approval) (driver.Report, error) {
	rejection, ok := gate.Rejection(approvals, draft.Manifest.Approvals, g.Environment)
	if !ok { // the rejection is older than the draft
		return g.reportUndecided(ctx), nil
	}
	return g.act(ctx, "record", draft, func(context.Context, *handoff.Draft[S]) (decision.Answer, error) {
		record := g.record(draft)
		record.By, record.Via = rejection.User, decision.ByApproval
		d := decision.Decision{Verdict: decision.Abort, Note: rejection.Comment}
		return decision.Answer{Decision: d, Record: record.With(d)}, nil
	}, g.carryOut)
}

// revise finds the draft as a deciding job does, and calls again to draft it as the feedback
// asks. may refuses a draft that cannot be revised. The environment in the inputs applies
// only to the new draft; it takes no part in this decision.
func (g *gated[S]) revise(ctx context.Context, may func(S) error,
	again func(context.Context, *handoff.Draft[S], decision.Answer) (driver.Report, error)) (driver.Report, error) {
	environment := g.Environment
	g.Environment = ""
	draft, err := g.verify(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	return g.act(ctx, "revise", draft, func(ctx context.Context, o *handoff.Draft[S]) (decision.Answer, error) {
		if err := may(o.State); err != nil {
			return decision.Answer{}, err
		}
		answer, err := g.revisionAnswer(ctx, o)
		g.Environment = environment
		return answer, err
	}, again)
}

// carryOut records an answer, acts on it, and reports the result.
func (g *gated[S]) carryOut(ctx context.Context, o *handoff.Draft[S], answer decision.Answer) (driver.Report, error) {
	defer driver.Beat(ctx, g.tell, driver.Deciding)()
	if g.onRecord != nil {
		answer.Record = g.onRecord(o.State, answer.Record)
	}
	if err := o.CarryOut(ctx, g.decisions(o.State), answer); err != nil {
		return driver.Report{}, err
	}
	r, err := g.report(context.WithoutCancel(ctx), o)
	r.Changes = g.changes
	return r, err
}

// decide returns the decision, from the environment's approvals or from the dispatch.
func (g *gated[S]) decide(ctx context.Context, o *handoff.Draft[S]) (decision.Answer, error) {
	m := o.Manifest
	approvals, err := g.approvals(ctx, m.RunID)
	if err != nil {
		return decision.Answer{}, err
	}
	author, err := g.author(ctx, m)
	if err != nil {
		return decision.Answer{}, err
	}
	record, rejected := g.record(o.Draft), gate.Rejected(approvals, m.Approvals, cmp.Or(g.Environment, m.Environment))
	var d decision.Decision
	agreed := map[bool][]string{} // by whether they gave commands: who gave none has not approved the changes
	switch {
	case g.routeA() && rejected != nil:
		return decision.Answer{}, rejected
	case g.routeA():
		record.Via = decision.ByApproval
		record.By, d, err = gate.Approved(approvals, m.Approvals, g.Environment, g.compared(o.State),
			g.approval(o, author, agreed))
	default:
		if d, err = g.read("", "", o); err == nil {
			err = cmp.Or(gate.CheckDispatchable(m), g.checkDispatch(ctx, o, author), rejected)
		}
		agreed[len(d.Commands) > 0] = []string{record.By}
	}
	if err == nil && d.Verdict == decision.Approve && g.speaks { // a person's token posts what that person decided
		viewer, failed := g.api.Viewer(ctx)
		err = cmp.Or(failed, gate.CheckPoster(viewer.Login, agreed[len(d.Commands) > 0]))
	}
	return decision.Answer{Decision: d, Record: record.With(d)}, err
}

// decisions returns what records decisions on a draft.
func (g *gated[S]) decisions(s S) *handoff.Decisions {
	return g.decisionsOf(g.origin.Subject, g.origin.Branch, func(ctx context.Context,
		thread string) (string, bool, error) {
		return g.standing(ctx, s, thread)
	})
}

// revisionAnswer returns the answer that requests a revision, after checks 12 and 13 as for a decision
// by dispatch.
func (g *gated[S]) revisionAnswer(ctx context.Context, o *handoff.Draft[S]) (decision.Answer, error) {
	author, err := g.author(ctx, o.Manifest)
	if err == nil {
		err = g.checkDispatch(ctx, o, author)
	}
	d := decision.Decision{Verdict: decision.Revise, Feedback: g.Feedback}
	if err != nil {
		return decision.Answer{Decision: d}, err
	}
	record := g.record(o.Draft).With(d)
	approvals, err := g.approvals(ctx, o.Manifest.RunID)
	if err == nil {
		err = gate.Rejected(approvals, o.Manifest.Approvals, o.Manifest.Environment)
	}
	if err != nil {
		return decision.Answer{}, err
	}
	decisions := g.decisions(o.State)
	on, err := decisions.Claims(ctx, o.Code)
	if err == nil {
		err = decisions.Undecided(on, record, g.of.Anew(o.State), o.Manifest.CreatedAt)
	}
	return decision.Answer{Decision: d, Record: record}, err
}

// checkDispatch is check 12 for a dispatch: who started it, from which branch, and whether
// they may decide the draft. An account or ref that the runner does not report is refused.
func (g *gated[S]) checkDispatch(ctx context.Context, o *handoff.Draft[S], author string) error {
	if err := gate.Dispatch(g.env.Actor, g.env.TriggeringActor, g.env.Ref, g.origin.Branch); err != nil {
		return err
	}
	return g.checkMayDecide(ctx, o.Manifest, g.deciders(o.State), author)
}

// approval returns a function that reads the decision in an approval's comment. It adds the
// approver to agreed, or if the approval is void, for example because the approver may not
// decide, the reason to g.void.
func (g *gated[S]) approval(o *handoff.Draft[S], author string,
	agreed map[bool][]string) func(github.Approval) (decision.Decision, error) {
	return func(a github.Approval) (d decision.Decision, err error) {
		err = gate.MayDecide(gate.Decider{Login: a.User, Dispatched: g.isTicketJob()}, author, g.AllowAuthor, true)
		if err == nil {
			d, err = g.read(a.Comment, decision.Approve, o)
		}
		if err != nil {
			why := strings.TrimRight(strings.TrimSuffix(driver.Gist(err), "nothing was posted"), ",: ")
			g.void = append(g.void, cmp.Or(a.User, "an account that is gone")+": "+why)
		} else {
			said := len(d.Commands) > 0
			agreed[said] = append(agreed[said], a.User)
		}
		return d, err
	}
}

// read is check 11. It returns what a comment and the input commands decide about the draft.
func (g *gated[S]) read(comment string, fallback decision.Verdict, o *handoff.Draft[S]) (decision.Decision, error) {
	commands, err := decision.Commands(secret.Redact(g.Commands))
	if err != nil {
		return decision.Decision{}, g.explainMistake(err, o)
	}
	text := strings.TrimSpace(comment + "\n" + commands)
	if asked, wrong := decision.Parse(text); wrong == nil && asked.Verdict == decision.Revise {
		return decision.Decision{}, gate.RefuseRevise(g.reviseCommand(o.Code, asked.Feedback))
	}
	d, err := gate.Decide(text, g.Decision, fallback, g.items(o.State), o.Manifest.ExpiresAt)
	return d, g.explainMistake(err, o)
}

// record returns the record of this job's decision on a draft by dispatch, without the verdict.
func (g *gated[S]) record(o checkpoint.Draft) decision.Record {
	if g.own {
		return o.Record(g.actor(), g.Clock(), decision.ByCommandLine)
	}
	return o.Record(g.actor(), g.Clock(), decision.ByDispatch)
}

// reviseCommand returns the command that revises a draft. It contains the feedback if that may
// be shown and fits into a line of the message, otherwise a placeholder.
func (j *job) reviseCommand(code, feedback string) string {
	line := j.dispatchOf(j.DraftWorkflow) + " -f code=" + code + " -f feedback="
	if text := driver.Quoted(feedback); j.Summary != "counts" && len(line)+len(text) < 400 {
		return line + text
	}
	return line + "'TEXT'"
}

// explainMistake adds to the error of a decision that does not parse what draft and route need.
func (g *gated[S]) explainMistake(err error, o *handoff.Draft[S]) error {
	if wrong, ok := errors.AsType[*decision.Error](err); ok {
		wrong.Until, wrong.Unquoted = o.Manifest.ExpiresAt, g.Summary == "counts"
		wrong.About(g.items(o.State))
		if g.routeA() {
			wrong.Next = "Re-run failed jobs, and approve again with the line corrected: this approval is void, and " +
				"nothing is paid again"
		}
	}
	return err
}

// howToDecide returns for the job summary how to decide a draft. more reports whether a
// revision may be requested.
func (j *job) howToDecide(r driver.Report, more bool) summary.Decide {
	d := summary.Decide{
		Code: r.Code, Expires: r.Packed.Manifest.ExpiresAt, Artifact: r.Artifact, Elapsed: j.Now().Sub(j.began),
		RetainedUntil: r.Retained, Kept: r.Outcome == driver.Kept, Trust: j.Protection.Trust,
		Counts:    j.Summary == "counts",
		Show:      fmt.Sprintf("pr-review-action show %s", driver.Quoted(j.ref.String())),
		Withdraws: r.Withdrew, Extra: r.Usage.Cost - r.Before,
	}
	if d.RetainedUntil.IsZero() {
		d.RetainedUntil = j.began.UTC().AddDate(0, 0, j.Retention)
	}
	if more {
		d.Revise = j.reviseCommand(r.Code, "WHAT TO DO DIFFERENTLY")
	}
	if j.Environment != "" && r.Outcome == driver.Paused {
		d.Environment, d.Run = j.Environment, j.env.RunID
		d.Approve = driver.Approval(j.ref, j.env.RunID, j.gateEnv.ID)
		if !j.AllowDispatch {
			return d
		}
	}
	d.Draft = driver.DraftName(j.ref.Number, r.Code)
	decide := driver.DispatchOn(j.DecideWorkflow, j.ref, "draft="+d.Draft)
	if j.isTicketJob() {
		d.Draft, decide = r.Code, j.dispatchOf(j.DecideWorkflow)+" -f code="+r.Code
	}
	decide += " -f checkpoint-digest=" + r.Digest + " -f decision="
	d.Workflow, d.Dispatch, d.DispatchAbort = path.Base(j.DecideWorkflow), decide+"approve", decide+"abort"
	return d
}
