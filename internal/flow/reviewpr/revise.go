package reviewpr

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/decision"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/graph"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/trace"
)

// The nodes of a revision; their journal records describe one under way.
const (
	reviseNode  = "revise"
	redraftNode = "redraft"
)

// Redraft reviews a file again to answer an approver's feedback. was is the draft's result
// for the file; round counts revisions from 1. It returns the errors of a Reviewer.
type Redraft func(ctx context.Context, f diff.File, was finding.FileReview, feedback string,
	round int) (finding.FileReview, error)

// errNoModel reports a revision in a job that has no model.
var errNoModel = errors.New("this job has no model to revise the draft with")

// revise starts a revision: the draft takes this run's facts and new ids, and
// will wait for another decision.
func (r *run) revise(_ context.Context, s State) (State, error) {
	if r.Redraft == nil {
		return s, errNoModel
	}
	if r.Revised != nil {
		s.Draft = r.Revised(s.Draft)
	}
	s.Draft.UsedIDs = max(s.Draft.UsedIDs, maxID(s.Comments))
	s.Rounds, s.Decision = []decision.Record{*s.Decision}, nil
	return s, nil
}

// byFeedback sends the files that the feedback concerns to another review.
func byFeedback(each graph.Fan[task], aggregate graph.Target) func(State) graph.Next {
	return func(s State) graph.Next {
		concerned := s.concernedFiles(s.Rounds[len(s.Rounds)-1].Feedback)
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

var idInText = pattern.Lazy(`\bF[1-9][0-9]{0,5}\b`)

// concernedFiles returns the paths that feedback is about: the files of the findings
// whose ids it mentions, and the files it mentions itself. If it mentions none,
// these are the files with a model's finding, and if there are none, all files
// that were reviewed.
func (s State) concernedFiles(feedback string) []string {
	var named, found, read []string
	ids := idInText().FindAllString(feedback, -1)
	for _, f := range s.Comments {
		if slices.Contains(ids, f.ID) { // of an earlier review too, if it was found again
			named = append(named, f.Path)
		}
		if f.Source == finding.Model && f.Filtered == "" {
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
	unread := func(p string) bool { return !slices.Contains(read, p) }
	for _, some := range [][]string{named, found} {
		if some = slices.DeleteFunc(some, unread); len(some) > 0 {
			return some
		}
	}
	return read
}

// mentions reports whether a text contains a file's path or base name.
func mentions(text, file string) bool {
	word := func(r rune) bool {
		return strings.ContainsRune(" \t\n,;:()'\"`<>", r)
	}
	return slices.ContainsFunc(strings.FieldsFunc(text, word), func(w string) bool {
		w = strings.TrimRight(w, ".!?")
		return w == file || w == path.Base(file)
	})
}

// redraft has one file reviewed again.
func (r *run) redraft(ctx context.Context, s State, t task) (_ graph.Update, err error) {
	file, _ := s.Draft.triage().Part(s.Files[t.File])
	ctx, span := trace.File(r.redrafts.begin(ctx), file.Path)
	defer endSpan(span, &err)
	if r.Redraft == nil {
		return graph.Update{}, errNoModel
	}
	r.loadContext(ctx, s)
	r.addReported(s)
	got, err := r.Redraft(ctx, file, s.draftedReview(file.Path), s.Rounds[len(s.Rounds)-1].Feedback, len(s.Rounds))
	if err != nil {
		return graph.Update{}, r.cut.record(t, got.Usage, err)
	}
	used := got.Usage
	if got.State != finding.Reviewed && got.State != finding.Partly {
		got = finding.FileReview{Path: file.Path, FeedbackFailed: true}
	}
	got = s.withClaim(t, got)
	got.Key = "" // it answers a different question
	return r.result(got, used), nil
}

// feedbackFailed returns a file's result after a failed revision: earlier findings stay.
func (r *run) feedbackFailed(t task, cause error) (graph.Update, error) {
	r.reportFailure(t, cause)
	return r.result(finding.FileReview{Path: t.Path, FeedbackFailed: true}, cost.Usage{}), nil
}

// unrevised returns the update for a file that time or budget did not suffice to revise: earlier findings stay.
func (r *run) unrevised(t task) graph.Update {
	used, _ := r.cut.costOf(t)
	return r.result(finding.FileReview{Path: t.Path, FeedbackFailed: true}, used)
}

// results returns one result per file: the latest revision, unless it failed, in
// which case the result before it.
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
			all[i].FeedbackFailed = true // until a later round succeeds
		default:
			all[i] = r
		}
	}
	return all
}

// draftedReview returns a file's result with the findings as the draft shows them, so
// that the ids in the feedback match.
func (s State) draftedReview(path string) finding.FileReview {
	r := finding.FileReview{Path: path}
	for _, now := range s.results() {
		if now.Path == path {
			r = now
		}
	}
	r.Findings = slices.DeleteFunc(finding.Kept(s.Comments), func(f finding.Finding) bool {
		return f.Path != path || f.Source != finding.Model
	})
	return r
}

// omittedFindings returns the previous draft's findings that the revision no longer contains.
// They count as dropped by the approver, so that the next push does not bring them back.
func (s State) omittedFindings(before []finding.Finding) (all []finding.Earlier) {
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
