package reviewpr

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/org/pr-review-action/internal/checkpoint"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/handoff"
	"github.com/org/pr-review-action/internal/pull"
)

// Subject returns how drafts of this graph are described and checked between jobs.
func Subject() handoff.Subject[State] {
	return handoff.Subject[State]{
		About: State.manifest, Intact: Intact, Anew: func(s State) bool { return !s.Draft.Again.IsZero() },
		Shown: func(s State) checkpoint.Shown { return checkpoint.Shown{Review: s.Shown()} },
	}
}

// Intact refuses a parked draft that differs from the one its gate asks about.
func Intact(view graph.View[State]) error {
	return handoff.Intact(view, view.State.checkAsk, view.State.Draft.Thread, view.State.Draft.ToolVersion)
}

// manifest returns the manifest of a parked draft.
func (s State) manifest() checkpoint.Manifest {
	m := s.Draft.Manifest
	kept := finding.Kept(s.Comments)
	m.Outcome, m.Findings = s.Outcome(), len(kept)
	m.Blockers, m.Majors = finding.Count(kept, finding.Blocker), finding.Count(kept, finding.Major)
	return m
}

// PackPartial returns the n-th partial checkpoint of a run under way, n from 1.
// Such a checkpoint can be continued but not decided.
func PackPartial(saved graph.Saved, n int, p checkpoint.Protection) (checkpoint.Draft, error) {
	d, err := runFacts(saved)
	if err != nil {
		return checkpoint.Draft{}, fmt.Errorf("reading the run under way: %w", err)
	}
	return handoff.PackPartial(saved, n, d.Manifest, p)
}

// runFacts returns the draft facts of the run whose data was saved.
func runFacts(saved graph.Saved) (d Draft, err error) {
	fields, err := saved.Latest("draft")
	if err == nil {
		err = json.Unmarshal(fields["draft"], &d)
	}
	if err == nil && d.Subject.Digest == "" {
		err = handoff.ErrNotRead
	}
	return d, err
}

// Names is the prefix of draft names: pr-review-42-3f9c2a71be04d855 is the draft of a
// review of pull request 42.
const Names handoff.Names = "pr-review-"

// PullRequest returns the subject of drafts about a pull request, with no head set.
func PullRequest(ref pull.Ref, repositoryID int64, instance string) checkpoint.Subject {
	return checkpoint.Subject{Kind: "pull request", Repository: ref.FullName(), RepositoryID: repositoryID,
		Number: ref.Number, Instance: instance}
}

// Bounds on what a record keeps of its draft, whose texts come from a model or a diff.
const (
	maxShown     = 500 // findings, the most severe ones
	maxShownText = 300 // bytes; a longer text is omitted
)

// OnRecord adds to a decision's record what statistics over many decisions need: the
// findings the draft showed, and what it cost.
func (s State) OnRecord(r decision.Record) decision.Record {
	r.Findings = nil
	models := s.modelOf()
	for _, f := range s.Comments {
		if f.ID == "" || f.Filtered != "" && f.Filtered != finding.Dropped || len(r.Findings) == maxShown {
			continue
		}
		shown := decision.Shown{ID: f.ID, Path: cutNote(f.Path), Severity: f.Severity, Category: cutNote(f.Category),
			Source: string(f.Source), Rule: cutNote(f.Rule)}
		if f.Origin != nil {
			shown.Linter = cutNote(f.Origin.Tool)
		}
		if f.Source == finding.Model {
			shown.Model = models(f.Path)
		}
		r.Findings = append(r.Findings, shown)
	}
	r.Drafting = &decision.Effort{Cost: int64(s.Usage.Cost), Calls: s.Usage.Calls, Unpriced: s.Usage.Unpriced,
		Seconds: s.Draft.Seconds}
	return r
}

// modelOf returns a function that maps a file to the model that reviewed it, as the server
// names it, or to the run's model if no answer about the file names one.
func (s State) modelOf() func(path string) string {
	known := map[string]string{}
	for _, f := range s.FileReviews {
		for _, c := range f.Calls {
			if c.Task == "review" && c.Model != "" {
				known[f.Path] = cutNote(c.Model)
			}
		}
	}
	return func(path string) string { return cmp.Or(known[path], cutNote(s.Draft.Model)) }
}

func cutNote(text string) string {
	if len(text) > maxShownText {
		return ""
	}
	return text
}
