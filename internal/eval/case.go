package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/pr-review-action/internal/agent"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/judge"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/wire"
)

// runCase runs a case through the graph up to the gate, and scores the draft there.
func (r *run) runCase(ctx context.Context, i int) (result score.Result, err error) {
	defer func() { err = errors.Join(err, r.review[i].close(), r.judging[i].close()) }()
	c := r.Cases[i]
	state, outcome, err := r.draft(ctx, i)
	if err != nil {
		return result, err
	}
	result = score.Result{ID: c.ID, Language: c.Language, Kind: c.Kind, Outcome: outcome, Usage: state.Usage,
		Unread: notRead(state)}
	result.Lost, result.Moved = r.traceLosses(i, state)
	if err := r.scoreCase(ctx, &result, i, state); err != nil {
		return result, err
	}
	if c.Ticket != nil {
		result.ScoreTicket(*c.Ticket, state.Whole.Criteria, state.Whole.Unasked)
	}
	score.Grade(&result)
	return result, nil
}

// draft runs the graph over a store in memory: the journal keeps what has to last.
func (r *run) draft(ctx context.Context, i int) (reviewpr.State, string, error) {
	ctx, over := context.WithCancel(ctx) // closes the case's clone
	defer over()
	change, err := r.Cases[i].Change()
	if err != nil {
		return reviewpr.State{}, "", err
	}
	change.Config = r.Config
	if c := r.Cases[i]; c.Ticket != nil { // make it look like a pull request with a ticket source
		change.Config.Context.Sources = []config.Source{{Kind: config.SourceJira}}
		change.Pull = &pull.Pull{Title: c.Title, Body: c.Description, Private: true}
	}
	reviewer, err := r.reviewer(ctx, i, change.Files)
	if err != nil {
		return reviewpr.State{}, "", err
	}
	steps := reviewpr.Steps{
		Ingest:      func(context.Context) (ingest.Change, error) { return change, nil },
		Reviewer:    reviewer,
		Concurrency: r.Concurrency,
		Context:     func(context.Context, reviewpr.State) ticket.Context { return r.Cases[i].Context() },
	}
	if looks, ok := reviewer.(caseReviewer); ok && r.Cases[i].Ticket != nil {
		steps.Overview = looks.overview
	}
	flow, err := reviewpr.New(steps, graph.NewMemory(), graph.WithClock(func() time.Time { return time.Time{} }))
	if err != nil {
		return reviewpr.State{}, "", err
	}
	draft := reviewpr.Draft{GateFrom: r.GateFrom, Rules: r.Reviewer.Chat == nil, Model: r.Reviewer.Name}
	got, err := flow.Run(ctx, change.Thread, reviewpr.State{Draft: draft})
	if err != nil {
		return reviewpr.State{}, "", fmt.Errorf("reviewing: %w", err)
	}
	if err := r.meter.refusal(); err != nil && len(notRead(got.State)) > 0 {
		return reviewpr.State{}, "", err
	}
	if got.Status == graph.Paused {
		return got.State, got.State.Outcome(), nil
	}
	return got.State, got.End, nil
}

func (r *run) reviewer(ctx context.Context, i int, files []diff.File) (review.Reviewer, error) {
	if r.Reviewer.Chat == nil {
		return review.Rules{}, nil
	}
	around, rests, err := r.repoContext(ctx, r.Cases[i], files)
	if err != nil {
		return nil, fmt.Errorf("reading its files: %w", err)
	}
	model := r.model(r.meter.wrap(r.Reviewer.Chat, r.Budget.Price), around)
	model.Once, model.OnFailure = r.review[i].once, r.recordFailure
	return caseReviewer{model, model, subject{evalCase: &r.Cases[i], evidence: rests}}, nil
}

// model returns the reviewer that asks a model, with tools if the case has files to look at.
func (r *run) model(c review.Chatter, around wire.RepoContext) *review.Model {
	o := review.Options{Review: c, Random: r.Random, Tools: around.Tools, Head: around.Head,
		Guides: review.Guides{Language: r.Config.Language, Guidelines: r.Config.GuidelinesFor}}
	if r.Config.Verifies() {
		o.Verify = c
	}
	if around.Head != nil {
		o.Pack, o.PackTokens = around.Pack, r.packTokens()
		o.Limits = agent.Limits{Turns: r.Config.Agent.Turns(), Time: r.Config.Agent.Time()}
	}
	return review.NewModel(o)
}

// caseReviewer puts what a question is about into its context.
type caseReviewer struct {
	review.Reviewer
	model *review.Model
	about subject
}

type subjectKey struct{}

type subject struct {
	evalCase *dataset.Case
	evidence [][]oracle.Line // by known finding: the lines outside the diff that decide it
	file     diff.File
}

// Review reviews f with the underlying reviewer.
func (c caseReviewer) Review(ctx context.Context, f diff.File) (finding.FileReview, error) {
	c.about.file = f
	return c.Reviewer.Review(context.WithValue(withAbout(ctx, f.Path), subjectKey{}, c.about), f)
}

// overview asks about the whole change. It is called for cases with a ticket, which says what
// the change is for.
func (c caseReviewer) overview(ctx context.Context, w review.Whole) (finding.Overview, error) {
	return c.model.Overview(context.WithValue(withAbout(ctx, "the whole change"), subjectKey{}, c.about), w)
}

func notRead(s reviewpr.State) (files []string) {
	for _, f := range s.Coverage() {
		if !f.Covered() {
			files = append(files, fmt.Sprintf("%s: %s", f.Path, cmp.Or(string(f.Reason), string(f.State))))
		}
	}
	return files
}

func (r *run) scoreCase(ctx context.Context, result *score.Result, i int, s reviewpr.State) error {
	c, posted, patches := r.Cases[i], postedFindings(s), patchesOf(s)
	asking := ruling{Result: result, judge: r.judge(i), patches: patches}
	pairs, err := score.Match(score.Candidates(c.Golden, posted, patches), func(p score.Pair) (bool, error) {
		return asking.ruleOnSame(ctx, c.Golden[p.Golden], posted[p.Finding], p)
	})
	if err != nil {
		return err
	}
	result.Record(c.Golden, posted, pairs)
	return asking.ruleOnValid(ctx, posted)
}

// ruling asks the judge about one case. Without a judge only the place decides.
type ruling struct {
	*score.Result
	judge   *judge.Judge
	patches map[string]string
}

func (r ruling) ruleOnSame(ctx context.Context, known dataset.Golden, f finding.Finding, p score.Pair) (bool, error) {
	if r.judge == nil {
		r.Rulings = append(r.Rulings, score.Ruling{Golden: p.Golden, Finding: f.ID, Distance: p.Distance, Yes: true})
		return true, nil
	}
	q := r.question(f)
	q.Issue = known.Issue
	said, err := r.judge.Same(withAbout(ctx, fmt.Sprintf("%s and known defect %d", f.ID, p.Golden+1)), q)
	return r.note(p.Golden, f.ID, p.Distance, said), err
}

// ruleOnValid asks about every finding that hits nothing whether it is a true defect
// anyway: the list of known defects is not complete.
func (r ruling) ruleOnValid(ctx context.Context, posted []finding.Finding) error {
	if r.judge == nil {
		return nil
	}
	for i, f := range posted {
		if r.Posted[i].Golden >= 0 {
			continue
		}
		said, err := r.judge.Valid(withAbout(ctx, f.ID+" on its own"), r.question(f))
		if err != nil {
			return err
		}
		r.Posted[i].Valid = r.note(-1, f.ID, 0, said)
	}
	return nil
}

func (r ruling) question(f finding.Finding) judge.Question {
	_, line := atHead(f, r.patches)
	return judge.Question{Path: f.Path, Title: f.Title, Body: f.Body, Line: line,
		Hunk: judge.Hunk(r.patches[f.Path], line)}
}

func patchesOf(s reviewpr.State) map[string]string {
	patches := map[string]string{}
	for _, f := range s.Files {
		patches[f.Path] = f.Patch
	}
	return patches
}

// atHead returns a finding's lines at the head, or its own lines if its patch gives none.
func atHead(f finding.Finding, patches map[string]string) (start, end int) {
	if start, end, ok := score.NewSide(f, patches[f.Path]); ok {
		return start, end
	}
	return f.StartLine, f.Line
}

func (r ruling) note(golden int, id string, distance int, said judge.Ruling) bool {
	r.Judging = cost.Add(r.Judging, said.Usage)
	r.Rulings = append(r.Rulings, score.Ruling{
		Golden: golden, Finding: id, Distance: distance, Yes: said.Yes, Votes: said.Votes, Steered: said.Steered,
		Reason: said.Reason,
	})
	return said.Yes
}

// traceLosses returns the findings that were lost or moved between the answers and the review.
func (r *run) traceLosses(i int, s reviewpr.State) (lost, moved []score.Loss) {
	answers := map[string][]string{}
	if j := r.review[i]; j != nil {
		for _, e := range j.exchanges() {
			answers[e.About] = append(answers[e.About], e.Answer.Text)
		}
	}
	in := score.Pipeline{Golden: r.Cases[i].Golden, Aggregated: s.Comments, Cut: render.Cut(s.Review())}
	for _, f := range s.FileReviews {
		in.Files = append(in.Files, score.FileAnswers{Answers: answers[f.Path], Review: f})
	}
	return score.Trace(in)
}

func postedFindings(s reviewpr.State) []finding.Finding {
	gone := map[string]bool{}
	for _, f := range render.Cut(s.Review()) {
		gone[f.ID] = true
	}
	return slices.DeleteFunc(finding.Kept(s.Comments), func(f finding.Finding) bool {
		flag := f.IsHiddenText() // for the approver; it claims no defect
		return gone[f.ID] || flag
	})
}
