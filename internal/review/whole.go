package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/ticket"
	"github.com/org/pr-review-action/internal/trace"
)

// Whole is a change whose files were reviewed, and what people wrote about it. The only step that
// may read the latter is Model.Overview (D10).
type Whole struct {
	Files                      []diff.File
	Reviews                    []finding.FileReview // of the files, in any order
	Found                      []finding.Finding    // by the reviews, and by rules
	Reported                   []finding.Finding    // by earlier reviews; no key covers it, as for a file
	Title, Description, Branch string
	// returns the discussion of the pull request, labeled by this tool, and notes on what could
	// not be read
	Discussion func(context.Context) (said []prompt.Document, notes []string)
	Context    ticket.Context // what the change was asked to do, in full
	Show       ticket.Show    // how much of Context may leave the job
	Digest     string         // identifies the context in keys
	// returns an earlier run's result for the same key; nil for none
	Known  func(key string) (finding.Overview, bool)
	Use    config.OverviewUse
	Report config.Report
}

// Overview asks what a change does as a whole, what is wrong with how its files work together, and
// whether it does what was asked for. Under ticket.ShowKey a separate call judges the criteria, of
// which only numbers, verdicts and lines are kept: no other call has read a ticket or a page. What
// could not be done is in the notes; the error says that the run ended, or that an answer could
// not be kept.
func (m *Model) Overview(ctx context.Context, w Whole) (finding.Overview, error) {
	o := overview{task: &task{Model: m}, Whole: w}
	o.Files = slices.Clone(w.Files)
	for i, f := range o.Files {
		o.Files[i] = f.Read()
	}
	err := o.run(ctx)
	o.result.Usage, o.result.Calls = o.out.Usage, o.out.Calls
	return o.result, err
}

type overview struct {
	*task
	Whole
	turn   prompt.Whole
	result finding.Overview
}

// run looks at the change, and judges the criteria if that takes a separate call.
func (o *overview) run(ctx context.Context) error {
	if o.Discussion != nil {
		o.turn.Discussion, o.result.Notes = o.Discussion(ctx)
	}
	o.fillTurn()
	o.key = o.wholeKey()
	if o.Known != nil {
		if known, ok := o.Known(o.key); ok {
			o.result, o.out.Usage, o.out.Calls = known, known.Usage, known.Calls
			return nil
		}
	}
	before := len(o.result.Notes)
	if err := o.look(ctx); err != nil {
		return err
	}
	if !o.Show.Words() && len(o.Context.Tickets)+len(o.Context.Criteria()) > 0 {
		if err := o.judge(ctx); err != nil {
			return err
		}
	}
	if len(o.result.Notes) == before && !o.out.Incomplete {
		o.result.Key = o.key
	}
	return nil
}

// fillTurn fills in what the question about the change may show.
func (o *overview) fillTurn() {
	t := &o.turn
	t.Title, t.Description, t.Branch = o.Redact.Redact(o.Title), o.Redact.Redact(o.Description),
		o.Redact.Redact(o.Branch)
	t.Language, t.Tests, t.Style = o.Guides.Language, o.Report.Tests, o.Report.Style
	t.Found, t.Reported = o.Found, o.Reported
	state := map[string]finding.State{}
	for _, r := range o.Reviews {
		state[r.Path] = r.State
	}
	for _, f := range o.Files {
		file := prompt.WholeFile{File: f, State: strings.ReplaceAll(string(state[f.Path]), "_", " ")}
		if _, err := f.Hunks(); err != nil || state[f.Path] == finding.Skipped {
			file.Patch = ""
		}
		t.Files = append(t.Files, file)
	}
	if o.Show.Words() {
		showContext(t, o.Context.Shown(o.Show))
		t.Judges = len(t.Criteria) > 0 || o.Show == ticket.ShowFull && len(t.Tickets) > 0
	}
}

// showContext copies the parts of the context that a question may show.
func showContext(t *prompt.Whole, c ticket.Context) {
	t.Tickets, t.Criteria, t.Pages = c.Tickets, c.Criteria(), Pages(c)
}

// Pages returns a context's pages as documents for a prompt.
func Pages(c ticket.Context) (all []prompt.Document) {
	for _, p := range c.Pages {
		if p.Description != "" {
			all = append(all, prompt.Document{Path: "page " + p.Key + ", " + p.Summary, Text: p.Description})
		}
	}
	return all
}

// wholeKey returns the question's key. It excludes the discussion and what was reported before, so
// that a paid answer stays valid.
func (o *overview) wholeKey() string {
	t := o.turn
	t.Discussion, t.Reported = nil, nil
	return Hash("whole", protocol, prompt.Fingerprint(), o.Options.Review.Identity(), string(o.Show), o.Digest,
		fmt.Sprint(o.limit(), t.Judges, o.Use == config.OverviewOff), t.Overview(noBoundary))
}

func (o *overview) look(ctx context.Context) error {
	q := question{
		task: overviewing, key: Hash(o.key, overviewing), chat: o.Options.Review,
		request: o.request(o.turn.Overviewing()), user: o.turn.Overview,
	}
	answer, err := o.answer(ctx, q, false)
	if err != nil {
		what := "The change was not looked at as a whole"
		if len(answer.found) > 0 {
			what = "Some findings on the change as a whole are missing"
		}
		if err := o.noteLeftOut(ctx, what, err); err != nil || len(answer.found) == 0 {
			return err
		}
	}
	if o.Use != config.OverviewOff {
		o.result.Text = clipOverview(*answer.Overview) // decode refuses an answer without one
	}
	found := o.redactFindings(answer.found)
	for i := range found {
		found[i] = o.checkQuote(found[i])
	}
	// Verify the severe ones, with the whole change in view.
	o.result.Findings, err = o.verifyWith(ctx, found, func(claims []finding.Finding, said []string) question {
		return question{
			key:     Hash(append(said, o.key, verifying)...),
			request: o.request(prompt.VerifyingWhole()),
			user:    func(b guard.Boundary) string { return o.turn.Verify(b, claims) },
		}
	})
	if err == nil && o.turn.Judges {
		o.takeVerdicts(answer)
	}
	return err
}

// answer asks, and asks again if the answer is unusable. If the second is no better, it returns
// the error together with the valid parts.
func (o *overview) answer(ctx context.Context, q question, judges bool) (wholeAnswer, error) {
	read := func(r Recorded) (wholeAnswer, error) {
		if err := endings[r.Ended]; err != nil {
			return wholeAnswer{}, err
		}
		return o.decode(r.Text, judges)
	}
	r, err := o.ask(ctx, q)
	if err != nil {
		return wholeAnswer{}, err
	}
	first, bad := read(r)
	if bad == nil {
		return first, nil
	}
	q.boundary, q.key = r.Boundary, Hash(q.key, r.Text, repairing)
	if problem, ok := errors.AsType[*brokenError](bad); ok && strings.Contains(r.Text, "{") &&
		len(r.Text) <= maxQuoted {
		q.task, q.user = repairing, func(b guard.Boundary) string { return o.turn.Repair(b, problem.problem, r.Text) }
	} else {
		asked := q.user
		q.task, q.user = asking, func(b guard.Boundary) string { return prompt.Again(asked(b)) }
	}
	if r, err = o.ask(ctx, q); err != nil {
		return first, err
	}
	second, err := read(r)
	if len(second.found) < len(first.found) { // a repair has not seen the change, so it must not remove anything
		return first, bad
	}
	return second, err
}

// noteLeftOut notes that something was left out. It returns an error only if the run has ended.
func (o *overview) noteLeftOut(ctx context.Context, what string, err error) error {
	why := string(reason(err))
	if errors.Is(err, cost.ErrSpent) {
		why = "the budget was spent"
	} else if stop := o.stopError(ctx, err); stop != nil {
		return stop
	}
	o.result.Notes = append(o.result.Notes, what+": "+why+".")
	return nil
}

// checkQuote checks a finding against its quote. Its lines must be in the diff.
func (o *overview) checkQuote(f finding.Finding) finding.Finding {
	file := o.fileOf(f.Path)
	checked, _ := newQuotes(file.Patch).check([]finding.Finding{f})
	f = checked[0]
	anchors, err := file.Anchors()
	if f.Filtered == "" && (err != nil || !anchors.Admit(string(f.Side), f.StartLine, f.Line)) {
		f.Filtered, f.Note = finding.Misquoted, "it stands on no line of the diff"
	}
	return f
}

// judge asks only for verdicts. Nothing else of the answer is kept, and neither question nor
// answer is part of a trace.
func (o *overview) judge(ctx context.Context) error {
	turn := o.turn
	showContext(&turn, o.Context)
	answer, err := o.answer(trace.Withheld(ctx), question{
		task: judging, key: Hash(o.key, judging), chat: o.Options.Review,
		request: o.request(prompt.Judging()), user: turn.Judge, keep: o.verdictsAlone,
	}, true)
	o.takeVerdicts(answer)
	if err != nil {
		return o.noteLeftOut(ctx, "The change was not held against what was asked", err)
	}
	return nil
}

// verdictsAlone reduces an answer to the numbers of existing criteria, known verdicts and lines of
// the diff, so that no word of the model is kept.
func (o *overview) verdictsAlone(r Recorded) Recorded {
	answer, err := o.decode(r.Text, true)
	if err != nil && r.Ended == "" {
		r.Ended = Ending(llm.ErrEmpty)
	}
	if r.Calls, r.State, r.Text = nil, nil, ""; r.Ended != "" {
		return r
	}
	known := &overview{task: o.task, Whole: o.Whole}
	known.Show = ticket.ShowKey
	known.takeVerdicts(answer)
	text, err := json.Marshal(wholeAnswer{Criteria: known.result.Criteria, Unasked: known.result.Unasked},
		json.Deterministic(true))
	if err == nil { // only numbers, and paths that were parsed from JSON
		r.Text = string(text)
	}
	return r
}
