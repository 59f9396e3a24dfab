package reviewpr

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/trace"
)

// The nodes whose records tell of a revision under way.
const (
	reviseNode  = "revise"
	redraftNode = "redraft"
)

// Redraft reviews a file again as an approver's feedback asks. was is what the
// draft has of the file; round counts revisions from 1. Errors are a Reviewer's.
type Redraft func(ctx context.Context, f diff.File, was finding.FileReview, feedback string,
	round int) (finding.FileReview, error)

// errNoModel is a revision in a job that has nobody to ask.
var errNoModel = errors.New("this job has no model to revise the draft with")

// revise takes the feedback up: the draft gets the facts of this run, new ids,
// and waits for another decision.
func (r *run) revise(_ context.Context, s State) (State, error) {
	if r.Redraft == nil {
		return s, errNoModel
	}
	if r.Revised != nil {
		s.Draft = r.Revised(s.Draft)
	}
	s.Draft.UsedIDs = max(s.Draft.UsedIDs, usedIDs(s.Comments))
	s.Rounds, s.Decision = []decision.Record{*s.Decision}, nil
	return s, nil
}

// byFeedback sends the files that the feedback concerns to be reviewed again.
func byFeedback(each graph.Fan[task], aggregate graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		concerned := s.concerned(s.Rounds[len(s.Rounds)-1].Feedback)
		var todo []task
		for i, file := range s.Files {
			if slices.Contains(concerned, file.Path) {
				todo = append(todo, task{File: i, Path: file.Path})
			}
		}
		if len(todo) == 0 {
			return graph.To(aggregate)
		}
		return each.Over(todo)
	}
}

var idInText = regexp.MustCompile(`\bF[1-9][0-9]{0,5}\b`)

// concerned are the paths that feedback is about: those of findings whose ids it
// names, and those that it names itself. Where it names none, it is about every
// file with a finding of a model, and where there is none, about every file that
// was reviewed.
func (s State) concerned(feedback string) []string {
	var named, found, read []string
	ids := idInText.FindAllString(feedback, -1)
	for _, f := range finding.Kept(s.Comments) {
		if slices.Contains(ids, f.ID) {
			named = append(named, f.Path)
		}
		if f.Source == finding.Model {
			found = append(found, f.Path)
		}
	}
	for _, r := range s.Coverage() {
		if r.State != finding.Reviewed && r.State != finding.Partly {
			continue
		}
		read = append(read, r.Path)
		if mentions(feedback, r.Path) {
			named = append(named, r.Path)
		}
	}
	named = slices.DeleteFunc(named, func(p string) bool { return !slices.Contains(read, p) })
	found = slices.DeleteFunc(found, func(p string) bool { return !slices.Contains(read, p) })
	switch {
	case len(named) > 0:
		return named
	case len(found) > 0:
		return found
	}
	return read
}

// mentions reports whether a text names a file, by its path or its name.
func mentions(text, file string) bool {
	word := func(r rune) bool {
		return strings.ContainsRune(" \t\n,;:()'\"`<>", r)
	}
	return slices.ContainsFunc(strings.FieldsFunc(text, word), func(w string) bool {
		w = strings.TrimRight(w, ".!?")
		return w == file || w == path.Base(file)
	})
}

// redraft asks for one file's review again.
func (r *run) redraft(ctx context.Context, s State, t task) (_ graph.Update, err error) {
	file, _ := s.Draft.triage().Part(s.Files[t.File])
	ctx, span := trace.File(r.redrafts.under(ctx), file.Path)
	defer ended(span, &err)
	if r.Redraft == nil {
		return graph.Update{}, errNoModel
	}
	r.remember(ctx, s)
	got, err := r.Redraft(ctx, file, s.drafted(file.Path), s.Rounds[len(s.Rounds)-1].Feedback, len(s.Rounds))
	if err != nil {
		return graph.Update{}, r.cut.note(t, got.Usage, err)
	}
	used := got.Usage
	if got.State != finding.Reviewed && got.State != finding.Partly {
		got = finding.FileReview{Path: file.Path, FeedbackFailed: true}
	}
	got = s.claimed(t, got)
	got.Key = "" // it answers a question of its own
	return r.result(got, used), nil
}

// feedbackFailed is a file's result where its revision failed: what was found before stands.
func (r *run) feedbackFailed(t task, cause error) (graph.Update, error) {
	r.tell(t, cause)
	return r.result(finding.FileReview{Path: t.Path, FeedbackFailed: true}, cost.Usage{}), nil
}

// unrevised is the same where time or money ended.
func (r *run) unrevised(t task) graph.Update {
	used, _ := r.cut.of(t)
	return r.result(finding.FileReview{Path: t.Path, FeedbackFailed: true}, used)
}

// results are the results of files, each once: a revision stands in for what was
// before it, unless it could not be had.
func (s State) results() []finding.FileReview {
	at := map[string]int{}
	var all []finding.FileReview
	for _, r := range s.FileReviews {
		i, known := at[r.Path]
		switch {
		case !known:
			at[r.Path] = len(all)
			all = append(all, r)
		case r.FeedbackFailed && r.State == "":
			all[i].FeedbackFailed = true // until a later round is heard
		default:
			all[i] = r
		}
	}
	return all
}

// drafted is the result of a file with the findings that the draft shows of it, in
// which feedback finds its ids.
func (s State) drafted(path string) finding.FileReview {
	r := s.reviewOf(path)
	r.Findings = slices.DeleteFunc(finding.Kept(s.Comments), func(f finding.Finding) bool {
		return f.Path != path || f.Source != finding.Model
	})
	return r
}

// leftOut are the findings of the draft before that the revision does not have any
// more, as what its approver dropped: the next push is not to bring them back.
func (s State) leftOut(before []finding.Finding) (all []finding.Earlier) {
	if len(s.Rounds) == 0 {
		return nil
	}
	for _, f := range finding.Kept(before) {
		again := slices.ContainsFunc(s.Comments, func(now finding.Finding) bool {
			return now.Fingerprint == f.Fingerprint
		})
		if f.Source == finding.Model && !again {
			all = append(all, finding.Earlier{
				Fate: finding.WasDropped, Fingerprint: f.Fingerprint, Path: f.Path, Side: f.Side, Quote: f.Quote,
				Title:    f.Title,
				Category: f.Category, Severity: f.Severity, By: s.Rounds[len(s.Rounds)-1].By,
			})
		}
	}
	return all
}

// reviewOf is the result of a file so far.
func (s State) reviewOf(path string) finding.FileReview {
	for _, r := range s.results() {
		if r.Path == path {
			return r
		}
	}
	return finding.FileReview{Path: path}
}
