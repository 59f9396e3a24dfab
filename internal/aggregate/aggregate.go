// Package aggregate turns the reviews of single files into one list of findings:
// sorted, without duplicates, each placed where it can be posted.
//
// It marks what it holds back and says why; it never loses a finding. Start reading at Findings.
package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
)

// MinConfidence is the confidence from which a finding is shown.
const MinConfidence = 0.5

// Input is what findings are made from.
type Input struct {
	Files    []diff.File
	Findings []finding.Finding    // which need no reviewer; no reviewer can hold back or replace one
	Reviews  []finding.FileReview // one of a file at most
	Earlier  []finding.Earlier    // what earlier drafts and people said
	Covered  bool                 // every file was read, or left out for a reason that nobody would question
	Used     int                  // ids F1 to F<Used> were given away by earlier drafts of the thread
	PerRule  int                  // the most findings of one rule of a linter
	Report   config.Report        // what a team wants to be told
	Inline   int                  // the most inline comments; what is beyond stands in the body
}

// entry is a finding under way.
type entry struct {
	finding.Finding
	by *entry // which says it too, or lists its line, where that is why it is held back

	claim  claimed
	prints []string // its fingerprints under every path that its file may have had
	met    *before  // the earlier finding that it is
}

func compare(a, b *entry) int { return finding.Compare(a.Finding, b.Finding) }

// Findings merges what rules found with what the files' reviews found. The kept findings come first, in the order
// shown and with ids behind F<used>; the filtered ones follow, marked. Every anchor was checked against the diff: one
// that is not part of it moves its finding to the body. The earlier ones come back with their standing.
func Findings(in Input) ([]finding.Finding, []finding.Earlier) {
	files := make(map[string]diff.File, len(in.Files))
	for _, f := range in.Files {
		files[f.Path] = f.Read()
	}
	var all []*entry
	for _, f := range in.Findings {
		all = append(all, placed(files[f.Path], f)...)
	}
	for _, r := range in.Reviews {
		if len(r.Findings) > 0 {
			all = append(all, placed(files[r.Path], r.Findings...)...)
		}
	}
	order.Stable(all, compare)
	markUnwanted(all, in.Report)
	markDuplicates(all)
	earlier := recognise(all, files, in)
	mergeRules(all)
	order.Stable(all, compare) // a severity may have risen
	for _, f := range all {
		if from := in.Report.From; from != "" && f.Severity.Rank() < from.Rank() {
			f.leaveOut("below report.from")
		}
	}
	markRepeats(all)
	markLinters(all, in.PerRule)
	capInline(all, in.Inline)
	return numbered(all, in.Used), earlier
}

// numbered gives kept findings their ids, and one that another says the id of that one.
func numbered(all []*entry, used int) []finding.Finding {
	var kept, held []finding.Finding
	for _, f := range all {
		if f.Filtered == "" {
			used++
			f.ID = fmt.Sprintf("F%d", used)
			kept = append(kept, f.Finding)
		}
	}
	for _, f := range all {
		if f.Filtered == "" {
			continue
		}
		if f.by != nil {
			f.ID = f.by.ID
		}
		held = append(held, f.Finding)
	}
	return append(kept, held...)
}

// markUnwanted holds back what its own model doubts, and the categories that the settings do not report. It does so
// before findings are held against each other, so that none takes along what another says of its place.
func markUnwanted(all []*entry, r config.Report) {
	for _, f := range all {
		if f.Filtered == "" && f.Confidence < MinConfidence {
			f.Filtered = finding.LowConfidence
			f.Note = fmt.Sprintf("confidence %.2f is below %.2f", f.Confidence, MinConfidence)
		}
		f.leaveOut(unwanted(r, f.Finding))
	}
}

// leaveOut marks a finding that the settings do not report, if there is a reason, but for
// what no setting silences: hidden text and credentials.
func (f *entry) leaveOut(why string) {
	if why != "" && f.Filtered == "" && !warns(f.Finding) {
		f.Filtered, f.Note = finding.LeftOut, why
	}
}

// markDuplicates keeps the first of findings that say the same of the same
// lines: the gravest, since the list is sorted.
func markDuplicates(all []*entry) {
	first := map[string][]*entry{}
	for _, f := range all {
		if f.Filtered != "" || f.Source == finding.Linter { // markLinters does
			continue
		}
		key := f.Path + "\x00" + claim(f.Title)
		at := slices.IndexFunc(first[key], func(other *entry) bool { return overlap(other, f) })
		if at >= 0 && f.Source != finding.Rule {
			f.Filtered = finding.Duplicate
			f.Note = fmt.Sprintf("says the same as the finding at line %d", first[key][at].Line)
			continue
		}
		first[key] = append(first[key], f)
	}
}

func overlap(a, b *entry) bool {
	return a.Side == b.Side && a.StartLine <= b.Line && b.StartLine <= a.Line
}

// Files gives every changed file's result in the order of the change. A file without one was not reached.
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

// unwanted says which key leaves a finding out for its category, in words for a note; it is empty where none does.
func unwanted(r config.Report, f finding.Finding) string {
	category := strings.ToLower(f.Category)
	switch {
	case category == config.CategoryTests && !r.Tests:
		return "report.tests is off"
	case category == config.CategoryStyle && !r.Style:
		return "report.style is off"
	case len(r.Categories) > 0 && !slices.Contains(r.Categories, category):
		return "report.categories is without its category"
	case f.Rule != "" && slices.ContainsFunc(r.Without, func(name string) bool {
		return name == f.Rule || f.Origin != nil && name == f.Origin.Name(f.Rule)
	}):
		return "report.without has its rule"
	}
	return ""
}
