package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/action"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/github/write"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
)

// gatedReview returns the review of a pull request in its current state.
func (j *job) gatedReview(ctx context.Context) (*gated[reviewpr.State], error) {
	if j.Mode == "resume" && !j.own {
		if err := j.checkToken(ctx); err != nil {
			return nil, err
		}
	}
	now, err := ingest.Current(ctx, j.api, j.ref)
	if err != nil {
		return nil, err
	}
	steps := reviewpr.Steps{Post: func(ctx context.Context, s reviewpr.State) (post.Posted, error) {
		return driver.Post(ctx, j.ours, s, j.decisions(now.Pull, now.Digest()).Race(*s.Decision), j.own, j.warn)
	}}
	return &gated[reviewpr.State]{
		job: j, of: reviewpr.Subject(), origin: j.origin(now),
		graph: reviewpr.Name, version: reviewpr.Version, prompt: prompt.Fingerprint(),
		build: func(store graph.Store) (*graph.Flow[reviewpr.State], error) {
			return reviewpr.New(steps, store, driver.Sealing(j.Protection)...)
		},
		unmoved: func(_ context.Context, o checkpoint.Draft) error {
			return post.CheckHead(o.Manifest.Subject, o.Code, j.dispatchOf(j.DraftWorkflow), driver.PullNow(now))
		},
		standing: func(ctx context.Context, _ reviewpr.State, thread string) (string, bool, error) {
			return j.posted(ctx, thread, now.Digest())
		},
		author:   func(context.Context, checkpoint.Manifest) (string, error) { return now.Pull.Author, nil },
		items:    reviewpr.State.Items,
		deciders: func(s reviewpr.State) []string { return s.Draft.Config.Deciders },
		compared: func(s reviewpr.State) []finding.Finding {
			all := slices.Clone(s.Comments)
			for _, e := range finding.Standing(s.Earlier) {
				all = append(all, e.Finding())
			}
			return all
		},
		onRecord: reviewpr.State.OnRecord, speaks: true,
		parent: func(s reviewpr.State) string { return s.Draft.Trace },
		report: func(ctx context.Context, o *handoff.Draft[reviewpr.State]) (driver.Report, error) {
			return driver.ReportOf(ctx, o.Flow, o.Store, o.Manifest.Thread, j.Protection)
		},
	}, nil
}

// Own is an approval that a person posts with their own token.
type Own struct {
	API      *github.Client // with that token
	Pull     pull.Ref
	Branch   string // the default branch
	Commands string // the changes to the draft, one per line
	Warn     func(string)
	Tell     func(string)
}

// PostOwn approves a draft of a pull request and posts it with a person's token under their own
// account. It checks what a deciding job checks that they had dispatched, but no run records the
// decision: others learn of it from the review. s names the draft by its digest.
func PostOwn(ctx context.Context, f *driver.Front, s settings.Settings, o Own) (driver.Report, error) {
	viewer, err := o.API.Viewer(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	if viewer.Bot {
		return driver.Report{}, problem.Refuse(12, "the token is an app's or a job's, so no person decides, nothing "+
			"was posted", "set GITHUB_TOKEN to your own, such as $(gh auth token)")
	}
	s.Mode, s.Environment, s.Decision, s.Commands = "resume", "", decision.Approve, o.Commands
	j := &job{
		Front: f, Settings: s, ref: o.Pull, api: o.API, began: f.Now(), own: true, warn: o.Warn, tell: o.Tell,
		env:   action.Env{Actor: viewer.Login, TriggeringActor: viewer.Login, Ref: "refs/heads/" + o.Branch},
		event: action.Event{Name: "workflow_dispatch"},
		runs:  driver.Runs(o.API, o.Pull, "", s.DraftWorkflow, s.DecideWorkflow),
	}
	j.ours = j.Reviews(s, o.API, j.runs)
	return decides(ctx, j, j.gatedReview)
}

// decideReview takes and carries out the decision on a review, and signals it to other programs.
func (j *job) decideReview(ctx context.Context) (driver.Report, error) {
	r, err := decides(ctx, j, j.gatedReview)
	if err == nil && r.State.Decision != nil {
		j.readClosedThreads(ctx, &r)
		j.writeSignals(ctx, &r)
	}
	if j.Mark && err != nil {
		j.markRefused(ctx, err)
	}
	return r, err
}

// markRefused writes on the mark that a decision was refused, because GitHub notifies only the
// account that pushed of a failed job. If nobody decided the draft in time, it clears the mark
// instead. Either is on the head, unless that moved: a mark there is then another draft's, and stays.
func (j *job) markRefused(ctx context.Context, why error) {
	check, failed := problem.Check(why), ""
	switch {
	case driver.OutcomeOf(why) == driver.Expired:
		failed = "the mark that a draft waits could not be cleared"
	case check == 11 || check == 12 || errors.As(why, new(*decision.Error)):
		failed = "the mark does not say that the decision was refused"
	default:
		return
	}
	p, err := j.api.Pull(ctx, j.ref)
	m := write.Mark{Instance: j.Instance, Code: checkpoint.Code(cmp.Or(j.Digest, j.Code))}
	switch marks := write.New(j.api); {
	case err != nil:
	case driver.OutcomeOf(why) == driver.Expired:
		_, err = marks.Unmark(ctx, j.ref, p.HeadSHA, m, write.Lapsed)
	default:
		m.Page = driver.RunPage(j.ref, j.env.RunID)
		_, err = marks.Remark(ctx, j.ref, p.HeadSHA, m, driver.Gist(why))
	}
	if err != nil {
		j.warnOf(failed, err)
	}
}

// readClosedThreads records in r the findings whose threads were closed since the draft was made or
// the decision was carried out. They no longer count as open.
func (j *job) readClosedThreads(ctx context.Context, r *driver.Report) {
	if len(r.Standing) == 0 && j.FailOn == "" {
		return
	}
	earlier, err := j.recall(nil)(ctx, ingest.Change{Pull: r.State.Pull, Files: r.State.Files,
		Unlisted: r.State.Draft.Unlisted})
	if r.CloseThreads(earlier); err != nil {
		j.warnOf("threads that were closed since the draft was made count as open", err)
	}
}

// writeSignals tells other programs what a decision kept: it writes the SARIF file and the check
// run, and clears the mark that a draft waits. The decision has been carried out by then, so
// a failure here is only a warning, except for the SARIF file. A later step reads that file,
// so without it the job fails, posted or not.
func (j *job) writeSignals(ctx context.Context, r *driver.Report) {
	ref, head := j.ref, r.State.Draft.Subject.Head
	if j.CheckRun && r.Outcome == reviewpr.Posted {
		_, err := write.New(j.api).CheckRun(ctx, ref, write.Check{
			Head: head, Instance: j.Instance, Thread: r.Thread, Digest: r.Digest, Review: r.ReviewURL,
			Findings: r.OpenFindings(), Covered: r.State.Covered(), FailOn: j.FailOn,
		})
		if err != nil {
			j.warn(driver.Explain(err))
		}
	}
	if j.Mark {
		if err := j.unmark(ctx, head, r.Code, r.Outcome == reviewpr.Posted, r.ReviewURL); err != nil {
			j.warnOf("the mark that a draft waits could not be cleared", err)
		}
	}
	driver.WriteSARIF(j.Settings, r, j.Getenv("GITHUB_WORKSPACE"), j.warn)
}

// markWaiting runs the job that marks the commit with the waiting draft, and where. It has no
// model's key, and tells nothing about the findings but how many there are.
func (j *job) markWaiting(ctx context.Context) (driver.Report, error) {
	if err := j.checkNamed(); err != nil {
		return driver.Report{}, err
	}
	g, err := j.gatedReview(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	draft, err := g.verify(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	m := draft.Manifest
	on, err := g.decisions(reviewpr.State{}).Claims(ctx, draft.Code)
	if err != nil {
		return driver.Report{}, err
	}
	review, posted, err := j.posted(ctx, m.Thread, m.Subject.Digest)
	if err != nil {
		return driver.Report{}, err
	}
	acted, rejected := posted, false
	for _, c := range on {
		if c.Record.Digest == draft.Digest {
			acted, rejected = acted || c.Acted(), rejected || c.Record.Decision == decision.Abort
		}
	}
	if acted {
		if posted || rejected { // an approval that is being carried out clears the mark itself
			err = j.unmark(ctx, m.Subject.Head, draft.Code, posted, review)
		}
		return driver.Report{Message: "draft " + draft.Code + " was decided, so the commit is not marked"}, err
	}
	err = write.New(j.api).Mark(ctx, j.ref, m.Subject.Head, write.Mark{
		Instance: j.Instance, Code: draft.Code, Findings: m.Findings, Blockers: m.Blockers, Expires: m.ExpiresAt,
		Page: driver.RunPage(j.ref, m.RunID),
	})
	if err != nil {
		return driver.Report{}, err
	}
	// no outcome, because the outputs are the draft job's
	return driver.Report{Message: "the commit shows that draft " + draft.Code + " waits"}, nil
}

// unmark clears the mark of a draft that was decided, if there is one.
func (j *job) unmark(ctx context.Context, head, code string, posted bool, page string) error {
	end := write.Rejected
	if posted {
		end = write.Posted
	}
	_, err := write.New(j.api).Unmark(ctx, j.ref, head, write.Mark{Instance: j.Instance, Code: code, Page: page}, end)
	return err
}

// revise runs the drafting job again: the model revises the draft as the feedback asks, and
// the new draft replaces it. This job cannot post.
func (j *job) revise(ctx context.Context) (driver.Report, error) {
	if err := j.checkFeedback(); err != nil {
		return driver.Report{}, err
	}
	reviewer, err := j.NewReviewer(j.Settings, nil)
	if err != nil {
		return driver.Report{}, err
	}
	approvals, err := j.gateRules(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	g, err := j.gatedReview(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	return g.revise(ctx, func(s reviewpr.State) error {
		return driver.MayRevise(reviewer, s.Draft)
	}, func(ctx context.Context, o *handoff.Draft[reviewpr.State], answer decision.Answer) (driver.Report, error) {
		change, earlier, err := j.rereadChange(ctx, o)
		if err == nil {
			err = j.chooseEnvironment(ctx, change)
		}
		if err != nil {
			return driver.Report{}, err
		}
		return j.redraft(ctx, o, change, earlier, reviewer, approvals, answer)
	})
}

func (j *job) checkFeedback() error {
	// The feedback is stored with the draft, so credentials in it are redacted.
	j.Feedback = strings.TrimSpace(strings.TrimPrefix(decision.ReviseCommand(secret.Redact(j.Feedback)), "/revise"))
	switch err := j.checkNamed(); {
	case err != nil:
		return err
	case j.Feedback == "":
		return problem.Usage("the input feedback is missing", "say what the next draft should do differently")
	case len(j.Feedback) > decision.MaxFeedback:
		return problem.Usage(fmt.Sprintf("the feedback has %d bytes, more than %d", len(j.Feedback),
			decision.MaxFeedback), "shorten it")
	case j.Decision != "" || strings.TrimSpace(j.Commands) != "":
		return problem.Usage("decision and commands have no place in mode revise",
			"decide about the new draft, by its own code")
	case j.Anew:
		return problem.Usage("again: true drafts without the draft that is to be revised",
			"leave one of again and feedback out")
	case j.event.Name != "workflow_dispatch":
		return problem.Usage("feedback is only taken from a workflow_dispatch",
			"dispatch the review workflow with pull-request, code and feedback")
	}
	return nil
}

// rereadChange reads the change with its files again, and what earlier runs have left. It
// refuses a commit that was decided, and a change that has moved.
func (j *job) rereadChange(ctx context.Context, p *handoff.Draft[reviewpr.State]) (ingest.Change, earlierRuns, error) {
	change, err := ingest.Pull(ctx, j.api, j.ref, ingest.PullOptions{Instance: j.Instance, Config: j.File()})
	if err == nil {
		err = post.CheckHead(p.Manifest.Subject, p.Code, j.dispatchOf(j.DraftWorkflow), driver.PullNow(change))
	}
	if err != nil {
		return ingest.Change{}, earlierRuns{}, err
	}
	b, err := j.readEarlierRuns(ctx, change)
	if b.done.Outcome != "" {
		err = problem.Refuse(13, "this commit has already been decided, so nothing is left to revise",
			"push a commit for a new review", problem.At(cmp.Or(b.done.ReviewURL, p.Manifest.Thread)))
	}
	b.drafts = []checkpoint.Draft{p.Draft}
	return change, b, err
}

// redraft runs the graph from the answer to the next gate, and stores the draft parked
// there. Progress is stored as for a first draft.
func (j *job) redraft(ctx context.Context, p *handoff.Draft[reviewpr.State], change ingest.Change, earlier earlierRuns,
	r *wire.Reviewer, approvals []string, answer decision.Answer) (driver.Report, error) {
	r.NameModel(change.Config)
	store := j.reviewStore(change)
	if err := store.Prime(ctx, change.Thread, graph.Saved{Snapshot: p.Snapshot}, 0, ""); err != nil {
		return driver.Report{}, err
	}
	b := j.brief(change, earlier.paid)
	b.Revises = &p.State.Usage
	after, err := j.driver(store, change.Thread, r).Revise(ctx, b, reviewpr.Steps{
		Concurrency: j.Concurrency, Deadline: j.Deadline(j.Settings),
		Revised: func(d reviewpr.Draft) reviewpr.Draft {
			facts := j.Facts(ctx, j.Settings, r)
			facts.Manifest = j.withRun(facts.Manifest, approvals)
			return driver.Redrafted(r, d, facts, p.State.Usage)
		},
	}, driver.AnswerTo(p.Manifest, answer))
	if err != nil {
		return driver.Report{}, j.storeUnfinished(ctx, store, err)
	}
	after.Before = p.State.Usage.Cost
	return j.storeDraft(ctx, after, store, j.decisionsOn(after.State), earlier.drafts)
}
