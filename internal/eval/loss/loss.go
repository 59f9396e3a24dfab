// Package loss says of every finding that a model produced where it ended: in
// the review that would be posted, or at the stage that took it out.
//
// It judges no finding and changes none: it compares what stands before a stage
// with what stands behind it. Start reading at Trace; scan.go reads findings out
// of answers that nothing else can read.
package loss

import (
	"cmp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// The stages at which a finding is lost, in the order of the pipeline.
const (
	Parse     = "parse"     // in an answer, and not in the file's review
	Threshold = "threshold" // filtered for its confidence
	Dedupe    = "dedupe"    // filtered as a duplicate
	Cap       = "cap"       // kept, and left out of the posted review for its length
)

// Anchor is the stage that moves a finding into the body, since its lines are
// not part of the diff. Nothing is lost there.
const Anchor = "anchor"

// Stages lists the stages at which a finding is lost, in the order of the pipeline.
func Stages() []string { return []string{Parse, Threshold, Dedupe, Cap} }

// reach is the number of lines by which a range is widened at both ends before
// it is held next to a place.
const reach = 3

// Loss is a finding that a stage lost or moved. Path and Title are untrusted
// text, Why is in our own words. Lines are 1-based, and 0 where an answer gave
// none; Severity is empty where an answer gave none of ours.
type Loss struct {
	Stage, Path     string
	StartLine, Line int
	Severity        finding.Severity
	Title, Why      string
}

// Place is a range of lines, 1-based and with both ends.
type Place struct {
	Path               string
	LineStart, LineEnd int
}

// At reports whether the finding stood at one of the places, or within 3 lines
// of it. One without a line stood nowhere.
func (l Loss) At(places ...Place) bool {
	return l.Line > 0 && slices.ContainsFunc(places, func(p Place) bool {
		return p.Path == l.Path && l.StartLine-reach <= p.LineEnd && p.LineStart <= l.Line+reach
	})
}

// File is a reviewed file: the texts of all answers about it in the order in
// which they were asked for, and what the reviewer made of them.
type File struct {
	Answers []string // untrusted text
	Review  finding.FileReview
}

// Input is what the stages had before them.
type Input struct {
	Files      []File
	Aggregated []finding.Finding // of all files, the filtered ones marked
	Cut        []finding.Finding // those kept that the posted review does not hold; render.Cut gives them
}

// Trace gives the findings that were lost, in the order of the stages, and those
// that were moved. A finding is in one of the two at most, and in none where it
// stands in the review as the model placed it.
func Trace(in Input) (lost, moved []Loss) {
	for _, f := range in.Files {
		lost = append(lost, unread(f)...)
	}
	cut := make(map[string]bool, len(in.Cut))
	for _, f := range in.Cut {
		cut[f.ID] = true
	}
	for _, f := range in.Aggregated {
		switch stage := stageOf(f, cut); stage {
		case "":
		case Anchor:
			moved = append(moved, from(f, stage))
		default:
			lost = append(lost, from(f, stage))
		}
	}
	slices.SortStableFunc(lost, func(a, b Loss) int {
		return slices.Index(Stages(), a.Stage) - slices.Index(Stages(), b.Stage)
	})
	return lost, moved
}

// stageOf is the stage that took a finding out or moved it; "" where none did.
func stageOf(f finding.Finding, cut map[string]bool) string {
	switch {
	case f.Filtered == finding.LowConfidence:
		return Threshold
	case f.Filtered == finding.Duplicate:
		return Dedupe
	case f.Filtered != "": // dropped by a person, which no stage can help
		return ""
	case cut[f.ID]:
		return Cap
	case f.Placement == finding.Body:
		return Anchor
	}
	return ""
}

func from(f finding.Finding, stage string) Loss {
	l := Loss{
		Stage: stage, Path: f.Path, StartLine: cmp.Or(f.StartLine, f.Line), Line: f.Line,
		Severity: f.Severity, Title: f.Title, Why: f.Note,
	}
	if stage == Cap {
		l.Why = "the review's body has no room for it"
	}
	return l
}

// unread gives the findings in a file's answers that its review does not hold.
func unread(f File) []Loss {
	var lost []Loss
	for _, c := range without(produced(f.Answers), slices.Clone(f.Review.Findings)) {
		lost = append(lost, Loss{
			Stage: Parse, Path: f.Review.Path, StartLine: c.start, Line: c.line, Severity: c.severity, Title: c.title,
			Why: cmp.Or(string(f.Review.Reason), "the answer that was used does not hold it"),
		})
	}
	return lost
}

// produced gives the findings of the answer that holds most. Of equals it is the
// last: a broken answer written again counts once.
func produced(answers []string) (most []claim) {
	for _, text := range answers {
		if found := scan(text); len(found) >= len(most) {
			most = found
		}
	}
	return most
}

// without takes out the claims that stand among the findings, each for one, and
// the surest matches first: an answer that was written again may have other
// words or another line.
func without(claims []claim, read []finding.Finding) []claim {
	title := func(c claim, f finding.Finding) bool { return c.title == oneLine(f.Title) }
	line := func(c claim, f finding.Finding) bool { return c.line == f.Line }
	for _, same := range []func(claim, finding.Finding) bool{
		func(c claim, f finding.Finding) bool { return title(c, f) && line(c, f) }, title, line,
	} {
		claims = slices.DeleteFunc(claims, func(c claim) bool {
			i := slices.IndexFunc(read, func(f finding.Finding) bool { return same(c, f) })
			if i >= 0 {
				read = slices.Delete(read, i, i+1)
			}
			return i >= 0
		})
	}
	return claims
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
