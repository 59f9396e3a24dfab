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
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/render/summary"
	"github.com/org/pr-review-action/internal/secret"
)

// decide takes the decision: the environment's approvals, or the dispatch.
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
	agreed := map[bool][]string{} // by whether they changed something: one who did not has not said that
	switch {
	case g.routeA() && rejected != nil:
		return decision.Answer{}, rejected
	case g.routeA():
		record.Via = decision.ByApproval
		record.By, d, err = gate.Approved(approvals, m.Approvals, g.Environment, g.compared(o.State),
			g.approval(o, author, agreed))
	default:
		if d, err = g.read("", "", o); err == nil {
			err = cmp.Or(gate.Open(m), g.dispatched(ctx, o, author), rejected)
		}
		agreed[len(d.Commands) > 0] = []string{record.By}
	}
	if err == nil && d.Verdict == decision.Approve && g.speaks {
		err = g.ownDecision(ctx, agreed[len(d.Commands) > 0])
	}
	return decision.Answer{Decision: d, Record: record.With(d)}, err
}

// desk is where decisions on a draft are kept.
func (g *gated[S]) desk(s S) *handoff.Desk {
	return g.deskOf(g.origin.Subject, g.origin.Branch, g.standing(s))
}

// ownDecision is check 12 about the token: a person's posts what that person decided alone.
func (g *gated[S]) ownDecision(ctx context.Context, decided []string) error {
	viewer, err := g.api.Viewer(ctx)
	return cmp.Or(err, gate.Posts(viewer.Login, decided))
}

// asks is the answer of who asks for a revision: checks 12 and 13, as for a decision by
// dispatch.
func (g *gated[S]) asks(ctx context.Context, o *handoff.Draft[S]) (decision.Answer, error) {
	author, err := g.author(ctx, o.Manifest)
	if err == nil {
		err = g.dispatched(ctx, o, author)
	}
	if err != nil {
		return decision.Answer{}, err
	}
	d := decision.Decision{Verdict: decision.Revise, Feedback: g.Feedback}
	record := g.record(o.Draft).With(d)
	approvals, err := g.approvals(ctx, o.Manifest.RunID)
	if err == nil {
		err = gate.Rejected(approvals, o.Manifest.Approvals, o.Manifest.Environment)
	}
	if err != nil {
		return decision.Answer{}, err
	}
	desk := g.desk(o.State)
	on, err := desk.Claims(ctx, o.Code)
	if err == nil {
		err = handoff.Governed(on, record)
	}
	if err == nil && desk.Keyed { // else a rejection would end with a revision of another draft
		approved := record
		approved.Decision = decision.Approve
		err = handoff.Remembered(on, approved, g.of.Anew(o.State), o.Manifest.CreatedAt)
	}
	return decision.Answer{Decision: d, Record: record}, err
}

// approval reads what one approval decides: its comment, by somebody who may, who is one of
// those who agreed then. One that is void is kept for the summary.
func (g *gated[S]) approval(o *handoff.Draft[S], author string,
	agreed map[bool][]string) func(github.Approval) (decision.Decision, error) {
	return func(a github.Approval) (d decision.Decision, err error) {
		err = gate.MayDecide(gate.Decider{Login: a.User, Dispatched: g.ticketed()}, author, g.AllowAuthor, true)
		if err == nil {
			d, err = g.read(a.Comment, decision.Approve, o)
		}
		if err != nil {
			g.void = append(g.void, cmp.Or(a.User, "an account that is gone")+": "+driver.Gist(err))
		} else {
			said := len(d.Commands) > 0
			agreed[said] = append(agreed[said], a.User)
		}
		return d, err
	}
}

// read is check 11: what a comment and the input commands decide about the draft.
func (g *gated[S]) read(comment string, fallback decision.Verdict, o *handoff.Draft[S]) (decision.Decision, error) {
	commands, err := decision.Commands(secret.Redact(g.Commands))
	if err != nil {
		return decision.Decision{}, g.mistake(err, o.Manifest)
	}
	text := strings.TrimSpace(comment + "\n" + commands)
	if asked, wrong := decision.Parse(text); wrong == nil && asked.Verdict == decision.Revise {
		return decision.Decision{}, gate.RefuseRevise(g.revising(o.Code, asked.Feedback))
	}
	d, err := gate.Decide(text, g.Decision, fallback, g.items(o.State), o.Manifest.ExpiresAt)
	if g.fits != nil {
		d, err = g.fits(o.State, d, err)
	}
	return d, g.mistake(err, o.Manifest)
}

// record is what goes on record of a draft that this job decides by dispatch.
func (g *gated[S]) record(o checkpoint.Draft) decision.Record {
	return decision.Record{Thread: o.Manifest.Thread, Digest: o.Digest, Code: o.Code, At: g.Clock(), By: g.by(),
		Via: decision.ByDispatch}
}

// revising is the command that revises a draft, with the feedback where it may
// be shown and fits a line of the message.
func (j *job) revising(code, feedback string) string {
	line := j.dispatchOf(j.DraftWorkflow) + " -f code=" + code + " -f feedback="
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

// howToDecide says how a draft is decided, for the job summary; more says that another one
// may be asked for.
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
		d.Revise = j.revising(r.Code, "WHAT TO DO DIFFERENTLY")
	}
	if j.Environment != "" && r.Outcome == driver.Paused {
		d.Environment, d.Run = j.Environment, j.env.RunID
		d.Approve = driver.Approval(j.ref, j.env.RunID, j.environmentID)
		if !j.AllowDispatch {
			return d
		}
	}
	d.Draft = driver.DraftName(j.ref.Number, r.Code)
	decide := driver.DispatchOn(j.DecideWorkflow, j.ref, "draft="+d.Draft)
	if j.ticketed() {
		d.Draft, decide = "", j.dispatchOf(j.DecideWorkflow)+" -f code="+r.Code
	}
	decide += " -f checkpoint-digest=" + r.Digest + " -f decision="
	d.Workflow, d.Dispatch, d.DispatchAbort = path.Base(j.DecideWorkflow), decide+"approve", decide+"abort"
	return d
}
