package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/wording"
)

const openFiles = 10 // files not read in full that are named before the fold

// fileStates is the order in which states are listed: first those that a person should look at.
var fileStates = []finding.State{finding.Failed, finding.NotReached, finding.Partly, finding.Skipped, finding.Reviewed}

// Tally returns "9 of 11 files reviewed" and what is missing: ", **2 failed**".
func (r Review) Tally() string {
	text := fmt.Sprintf("%s of %s reviewed", wording.Thousands(int64(inState(r.Files, finding.Reviewed))),
		wording.Count(len(r.Files)+r.Unlisted, "file"))
	var missing []string
	uncovered, _ := byCoverage(r.Files)
	for range r.Unlisted {
		uncovered = append(uncovered, finding.FileReview{State: finding.NotReached})
	}
	order.Stable(uncovered, func(a, b finding.FileReview) int {
		return slices.Index(fileStates, a.State) - slices.Index(fileStates, b.State)
	})
	for _, g := range order.Grouped(uncovered, missingWord) {
		missing = append(missing, wording.Amount(len(g), missingWord(g[0])))
	}
	if len(missing) > 0 {
		text += ", **" + strings.Join(missing, ", ") + "**"
	}
	return text
}

// TallyInFull returns the tally with the files that need no review, and the files whose pieces
// were shown with a diff: "2 skipped, 14 files in context packs".
func (r Review) TallyInFull() string {
	_, covered := byCoverage(r.Files)
	packs := map[string]bool{}
	for _, f := range r.Files {
		for _, p := range f.Pack {
			packs[p.Path] = true
		}
	}
	packed := ""
	if len(packs) > 0 {
		packed = wording.Count(len(packs), "file") + " in context packs"
	}
	return wording.Joined(", ", r.Tally(), wording.Any(inState(covered, finding.Skipped), "skipped"), packed)
}

func missingWord(f finding.FileReview) string {
	switch {
	case f.State != finding.Skipped:
		return wording.Words(string(f.State))
	case f.Reason == finding.TooLarge, f.Reason == finding.Submodule:
		return wording.Words(string(f.Reason))
	case f.Reason == finding.Mode:
		return "changed only in mode"
	}
	return "not read"
}

// stateLabel returns a file's state and its reason: "Skipped (lockfile)".
func stateLabel(f finding.FileReview) string {
	var why []string
	switch f.Reason {
	case "", f.Claim:
	case finding.Mode:
		why = append(why, "only its mode changed")
	case finding.Submodule:
		why = append(why, "another commit of a submodule, whose changes are not shown here")
	default:
		why = append(why, guard.Inline(wording.Words(string(f.Reason)), TitleRunes))
	}
	if f.Claim != "" {
		why = append(why, wording.Words(string(f.Claim))+" by its own word, not by the base's")
	}
	if len(why) == 0 {
		return wording.UpperFirst(wording.Words(string(f.State)))
	}
	return wording.UpperFirst(wording.Words(string(f.State))) + " (" + strings.Join(why, "; ") + ")"
}

func inState(files []finding.FileReview, state finding.State) (n int) {
	for _, f := range files {
		if f.State == state {
			n++
		}
	}
	return n
}

// FileLists lists every changed file with its state and reason, in about limit bytes: a few that
// were not read in full stay visible, the rest is folded.
func (r Review) FileLists(limit int) (open, rest string) {
	files := r.Files
	missing, others := byCoverage(files)
	title := "Other files"
	if len(missing) == 0 || len(missing) > openFiles {
		missing, others, title = nil, files, "Files"
	}
	if len(missing) > 0 {
		open = "**Not read in full**\n\n" + fileList(missing, limit)
	}
	if n := inState(others, finding.Skipped); n > 0 {
		title += fmt.Sprintf(" (%s skipped)", wording.Thousands(int64(n)))
	}
	return open, Details(title, fileList(others, limit-len(open)))
}

// NotReached says how many files were not reached, and why, without their names.
func (r Review) NotReached() string {
	var parts []string
	for _, g := range byReason(r.Files) {
		if g[0].State != finding.NotReached {
			continue
		}
		part := wording.Count(len(g), "file")
		if why := g[0].Reason; why != "" {
			part += " (" + guard.Inline(wording.Words(string(why)), TitleRunes) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "**Not reached:** " + wording.List(parts)
}

// byCoverage separates files that should have been read in full, but were not, from the others.
func byCoverage(files []finding.FileReview) (missing, others []finding.FileReview) {
	return slices.DeleteFunc(slices.Clone(files), finding.FileReview.Covered),
		slices.DeleteFunc(slices.Clone(files), func(f finding.FileReview) bool { return !f.Covered() })
}

// byReason groups files by state and reason, in the order of fileStates.
func byReason(files []finding.FileReview) [][]finding.FileReview {
	sorted := slices.Clone(files)
	order.Stable(sorted, func(a, b finding.FileReview) int {
		return slices.Index(fileStates, a.State) - slices.Index(fileStates, b.State)
	})
	return order.Grouped(sorted, func(f finding.FileReview) string {
		return string(f.State) + " " + string(f.Reason) + " " + string(f.Claim)
	})
}

func fileList(files []finding.FileReview, limit int) string {
	var b strings.Builder
	for _, group := range byReason(files) {
		b.WriteString(fileItem(group, limit-b.Len()))
	}
	return b.String()
}

// fileItem lists files of one state and reason: as many as fit, and the rest as a count.
func fileItem(files []finding.FileReview, limit int) string {
	item, joint := "- "+stateLabel(files[0]), ": "
	for i, f := range files {
		name := guard.Code(f.Path)
		if len(item)+len(name) > limit {
			item += joint + "and " + wording.Count(len(files)-i, "more file")
			break
		}
		item, joint = item+joint+name, ", "
	}
	return item + "\n"
}

// FromEarlier says how much of the review earlier runs paid for.
func (r Review) FromEarlier() string {
	if r.Reused <= 0 {
		return ""
	}
	read := inState(r.Files, finding.Reviewed) + inState(r.Files, finding.Partly)
	return fmt.Sprintf("%s of %s taken from earlier runs, not paid again.", wording.Thousands(int64(r.Reused)),
		wording.Count(max(read, r.Reused), "file"))
}

// Moved says how many findings were moved from the line that the model gave.
func (r Review) Moved() string {
	n := 0
	for _, f := range r.Files {
		n += f.Moved
	}
	if n == 0 {
		return ""
	}
	return wording.Count(n, "finding") + " moved to the line quoted."
}

// SkippedByReason returns ", 2 skipped (1 lockfile, 1 generated)".
func (r Review) SkippedByReason() string {
	var parts []string
	n := 0
	_, covered := byCoverage(r.Files)
	for _, g := range byReason(covered) {
		if g[0].State == finding.Skipped {
			parts = append(parts, wording.Amount(len(g), wording.Words(string(g[0].Reason))))
			n += len(g)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s skipped (%s)", wording.Thousands(int64(n)), strings.Join(parts, ", "))
}
