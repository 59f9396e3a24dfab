// Package reviewpr is the graph that reviews a change:
//
//	ingest → triage → context → review each file → overview → aggregate → gate → post
//	                                                              ↑          └→ revise → redraft
//
// It wires steps to fields and routes. Each step is implemented in its own
// package; the outside world comes in through Steps. Start reading at New.
package reviewpr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/triage"
)

// Name and Version identify the graph in every snapshot. Raise Version when the meaning of a
// snapshot changes, including with a new node, field or member of Draft: a program that does
// not know a member reports the snapshot as damaged instead of as another version's.
const (
	Name    = "reviewpr"
	Version = 9
)

// The outcomes of a run: those of a waiting draft, and the graph's ends.
const (
	Paused  = "PAUSED"
	Kept    = "KEPT"
	Skipped = "SKIPPED"
	Clean   = "CLEAN"
	Failed  = "FAILED"
	Posted  = "POSTED"
	Aborted = "ABORTED"
)

// Steps connects a run to the outside world. A resume needs only Post and Posted.
type Steps struct {
	Ingest func(context.Context) (ingest.Change, error)
	Admit  func(context.Context, ingest.Change) (string, error) // returns "" to admit, otherwise the reason
	// prepares Reviewer for an admitted change and returns the run's facts; nil keeps the initial ones
	Ready    func(context.Context, ingest.Change) (Draft, error)
	Reviewer review.Reviewer
	Recall   func(context.Context, ingest.Change) ([]finding.Earlier, error) // what was said before; nil for nothing
	// fetches the context if the settings name a source; nil if there is none
	Context func(context.Context, State) ticket.Context
	// how much of the context to show for a change without a pull request; empty for none
	Show  ticket.Show
	Learn func(pages []prompt.Document, digest string) // receives the pages that Reviewer may read; nil to ignore them
	// receives what earlier reviews reported on a file; nil to ignore it
	Remind func(reported func(diff.File) []finding.Finding)
	// reviews the whole change; nil if no model is available
	Overview func(context.Context, review.Whole) (finding.Overview, error)
	Redraft  Redraft // nil if no model is available
	// returns the facts of a draft that this run revised; nil keeps the old ones
	Revised     func(Draft) Draft
	Concurrency int                            // files reviewed at one time
	Failed      func(path string, cause error) // receives the reviewer's own failure on a file; nil to ignore it
	Deadline    time.Time                      // when the review ends with what it has; zero for never
	Paid        Paid                           // what earlier runs paid for
	Elapsed     func() time.Duration           // since the run began; nil if not measured
	Stays       []finding.Finding              // findings of a withdrawn draft, which no reviewer can suppress
	Post        func(context.Context, State) (post.Posted, error)
	// Posted looks for the posted review, in case an earlier run posted it and died
	// before recording that. Nil if Post looks for itself.
	Posted func(context.Context, State) (post.Posted, bool, error)
}

// run is a graph being run: its steps and their shared state.
type run struct {
	Steps
	graph             *graph.Graph[State]
	full              fullContext
	reminded          sync.Once
	cut               cutoff
	reviews, redrafts fanOut
}

// New builds the graph over a store. Pass observers in o to follow its progress.
func New(steps Steps, store graph.Store, o ...graph.RunOption) (*graph.Flow[State], error) {
	g := graph.New[State](Name, Version)
	declare(g)
	r := &run{Steps: steps, graph: g, reviews: fanOut{name: reviewNode}, redrafts: fanOut{name: redraftNode}}
	side := graph.Concurrency(cmp.Or(steps.Concurrency, DefaultConcurrency))

	ingest := r.node(ingestNode, r.ingest, "draft", "pr", "files", "findings", "flags", "earlier", "reason", "lacks")
	triage := r.node(triageNode, r.triage, reviewsField, "reason", "earlier")
	wanted := r.node(contextNode, r.context, askedField)
	review := graph.Each(g, reviewNode, r.review, g.Named(reviewsField, usageField, "reused"), side,
		graph.OnError(r.failedUpdate), graph.Unreached(r.unreached))
	overview := r.node(overviewNode, r.overview, wholeField, usageField)
	aggregate := r.node(aggregateNode, r.aggregate, "draft", "comments", "earlier", "summaryBody", "reason")
	asked := graph.Gate(g, gateNode, State.ask, r.decide,
		g.Named("approved", "decision", "comments", "earlier", "summaryBody", wholeField))
	revise := r.node(reviseNode, r.revise, "draft", "decision", "rounds")
	redraft := graph.Each(g, redraftNode, r.redraft, g.Named(reviewsField, usageField), side,
		graph.OnError(r.feedbackFailed), graph.Unreached(r.unrevised))
	post := g.Effect(postNode, traceStep(postNode, r.post), r.findPosted, g.Named("reviewUrl"))

	skipped, clean, failed := graph.End(Skipped), graph.End(Clean), graph.End(Failed)
	posted, aborted := graph.End(Posted), graph.End(Aborted)

	g.Start(ingest)
	g.Edge(ingest, triage)
	g.Route(triage, byTriage(wanted, skipped), wanted, skipped)
	g.Route(wanted, byFile(review, overview), review, overview)
	g.Edge(review, overview)
	g.Edge(overview, aggregate)
	g.Route(aggregate, byFindings(asked, clean, failed), asked, clean, failed)
	approved := func(s State) *bool { return s.Approved }
	g.Route(asked, handoff.Next(approved, post, revise, aborted), post, revise, aborted)
	g.Route(revise, byFeedback(redraft, aggregate), redraft, aggregate)
	g.Edge(redraft, aggregate)
	g.Edge(post, posted)
	return g.Build(store, append(slices.Clip(o), graph.WithDeadline(steps.Deadline))...)
}

// DefaultConcurrency is the number of files that are reviewed at a time.
const DefaultConcurrency = 8

// node declares a step and the fields to copy from the state it returns. A field with a
// reducer must hold only what is new.
func (r *run) node(name string, step func(context.Context, State) (State, error), fields ...string) graph.Node {
	return r.graph.Node(name, traceStep(name, func(ctx context.Context, s State) (graph.Update, error) {
		s, err := step(ctx, s)
		if err != nil {
			return graph.Update{}, err
		}
		return r.graph.Kept(s, fields...), nil
	}), r.graph.Named(fields...))
}

func (r *run) ingest(ctx context.Context, s State) (_ State, err error) {
	change, err := r.Ingest(ctx)
	if err != nil {
		return s, err
	}
	if r.Admit != nil {
		if s.Reason, err = r.Admit(ctx, change); err != nil {
			return s, err
		}
	}
	if r.Ready != nil && s.Reason == "" {
		if s.Draft, err = r.Ready(ctx, change); err != nil {
			return s, err
		}
	}
	if r.Recall != nil {
		if s.Earlier, err = r.Recall(ctx, change); ctx.Err() != nil {
			return s, ctx.Err()
		} else if err != nil { // earlier findings improve a review, but are not a precondition of one
			s.Lacks = []string{"What was said of this change before could not be read, so that findings may " +
				"be said again."}
		}
	}
	s.Draft = s.Draft.withChange(change)
	s.Draft.Unread, s.Draft.UsedIDs = len(s.Lacks) > 0, max(s.Draft.UsedIDs, maxEarlierID(s.Earlier))
	if s.Reason != "" {
		s.Draft.Unlisted = 0 // nothing needed to be covered
	}
	seen := s.Draft.inspect(change)
	s.Pull, s.Files, s.Flags, s.Findings = seen.Pull, seen.Files, seen.Flags, append(seen.Findings, r.Stays...)
	return s, nil
}

// inspect returns the change in the form that all later steps see.
func (d Draft) inspect(c ingest.Change) triage.Inspected {
	o := d.triage()
	if c.Settings != "" {
		o.Settings = c.Settings
		if !d.Rules { // instructions are shown to a model
			o.Instructions = c.Config.Instructions
		}
	}
	return triage.Inspect(ingest.Fit(c.Files, ingest.MaxPatches, o.Reviews), c.Pull, o)
}

// ToReview returns the files of a change that will be reviewed.
func ToReview(c ingest.Change) []diff.File {
	d := Draft{}.withChange(c)
	files, _ := triage.Files(d.inspect(c).Files, d.triage())
	for i, f := range files {
		files[i], _ = d.triage().Part(f)
	}
	return files
}

// Linted returns the files of a change whose linter results are shown: those to review.
func Linted(c ingest.Change) []diff.File {
	o := Draft{}.withChange(c).triage()
	return slices.DeleteFunc(slices.Clone(c.Files), func(f diff.File) bool { return !o.Reviews(f) })
}

func (r *run) triage(_ context.Context, s State) (State, error) {
	if s.Reason != "" {
		return s, nil
	}
	var chosen []diff.File
	chosen, s.FileReviews = triage.Files(s.Files, s.Draft.triage())
	switch covered := s.Draft.Unlisted == 0; {
	case covered && len(s.Files) == 0:
		s.Reason = "the change is empty"
	case covered && len(chosen) == 0 && allCovered(s.FileReviews) && len(s.Findings)+len(s.Flags) == 0:
		s.Reason = "no changed file is one to review"
	}
	if s.Reason != "" {
		// the fate of earlier findings under a change that is not reviewed
		_, s.Earlier = aggregate.Findings(aggregate.Input{Files: s.Files, Reviews: s.FileReviews, Earlier: s.Earlier,
			Covered: s.Draft.Unlisted == 0})
	}
	return s, nil
}

// byTriage ends a run that was given a reason to stop.
func byTriage(next, skipped graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		if s.Reason != "" {
			return graph.To(skipped)
		}
		return graph.To(next)
	}
}

// byFile sends every file that has no result yet to its own review.
func byFile(each graph.Fan[task], none graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		judged := map[string]bool{}
		for _, r := range s.FileReviews {
			judged[r.Path] = true
		}
		var todo []task
		for i, file := range s.Files {
			if !judged[file.Path] {
				todo = append(todo, task{File: i, Path: file.Path})
			}
		}
		// The least important files come last, where a budget or a deadline cuts.
		o, last := s.Draft.triage(), map[string]int{}
		for _, t := range todo {
			if _, claim := o.Part(s.Files[t.File]); claim != "" {
				last[t.Path] = 1
			}
		}
		order.Stable(todo, func(a, b task) int {
			return cmp.Or(last[a.Path]-last[b.Path], triage.CompareRisk(s.Files[a.File], s.Files[b.File]))
		})
		if len(todo) == 0 {
			return graph.To(none)
		}
		return each.Over(todo)
	}
}

func (r *run) aggregate(_ context.Context, s State) (State, error) {
	r.reviews.end()
	r.redrafts.end()
	before := s.Comments
	s.Comments, s.Earlier = aggregate.Findings(aggregate.Input{
		Files: s.Files, Findings: slices.Concat(s.Findings, s.Draft.Linters.Findings), Reviews: s.resultsWithOverview(),
		Earlier: s.Earlier, Covered: s.Covered(), Used: s.Draft.UsedIDs, Inline: s.Draft.Config.Comments.Most(),
		PerRule: s.Draft.Config.Linters.Most(), Report: s.Draft.Config.Report,
	})
	s.Earlier = append(s.Earlier, s.omittedFindings(before)...)
	if r.Elapsed != nil {
		s.Draft.Seconds = r.Elapsed().Round(time.Millisecond).Seconds()
	}
	s.SummaryBody, _ = post.Rendered(s.Review())
	s.Reason = s.unreadReason()
	return s, nil
}

// byFindings goes to the gate if there is something to decide or something was not
// read. A run never ends clean without full coverage, nor if a person's comment
// suppresses what was found. A draft that was revised at a person's request goes
// back to a person.
func byFindings(gate, clean, failed graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		switch {
		case s.Reason != "":
			return graph.To(failed)
		case len(finding.Kept(s.Comments)) == 0 && !s.mustBeSeen() && !s.suppresses():
			return graph.To(clean)
		}
		return graph.To(gate)
	}
}

// ask returns what the approver decides about: the review as it will be posted.
func (s State) ask() (gate.Ask, error) {
	return gate.NewAsk(s.Draft.Thread, s.Draft.Subject.Digest, finding.Kept(s.Comments), s.Shown()), nil
}

// checkAsk refuses a gate's question that does not match the current draft.
func (s State) checkAsk(asked []byte) error {
	now, _ := s.ask()
	return gate.Same(asked, now)
}

// decide applies the approver's changes and renders the review that will be posted.
func (r *run) decide(s State, a decision.Answer) (graph.Update, error) {
	_, err := a.Decision.Check(s.Items())
	if err = cmp.Or(err, a.Decision.CheckOverview(s.postsOverview())); err != nil {
		return graph.Update{}, err
	}
	if a.Decision.Verdict == decision.Revise {
		return r.graph.Kept(State{Decision: &a.Record}, "decision"), gate.CheckRounds(len(s.Rounds))
	}
	approved := a.Decision.Verdict == decision.Approve
	s.Comments = finding.Apply(a.Decision, s.Comments)
	s.Earlier = finding.MarkDropped(a.Decision, s.Earlier, a.Record.By)
	drafted := s.Whole.Text
	s.Whole.Text, s.Whole.Dropped = a.Decision.Overview(drafted)
	s.Whole.Edited = s.Whole.Text != drafted
	s.SummaryBody, _ = post.Rendered(s.Review())
	s.Approved, s.Decision = &approved, &a.Record
	return r.graph.Kept(s, "approved", "decision", "comments", "earlier", "summaryBody", wholeField), nil
}

func (r *run) post(ctx context.Context, s State) (graph.Update, error) {
	if r.Post == nil {
		return graph.Update{}, fmt.Errorf("this job cannot post")
	}
	posted, err := r.Post(ctx, s)
	if err != nil {
		return graph.Update{}, err
	}
	return r.graph.Kept(State{ReviewURL: posted.URL}, "reviewUrl"), nil
}

// findPosted is called after a run that died between its intent to post and the
// record that it had posted (G31).
func (r *run) findPosted(ctx context.Context, s State) (graph.Update, bool, error) {
	if r.Posted == nil {
		return graph.Update{}, false, nil
	}
	posted, done, err := r.Posted(ctx, s)
	return r.graph.Kept(State{ReviewURL: posted.URL}, "reviewUrl"), done, err
}

func allCovered(files []finding.FileReview) bool {
	return !slices.ContainsFunc(files, func(f finding.FileReview) bool { return !f.Covered() })
}
