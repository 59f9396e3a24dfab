// Package aggregate merges the reviews of single files into one list of findings: sorted, without duplicates, each
// placed where it can be posted.
//
// It marks what it filters and says why; it never loses a finding. Start reading at Findings.
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

// MinConfidence is the lowest confidence with which a finding is shown.
const MinConfidence = 0.5

// Input is what Findings works on.
type Input struct {
	Files    []diff.File
	Findings []finding.Finding    // that need no reviewer; no reviewer can filter or replace one
	Reviews  []finding.FileReview // at most one per file
	Earlier  []finding.Earlier    // from earlier drafts and people's comments
	Covered  bool                 // every file was reviewed, or left out for an undisputed reason
	Used     int                  // ids F1 to F<Used> are taken by earlier drafts of the thread
	PerRule  int                  // limit of findings of one rule of a linter
	Report   config.Report        // what a team wants to have reported
	Inline   int                  // limit of inline comments; the rest goes to the body
}

// entry is a finding during aggregation.
type entry struct {
	finding.Finding
	filteredBy *entry // the finding that filters this one by reporting it too or listing its line, or nil

	claim   wording
	paths   []string        // every path that its file may have had, the current one first
	matched *earlierFinding // the earlier finding that it matches, or nil
}

func compare(a, b *entry) int { return finding.Compare(a.Finding, b.Finding) }

// Findings merges the findings of rules with those of the files' reviews. It returns the kept findings first, in the
// order shown and with ids after F<used>, then the filtered ones, marked. A finding whose anchor is not in the diff
// moves to the body. The second result is the earlier findings with their status.
func Findings(in Input) ([]finding.Finding, []finding.Earlier) {
	files := make(map[string]diff.File, len(in.Files))
	for _, f := range in.Files {
		files[f.Path] = f.Read()
	}
	var all []*entry
	for _, f := range in.Findings {
		all = append(all, placeFindings(files[f.Path], f)...)
	}
	for _, r := range in.Reviews {
		if len(r.Findings) > 0 {
			all = append(all, placeFindings(files[r.Path], r.Findings...)...)
		}
	}
	order.Stable(all, compare)
	markUnwanted(all, in.Report)
	markDuplicates(all)
	earlier := recognise(all, files, in)
	mergeRules(all)
	markTwins(all)
	order.Stable(all, compare) // a severity may have increased
	for _, f := range all {
		if from := in.Report.From; from != "" && f.Severity.Rank() < from.Rank() {
			f.leaveOut("below report.from")
		}
	}
	markRepeats(all)
	markLinters(all, in.PerRule)
	capInline(all, in.Inline)
	return assignIDs(all, in.Used), earlier
}

// assignIDs assigns ids to the kept findings, and to a filtered one the id of the finding that filters it.
func assignIDs(all []*entry, used int) []finding.Finding {
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
		if f.filteredBy != nil {
			f.ID = f.filteredBy.ID
		}
		held = append(held, f.Finding)
	}
	return append(kept, held...)
}

// markUnwanted filters findings of low confidence or in categories that the settings do not report. It runs before
// findings are compared with each other, so that no such finding filters another one at its place.
func markUnwanted(all []*entry, r config.Report) {
	for _, f := range all {
		if f.Filtered == "" && f.Confidence < MinConfidence {
			f.Filtered = finding.LowConfidence
			f.Note = fmt.Sprintf("confidence %.2f is below %.2f", f.Confidence, MinConfidence)
		}
		f.leaveOut(unwantedReason(r, f.Finding))
	}
}

// leaveOut filters a finding that the settings do not report, if there is a reason, except hidden text and
// credentials, which no setting silences.
func (f *entry) leaveOut(why string) {
	if why != "" && f.Filtered == "" && !f.IsWarning() {
		f.Filtered, f.Note = finding.LeftOut, why
	}
}

// markDuplicates keeps the first of the findings that report the same on the same lines: the most severe, because the
// list is sorted.
func markDuplicates(all []*entry) {
	first := map[string][]*entry{}
	for _, f := range all {
		if f.Filtered != "" || f.Source == finding.Linter { // left to markLinters
			continue
		}
		key := f.Path + "\x00" + foldTitle(f.Title)
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

// Files returns every changed file's result in the order of the change. A file without one was not reached.
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

// unwantedReason returns, worded for a note, which key of the settings excludes a finding; "" if none does.
func unwantedReason(r config.Report, f finding.Finding) string {
	category := strings.ToLower(f.Category)
	switch {
	case category == config.CategoryTests && !r.Tests:
		return "report.tests is off"
	case category == config.CategoryStyle && !r.Style:
		return "report.style is off"
	case len(r.Categories) > 0 && !slices.Contains(r.Categories, category):
		return "report.categories does not list its category"
	case f.Rule != "" && slices.ContainsFunc(r.Without, func(name string) bool {
		return name == f.Rule || f.Origin != nil && name == f.Origin.Name(f.Rule)
	}):
		return "report.without lists its rule"
	}
	return ""
}
