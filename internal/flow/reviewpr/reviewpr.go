// Package reviewpr is the graph that reviews a change:
//
//	ingest → triage → context → review each file → overview → aggregate → gate → post
//	                                                              ↑          └→ revise → redraft
//
// It wires steps to fields and routes. What a step does lives in the step's
// package; what the outside world is comes in through Steps. Start reading at New.
package reviewpr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/aggregate"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/gate"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/post"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/triage"
)

// Name and Version name the graph in every snapshot. Version rises when what a
// snapshot means changes, also with a new node or field. The script damaged.txtar of
// app's tests has the number too.
const (
	Name    = "reviewpr"
	Version = 7
)

// The outcomes of a run: those of a draft that waits, and the graph's ends.
const (
	Paused  = "PAUSED"
	Kept    = "KEPT"
	Skipped = "SKIPPED"
	Clean   = "CLEAN"
	Failed  = "FAILED"
	Posted  = "POSTED"
	Aborted = "ABORTED"
)

// Steps is the outside world of a run. A resume needs Post and Posted alone.
type Steps struct {
	Ingest func(context.Context) (ingest.Change, error)
	Admit  func(context.Context, ingest.Change) (string, error) // "" admits, else the reason
	// prepares Reviewer for an admitted change, and gives the run's facts; nil for those it began with
	Ready    func(context.Context, ingest.Change) (Draft, error)
	Reviewer review.Reviewer
	Recall   func(context.Context, ingest.Change) ([]finding.Earlier, error) // what was said before; nil for nothing
	// fetches what was asked for, where the settings name a source; nil for nobody
	Context func(context.Context, State) ticket.Context
	// of it, for a change that is no pull request's; empty for none
	Show  ticket.Show
	Learn func(pages []prompt.Document, digest string) // is given the pages that Reviewer may read; nil for nobody
	// looks at the whole change; nil where no model is at hand
	Overview func(context.Context, review.Whole) (finding.Overview, error)
	Redraft  Redraft // nil where no model is at hand
	// the facts of a draft that this run revised; nil for those it had
	Revised     func(Draft) Draft
	Concurrency int                            // files under review at one time
	Failed      func(path string, cause error) // is told why the reviewer failed on a file; nil for nobody
	Deadline    time.Time                      // when the review ends with what it has; zero for never
	Paid        Paid                           // what earlier runs paid for
	Elapsed     func() time.Duration           // since the run began; nil where nobody notes it
	Stays       []finding.Finding              // of a withdrawn draft: no reviewer holds one back
	Post        func(context.Context, State) (post.Posted, error)
	// Posted looks whether the review stands, where a run before this one may
	// have posted it and did not live to say so. Nil where Post itself looks.
	Posted func(context.Context, State) (post.Posted, bool, error)
}

// New builds the graph over a store. Progress hangs on the observers in o.
func New(steps Steps, store graph.Store, o ...graph.RunOption) (*graph.Flow[State], error) {
	g := graph.New[State](Name, Version)
	f := declare(g)
	concurrency := steps.Concurrency
	if concurrency == 0 {
		concurrency = DefaultConcurrency
	}

	ingest := g.Node(ingestNode, traced(ingestNode, steps.ingest(f)),
		graph.Writes(f.draft, f.pr, f.files, f.findings, f.flags, f.earlier, f.reason, f.lacks))
	triage := g.Node(triageNode, traced(triageNode, steps.triage(f)), graph.Writes(f.fileReviews, f.reason, f.earlier))
	full := &inFull{}
	asked := g.Node(contextNode, traced(contextNode, steps.context(f, full)), graph.Writes(f.asked))
	cut := &shortened{paid: map[string]cost.Usage{}}
	reviews, redrafts := &fanOut{name: reviewNode}, &fanOut{name: redraftNode}
	review := graph.Each(g, reviewNode, steps.review(f, cut, reviews, full),
		graph.Writes(f.fileReviews, f.usage, f.reused),
		graph.Concurrency(concurrency), graph.OnError(steps.failed(f)), graph.Unreached(cut.unreached(f)))
	overview := g.Node(overviewNode, traced(overviewNode, steps.overview(f, reviews, full)),
		graph.Writes(f.whole, f.usage))
	aggregate := g.Node(aggregateNode, traced(aggregateNode, steps.aggregate(f, reviews, redrafts)),
		graph.Writes(f.draft, f.comments, f.earlier, f.summaryBody, f.reason))
	gate := graph.Gate(g, gateNode, ask, decide(f),
		graph.Writes(f.approved, f.decision, f.comments, f.earlier, f.summaryBody, f.whole))
	revise := g.Node(reviseNode, traced(reviseNode, steps.revise(f)), graph.Writes(f.draft, f.decision, f.rounds))
	redraft := graph.Each(g, redraftNode, steps.redraft(f, cut, redrafts, full), graph.Writes(f.fileReviews, f.usage),
		graph.Concurrency(concurrency), graph.OnError(steps.feedbackFailed(f)), graph.Unreached(cut.unrevised(f)))
	post := g.Effect(postNode, traced(postNode, steps.post(f)), steps.posted(f), graph.Writes(f.reviewURL))

	skipped, clean, failed := graph.End(Skipped), graph.End(Clean), graph.End(Failed)
	posted, aborted := graph.End(Posted), graph.End(Aborted)

	g.Start(ingest)
	g.Edge(ingest, triage)
	g.Route(triage, byTriage(asked, skipped), asked, skipped)
	g.Route(asked, byFile(review, overview), review, overview)
	g.Edge(review, overview)
	g.Edge(overview, aggregate)
	g.Route(aggregate, byFindings(gate, clean, failed), gate, clean, failed)
	g.Route(gate, byDecision(post, revise, aborted), post, revise, aborted)
	g.Route(revise, byFeedback(redraft, aggregate), redraft, aggregate)
	g.Edge(redraft, aggregate)
	g.Edge(post, posted)
	return g.Build(store, append(slices.Clip(o), graph.WithDeadline(steps.Deadline))...)
}

// DefaultConcurrency is how many files are under review at one time.
const DefaultConcurrency = 8

func (steps Steps) ingest(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		change, err := steps.Ingest(ctx)
		if err != nil {
			return graph.Update{}, err
		}
		reason := ""
		if steps.Admit != nil {
			if reason, err = steps.Admit(ctx, change); err != nil {
				return graph.Update{}, err
			}
		}
		if steps.Ready != nil && reason == "" {
			if s.Draft, err = steps.Ready(ctx, change); err != nil {
				return graph.Update{}, err
			}
		}
		var earlier []finding.Earlier
		var notes []string
		if steps.Recall != nil {
			if earlier, err = steps.Recall(ctx, change); ctx.Err() != nil {
				return graph.Update{}, ctx.Err()
			} else if err != nil { // it bettered the review, and is no reason to have none
				notes = append(notes, "What was said of this change before could not be read, so that findings may "+
					"be said again.")
			}
		}
		draft := s.Draft.of(change)
		draft.Unread, draft.UsedIDs = len(notes) > 0, max(draft.UsedIDs, usedBefore(earlier))
		if reason != "" {
			draft.Unlisted = 0 // nothing was to be covered
		}
		seen := draft.inspect(change)
		return graph.Updates(f.draft.Set(draft), f.pr.Set(seen.Pull), f.files.Set(seen.Files),
			f.findings.Set(append(seen.Findings, steps.Stays...)),
			f.flags.Set(seen.Flags), f.earlier.Set(earlier), f.reason.Set(reason), f.lacks.Set(notes)), nil
	}
}

// inspect is the change as everything behind it sees it.
func (d Draft) inspect(c ingest.Change) triage.Inspected {
	o := d.triage()
	if c.Settings != "" {
		o.Settings = c.Settings
		if !d.Rules { // a model is shown them
			o.Instructions = c.Config.Instructions
		}
	}
	return triage.Inspect(ingest.Fit(c.Files, ingest.MaxPatches, o.Reviews), c.Pull, o)
}

// ToReview are the files of a change that are going to be reviewed.
func ToReview(c ingest.Change) []diff.File {
	d := Draft{}.of(c)
	files, _ := triage.Files(d.inspect(c).Files, d.triage())
	for i, f := range files {
		files[i], _ = d.triage().Part(f)
	}
	return files
}

// Linted are the files of a change whose linters' results are shown: those to review.
func Linted(c ingest.Change) []diff.File {
	o := Draft{}.of(c).triage()
	return slices.DeleteFunc(slices.Clone(c.Files), func(f diff.File) bool { return !o.Reviews(f) })
}

func (steps Steps) triage(f fields) func(context.Context, State) (graph.Update, error) {
	return func(_ context.Context, s State) (graph.Update, error) {
		if s.Reason != "" {
			return graph.Update{}, nil
		}
		chosen, rest := triage.Files(s.Files, s.Draft.triage())
		update := f.fileReviews.Set(rest)
		if len(s.Files) == 0 && s.Draft.Unlisted == 0 {
			return graph.Updates(update, f.earlier.Set(s.left(rest)), f.reason.Set("the change is empty")), nil
		}
		if len(chosen) == 0 && allCovered(rest) && s.Draft.Unlisted == 0 && len(s.Findings)+len(s.Flags) == 0 {
			return graph.Updates(update, f.earlier.Set(s.left(rest)),
				f.reason.Set("no changed file is one to review")), nil
		}
		return update, nil
	}
}

// left is what became of the earlier findings by a change in which nothing is reviewed.
func (s State) left(results []finding.FileReview) []finding.Earlier {
	_, earlier := aggregate.Findings(aggregate.Input{Files: s.Files, Reviews: results, Earlier: s.Earlier,
		Covered: s.Draft.Unlisted == 0})
	return earlier
}

// byTriage ends a run that is not to go on.
func byTriage(next, skipped graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		if s.Reason != "" {
			return graph.To(skipped)
		}
		return graph.To(next)
	}
}

// byFile sends every file without a result yet to a review of its own.
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
		// What a budget or a deadline leaves out is what matters least.
		o, last := s.Draft.triage(), map[string]int{}
		for _, t := range todo {
			if _, claim := o.Part(s.Files[t.File]); claim != "" {
				last[t.Path] = 1
			}
		}
		slices.SortStableFunc(todo, func(a, b task) int {
			return cmp.Or(last[a.Path]-last[b.Path], triage.CompareRisk(s.Files[a.File], s.Files[b.File]))
		})
		if len(todo) == 0 {
			return graph.To(none)
		}
		return each.Over(todo)
	}
}

func (steps Steps) aggregate(f fields, spans ...*fanOut) func(context.Context, State) (graph.Update, error) {
	return func(_ context.Context, s State) (graph.Update, error) {
		for _, span := range spans {
			span.end()
		}
		before := s.Comments
		s.Comments, s.Earlier = aggregate.Findings(aggregate.Input{
			Files: s.Files, Findings: slices.Concat(s.Findings, s.Draft.Linters.Findings), Reviews: s.found(),
			Earlier: s.Earlier, Covered: s.Covered(), Used: s.Draft.UsedIDs, Inline: s.Draft.Config.Comments.Most(),
			PerRule: s.Draft.Config.Linters.Most(), Report: s.Draft.Config.Report,
		})
		s.Earlier = append(s.Earlier, s.leftOut(before)...)
		if steps.Elapsed != nil {
			s.Draft.Seconds = steps.Elapsed().Round(time.Millisecond).Seconds()
		}
		body, _ := post.Rendered(s.Review())
		return graph.Updates(f.draft.Set(s.Draft), f.comments.Set(s.Comments), f.earlier.Set(s.Earlier),
			f.summaryBody.Set(body), f.reason.Set(s.unread())), nil
	}
}

// byFindings calls a person where there is something to decide or something
// that was not read. A green, empty result without full coverage does not exist, nor
// one of which a person's comment holds back the rest. A draft that a person had
// revised goes back to a person.
func byFindings(gate, clean, failed graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		switch {
		case s.Reason != "":
			return graph.To(failed)
		case len(finding.Kept(s.Comments)) == 0 && !s.mustBeSeen() && !s.keepsBack():
			return graph.To(clean)
		}
		return graph.To(gate)
	}
}

// ask is what the approver decides about: the review as it will be posted.
func ask(s State) (gate.Ask, error) {
	return gate.NewAsk(s.Draft.Thread, s.Draft.DiffDigest, finding.Kept(s.Comments), s.Shown()), nil
}

// decide applies the approver's changes; what is posted is rendered from them.
func decide(f fields) func(State, decision.Answer) (graph.Update, error) {
	return func(s State, a decision.Answer) (graph.Update, error) {
		_, err := a.Decision.Check(s.Items())
		if err = cmp.Or(err, a.Decision.CheckOverview(s.postsOverview())); err != nil {
			return graph.Update{}, err
		}
		if a.Decision.Verdict == decision.Revise {
			return f.decision.Set(&a.Record), gate.CheckRounds(len(s.Rounds))
		}
		approved := a.Decision.Verdict == decision.Approve
		s.Comments, s.Earlier = finding.Apply(a.Decision, s.Comments), finding.End(a.Decision, s.Earlier, a.Record.By)
		s.Whole.Text, s.Whole.Dropped = a.Decision.Overview(s.Whole.Text)
		body, _ := post.Rendered(s.Review())
		return graph.Updates(f.approved.Set(&approved), f.decision.Set(&a.Record), f.comments.Set(s.Comments),
			f.earlier.Set(s.Earlier), f.summaryBody.Set(body), f.whole.Set(s.Whole)), nil
	}
}

func byDecision(post, revise, aborted graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		switch {
		case s.Approved != nil && *s.Approved:
			return graph.To(post)
		case s.Approved == nil:
			return graph.To(revise)
		}
		return graph.To(aborted)
	}
}

func (steps Steps) post(f fields) func(context.Context, State) (graph.Update, error) {
	return func(ctx context.Context, s State) (graph.Update, error) {
		if steps.Post == nil {
			return graph.Update{}, fmt.Errorf("this job cannot post")
		}
		posted, err := steps.Post(ctx, s)
		if err != nil {
			return graph.Update{}, err
		}
		return f.reviewURL.Set(posted.URL), nil
	}
}

// posted is asked after a run that ended between its intent to post and the
// word that it had (G31).
func (steps Steps) posted(f fields) func(context.Context, State) (graph.Update, bool, error) {
	return func(ctx context.Context, s State) (graph.Update, bool, error) {
		if steps.Posted == nil {
			return graph.Update{}, false, nil
		}
		posted, done, err := steps.Posted(ctx, s)
		return f.reviewURL.Set(posted.URL), done, err
	}
}

func allCovered(files []finding.FileReview) bool {
	return !slices.ContainsFunc(files, func(f finding.FileReview) bool { return !f.Covered() })
}
