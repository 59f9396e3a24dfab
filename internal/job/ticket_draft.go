package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/apply"
	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/checkpoint/artifactstore"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/flow/ticketpr"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/implement"
	"github.com/org/pr-review-action/internal/render/proposal"
	"github.com/org/pr-review-action/internal/ticketcontext"
	"github.com/org/pr-review-action/internal/trace"
	"github.com/org/pr-review-action/internal/wire"
)

// implement runs the drafting job of a ticket: it stops at the gate and leaves the checkpoint
// in an artifact. It writes nothing to the repository.
func (j *job) implement(ctx context.Context) (r driver.Report, err error) {
	ctx, span := trace.Run(ctx, "implement", j.began)
	defer func() { j.EndRun(span, j.ref, r, j.began, err) }()
	p, err := j.newTicketDraft(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	base, err := j.api.Tip(ctx, j.ref.Owner, j.ref.Repo, p.repo.DefaultBranch)
	if err != nil {
		return driver.Report{}, err
	}
	facts := p.facts(ticketpr.ThreadID(j.ref, p.asked.Key, base.SHA), base.SHA)
	asked := ticketpr.State{Facts: facts, Into: p.repo.DefaultBranch, Draft: change.Draft{Ticket: p.ticket}}
	switch done, found, err := p.Done(ctx, asked.Under(p.show)); {
	case err != nil: // the deciding job checks again
		j.warnOf("whether this ticket has already been carried out could not be read", err)
	case found:
		return done, nil
	}
	p.tellUndecidable(p.origin, false)
	return p.draft(ctx, facts, nil)
}

// newTicketDraft returns the ticket's draft for a job that drafts, after checking the gate's rules.
func (j *job) newTicketDraft(ctx context.Context) (*ticketDraft, error) {
	approvals, err := j.gateRules(ctx)
	if err != nil {
		return nil, err
	}
	p, err := j.decidedTicketDraft(ctx)
	if p.answered = approvals; err == nil {
		p.show, err = driver.TicketShow(ctx, p.api, p.ref, p.config.Context, p.asked.Key, p.repo.Private)
	}
	if err == nil {
		p.ticket, err = p.ReadTicket(ctx, p.asked, p.config, p.Settings, p.api)
	}
	return p, err
}

// facts returns the manifest of a draft of this run.
func (p *ticketDraft) facts(thread, base string) checkpoint.Manifest {
	m := p.withRun(p.Manifest(p.origin.Subject, p.Settings, implement.Fingerprint()), p.answered)
	m.Thread, m.Subject.Head, m.ConfigFingerprint = thread, base, p.config.Fingerprint()
	return m
}

// draft runs the graph up to the gate or, if revised is not nil, from that draft's gate to the
// next one, and stores the parked draft.
func (p *ticketDraft) draft(ctx context.Context, facts checkpoint.Manifest,
	revised *revision) (driver.Report, error) {
	facts.Subject.Digest = implement.Digest(p.ticket)
	sha := facts.Subject.Head
	entries, err := p.api.AllEntries(ctx, p.ref.Owner, p.ref.Repo, sha) // for the modes, which the archive lacks
	if err != nil {
		return driver.Report{}, err
	}
	store, begun := p.progress(ctx, facts, revised)
	d := p.driver(store, facts.Thread)
	steps, begin, err := d.Propose(ctx, driver.Proposing{
		Facts: facts, Into: p.repo.DefaultBranch, Ticket: p.ticket, Show: p.show, Config: p.config,
		Settings: p.Settings, Only: p.Only(),
		Place: wire.Place{Commit: sha, Name: p.ref.FullName(), Unkept: true,
			Tree: wire.ArchiveOf(p.api, p.ref.Owner, p.ref.Repo, sha)},
		Entries: entries,
	})
	if err != nil {
		return driver.Report{}, err
	}
	var answer *graph.Answer
	if revised != nil && !begun {
		answer = driver.AnswerTo(revised.from.Manifest, revised.answer)
	}
	v, err := d.Advance(ctx, steps, begin, answer)
	if err != nil {
		return driver.Report{}, p.storeUnfinished(ctx, store, err)
	}
	r := p.reportOn(v)
	if v.Outcome != ticketpr.Paused { // r would name the draft that was revised
		r.Code, r.Digest, r.Artifact = "", "", ""
		p.deleteProgress(ctx, store)
		return r, nil
	}
	var replaced []checkpoint.Draft
	if revised != nil {
		replaced = append(replaced, revised.from.Draft)
	}
	if r, err = p.storeDraft(ctx, r, store, p.decisions(v.State), replaced); err == nil {
		shown := v.State.Proposal()
		shown.Review.Web = p.ref.Web()
		r.Page = proposal.Draft(shown, p.howToDecide(r, v.State.Iteration < gate.MaxRounds))
	}
	return r, err
}

// reviseTicket has the model draft a ticket's change again, as the feedback asks.
func (j *job) reviseTicket(ctx context.Context) (driver.Report, error) {
	if err := j.checkFeedback(); err != nil {
		return driver.Report{}, err
	}
	p, err := j.newTicketDraft(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	return p.revise(ctx, func(ticketpr.State) error { return nil }, func(ctx context.Context,
		o *handoff.Draft[ticketpr.State], answer decision.Answer) (driver.Report, error) {
		r, err := p.draft(ctx, p.facts(o.Manifest.Thread, o.Manifest.Subject.Head), &revision{o, answer})
		if err == nil && r.Outcome == ticketpr.Aborted { // so that nobody can approve the draft that was revised
			ended := decision.Decision{Verdict: decision.Abort, Note: r.Message}
			_, err = p.decisions(o.State).Decide(ctx, p.record(o.Draft).With(ended), false, o.Manifest.CreatedAt)
		}
		return r, err
	})
}

// comment runs the job that comments on the ticket where its pull request is, or that the
// draft was rejected. It has the tracker's credentials, but may not write to the repository.
func (j *job) comment(ctx context.Context) (_ driver.Report, err error) {
	ctx, span := trace.Run(ctx, "comment", j.began)
	defer func() { span.End(err) }()
	p, err := j.decidedTicketDraft(ctx)
	if err != nil {
		return driver.Report{}, err
	}
	if err := j.checkNamed(); err != nil {
		return driver.Report{}, err
	}
	shown := cmp.Or(j.Digest, j.Code)
	made, found, err := apply.Earlier(ctx, j.api, j.ref, shown, "")
	if err != nil {
		return driver.Report{}, err
	}
	text, address := "Draft pull request for this ticket:", made.URL
	switch {
	case !found && j.Decision == decision.Abort:
		text, address = "The change that was drafted for this ticket was rejected, nothing was pushed:",
			driver.RunPage(p.ref, p.env.RunID)
	case !found:
		left := fmt.Sprintf("no pull request of draft %.16s is there, so %s is not commented on", shown, p.asked.Key)
		if p.config.Implement.PullRequest == "link" {
			left += ": a person opens it, by the link in the summary of the job that pushed its branch; re-run this " +
				"job then"
			j.runner.Notice(left)
		}
		return driver.Report{Message: left}, nil
	}
	o, err := p.TicketSources(p.asked, p.config, p.Settings, p.api)
	if err != nil {
		return driver.Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, max(o.Limit, 10*time.Second))
	defer cancel()
	said, err := ticketcontext.Comment(ctx, p.asked.From, text, address, o)
	if err != nil {
		return driver.Report{}, err
	}
	return driver.Report{Message: p.asked.Key + map[bool]string{true: " was told of ", false: " knew of "}[said] +
		address}, nil
}

// progress returns the store of a draft in progress. It contains what an earlier job had paid
// for when it was interrupted, and then begun is true, or the draft that is revised. Paid
// results are stored from time to time.
func (p *ticketDraft) progress(ctx context.Context, facts checkpoint.Manifest,
	revised *revision) (store *artifactstore.Store, begun bool) {
	empty := func() *artifactstore.Store {
		return p.progressStore(func(saved graph.Saved, n int) (string, []byte, error) {
			packed, err := handoff.PackPartial(saved, n, facts, p.Protection)
			return ticketpr.Names.Partial(p.origin.Subject, n, packed.Digest), packed.Zip, err
		})
	}
	if store = empty(); revised != nil {
		_ = store.Memory.Save(ctx, facts.Thread, revised.from.Snapshot) // it is in memory
	}
	if p.Anew {
		return store, false
	}
	found := handoff.Candidates(p.checkpoints(p.listStored(ctx), p.origin.Subject), p.repo.ID)
	for _, left := range p.origin.Earlier(ctx, found, func(d checkpoint.Draft, saved graph.Saved) error {
		if begun || d.Manifest.Thread != facts.Thread || d.Manifest.Partial == 0 && !p.mayKeep(ctx, d, facts.RunID) {
			return nil
		}
		earlier := empty()
		if err := earlier.Prime(ctx, facts.Thread, saved, 0, ""); err != nil {
			return err
		}
		err := p.checkCanContinue(ctx, earlier, facts, revised)
		if begun = err == nil; begun {
			store = earlier
		}
		return err
	}) {
		p.tell(left.Error())
	}
	return store, begun
}

// mayKeep reports whether a run may show a stored draft again: its own, if nobody has decided on it, or on another of
// the ticket since it was made.
func (p *ticketDraft) mayKeep(ctx context.Context, d checkpoint.Draft, run int64) bool {
	if d.Manifest.RunID != run || !slices.Equal(d.Manifest.Approvals, p.answered) { // answered since
		return false
	}
	claims, err := p.records(p.origin.Subject, p.origin.Branch).Claims(ctx, d.Code)
	return err == nil && !slices.ContainsFunc(claims, func(c handoff.Claim) bool {
		return c.Acted() && (c.Record.Digest == d.Digest || c.Record.At.After(d.Manifest.CreatedAt))
	})
}

// checkCanContinue refuses progress that was made with another ticket text, other modules, another model
// or other feedback, and progress of a draft that has ended or expired. A waiting draft names its run and its
// environment, so only that run continues with it, for that environment.
func (p *ticketDraft) checkCanContinue(ctx context.Context, store graph.Store, facts checkpoint.Manifest,
	revised *revision) error {
	v, err := p.driver(store, facts.Thread).Proposed(ctx)
	if err != nil {
		return err
	}
	by, err := p.NewReviewer(p.Settings, nil)
	if err != nil {
		return err
	}
	by.NameModel(p.config)
	s := v.State
	ended := v.Outcome != ticketpr.Failed && (v.Outcome != ticketpr.Paused || s.Facts.RunID != facts.RunID ||
		s.Facts.Environment != facts.Environment || checkpoint.CheckExpiry(s.Facts, facts.CreatedAt) != nil)
	if !revised.isStartOf(s) || s.Scope.Beyond(p.Only()) != "" || ended || s.Error != "" ||
		s.Facts.Subject.Digest != facts.Subject.Digest || s.Model != by.Model {
		return errors.New("its draft has ended, or had another ticket's text, other modules, another model or feedback")
	}
	return nil
}

// isStartOf reports whether a state belongs to this revision or, if r is nil, to a first draft.
func (r *revision) isStartOf(s ticketpr.State) bool {
	if r == nil {
		return len(s.Rounds) == 0
	}
	n := len(s.Rounds)
	return n == r.from.State.Iteration+1 && s.Rounds[n-1].Digest == r.from.Digest &&
		s.Rounds[n-1].Feedback == r.answer.Record.Feedback
}

// revision is a draft to be drafted again, and the answer that asks for it.
type revision struct {
	from   *handoff.Draft[ticketpr.State]
	answer decision.Answer
}
