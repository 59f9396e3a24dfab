// Package aggregate turns the reviews of single files into one list of findings:
// sorted, without duplicates, each placed where it can be posted.
//
// It marks what it holds back and says why; it never loses a finding. Start
// reading at Findings.
package aggregate

import (
	"fmt"
	"slices"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// MinConfidence is the confidence from which a finding is shown.
const MinConfidence = 0.5

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
	markUnwanted(all, in.Report)
	markDuplicates(all)
	earlier := recognise(all, in)
	all, said := mergeRules(all)
	markTooWeak(all, in.Report)
	repeats := markRepeats(all, said)
	markLinters(all, repeats, in.PerRule)
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
		}
	}
	for i := range all {
		if all[i].Filtered != "" && repeats[i] >= 0 {
			all[i].ID = all[repeats[i]].ID
		}
	}
}

func markWeak(all []finding.Finding) {
	for i, f := range all {
		if f.Filtered == "" && f.Confidence < MinConfidence {
			all[i].Filtered = finding.LowConfidence
			all[i].Note = fmt.Sprintf("confidence %.2f is below %.2f", f.Confidence, MinConfidence)
		}
	}
}

// markDuplicates keeps the first of findings that say the same of the same
// lines: the gravest, since the list is sorted.
func markDuplicates(all []finding.Finding) {
	first := map[string][]int{}
	for i, f := range all {
		if f.Filtered != "" {
			continue
		}
		key := f.Path + "\x00" + claim(f.Title)
		if f.Source == finding.Linter {
			continue // markLinters does
		}
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

func filtered(f finding.Finding) int {
	if f.Filtered != "" {
		return 1
	}
	return 0
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
