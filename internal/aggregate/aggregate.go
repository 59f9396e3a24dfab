// Package aggregate turns the reviews of single files into one list of findings:
// sorted, without duplicates, each placed where it can be posted.
//
// It marks what it holds back and says why; it never loses a finding. Start
// reading at Findings.
package aggregate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/suggest"
)

// MinConfidence is the confidence from which a finding is shown.
const MinConfidence = 0.5

// Input is what findings are made from.
type Input struct {
	Files    []diff.File
	Findings []finding.Finding    // which need no reviewer; no reviewer can hold back or replace one
	Reviews  []finding.FileReview // one of a file at most
	Earlier  []finding.Earlier    // what earlier drafts and people said
	Used     int                  // ids F1 to F<Used> were given away by earlier drafts of the thread
	Inline   int                  // the most inline comments; what is beyond stands in the body
}

// Findings merges what rules found with what the files' reviews found. The kept findings come first,
// in the order shown and with ids behind F<used>; the filtered ones follow, marked.
// Every anchor was checked against the diff: one that is not part of it moves
// its finding to the body. The earlier ones come back with their standing.
func Findings(in Input) ([]finding.Finding, []finding.Earlier) {
	files := make(map[string]diff.File, len(in.Files))
	for _, f := range in.Files {
		files[f.Path] = f.Read()
	}
	var all []finding.Finding
	for _, f := range in.Findings {
		all = append(all, placed([]finding.Finding{f}, files[f.Path])...)
	}
	for _, r := range in.Reviews {
		if len(r.Findings) > 0 {
			all = append(all, placed(r.Findings, files[r.Path])...)
		}
	}
	slices.SortFunc(all, finding.Compare)
	markWeak(all)
	markKnown(all)
	markDuplicates(all)
	earlier := recognise(all, in)
	repeats := markRepeats(all)
	capInline(all, in.Inline)
	number(all, repeats, in.Used)
	slices.SortStableFunc(all, func(a, b finding.Finding) int { return filtered(a) - filtered(b) })
	return all, earlier
}

// number gives kept findings their ids, and a repeat that of the finding which
// lists it.
func number(all []finding.Finding, repeats []int, used int) {
	for i := range all {
		if all[i].Filtered == "" {
			used++
			all[i].ID = fmt.Sprintf("F%d", used)
		} else if repeats[i] >= 0 {
			all[i].ID = all[repeats[i]].ID
		}
	}
}

// Files gives every changed file's result in the order of the change. A file
// without one was not reached.
func Files(files []diff.File, reviews []finding.FileReview) []finding.FileReview {
	byPath := make(map[string]finding.FileReview, len(reviews))
	for _, r := range reviews {
		byPath[r.Path] = r
	}
	all := make([]finding.FileReview, 0, len(files))
	for _, f := range files {
		r, ok := byPath[f.Path]
		if !ok {
			r = finding.FileReview{Path: f.Path, State: finding.NotReached}
		}
		all = append(all, r)
	}
	return all
}

// placed checks the anchors of one file's findings against its diff (P7). GitHub
// takes no comment on a file whose diff it leaves out, though we have made one.
func placed(findings []finding.Finding, file diff.File) []finding.Finding {
	anchors, err := file.Anchors()
	suggestions := suggest.New(file.Path, anchors, nil)
	out := make([]finding.Finding, 0, len(findings))
	for _, f := range findings {
		f.StartLine = cmp.Or(f.StartLine, f.Line)
		f.Placement = finding.Inline
		off := anchors.Check(string(f.Side), f.StartLine, f.Line)
		if off == nil && f.Quote == "" {
			f.Quote, _ = anchors.Text(string(f.Side), f.Line)
		}
		switch {
		case err != nil:
			f = inBody(f, "its file has no lines to comment on")
		case off != nil:
			f = inBody(f, offDiff(f, off))
		case file.Blob != "":
			f = inBody(f, "GitHub shows no diff of its file")
		}
		f = suggestions.Check(f)
		f.Fingerprint = finding.Fingerprint(f)
		out = append(out, f)
	}
	return out
}

// inBody moves a finding to the body and says why, in front of what else is to be
// said of it. What a filter says goes before both.
func inBody(f finding.Finding, why string) finding.Finding {
	f.Placement = finding.Body
	if f.Filtered == "" {
		f.Note = strings.TrimSuffix(why+"; "+f.Note, "; ")
	}
	return f
}

func offDiff(f finding.Finding, err error) string {
	if errors.Is(err, diff.ErrNotInDiff) && f.StartLine != f.Line {
		return fmt.Sprintf("lines %d to %d are not part of the diff", f.StartLine, f.Line)
	}
	return fmt.Sprintf("line %d is not part of the diff", f.Line)
}

func markWeak(all []finding.Finding) {
	for i, f := range all {
		if f.Filtered == "" && f.Confidence < MinConfidence {
			all[i].Filtered = finding.LowConfidence
			all[i].Note = fmt.Sprintf("confidence %.2f is below %.2f", f.Confidence, MinConfidence)
		}
	}
}

// markKnown holds back what a model says of a place of which a rule says the same,
// and no less gravely: the rule's word does not depend on what the model was told.
func markKnown(all []finding.Finding) {
	rules := map[string][]int{}
	for i, f := range all {
		if f.Source == finding.Rule && f.Filtered == "" {
			rules[f.Path] = append(rules[f.Path], i)
		}
	}
	for i, f := range all {
		if f.Source == finding.Rule || f.Filtered != "" {
			continue
		}
		for _, r := range rules[f.Path] {
			if overlap(all[r], f) && all[r].Severity.Rank() >= f.Severity.Rank() && sayTheSame(all[r], f) {
				all[i].Filtered, all[i].Note = finding.Duplicate, fmt.Sprintf("a rule says it of line %d", all[r].Line)
				break
			}
		}
	}
}

// sayTheSame reports whether a rule and a model mean one thing: their categories
// are equal, and their titles share words or are the same. A category alone is too wide: a line
// may have two faults of one kind.
func sayTheSame(rule, model finding.Finding) bool {
	if claim(rule.Title) == claim(model.Title) {
		return true
	}
	words, shared := strings.Fields(claim(rule.Title)), 0
	for _, w := range strings.Fields(claim(model.Title)) {
		if len(w) >= minWord && slices.Contains(words, w) {
			shared++
		}
	}
	return rule.Category == model.Category && shared >= sharedWords
}

// A title's words of so many letters tell what it is about, where two share so many.
const (
	minWord     = 4
	sharedWords = 2
)

// markDuplicates keeps the first of findings that say the same of the same
// lines: the gravest, since the list is sorted.
func markDuplicates(all []finding.Finding) {
	first := map[string][]int{}
	for i, f := range all {
		if f.Filtered != "" {
			continue
		}
		key := f.Path + "\x00" + claim(f.Title)
		if original := overlapping(all, first[key], f); original >= 0 && f.Source != finding.Rule {
			all[i].Filtered = finding.Duplicate
			all[i].Note = fmt.Sprintf("says the same as the finding at line %d", all[original].Line)
			continue
		}
		first[key] = append(first[key], i)
	}
}

func overlapping(all []finding.Finding, candidates []int, f finding.Finding) int {
	for _, i := range candidates {
		if overlap(all[i], f) {
			return i
		}
	}
	return -1
}

func overlap(a, b finding.Finding) bool {
	return a.Side == b.Side && a.StartLine <= b.Line && b.StartLine <= a.Line
}

// claim folds a title to what it says: letters and digits in lower case.
func claim(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0x80
	}), " ")
}

func filtered(f finding.Finding) int {
	if f.Filtered != "" {
		return 1
	}
	return 0
}
