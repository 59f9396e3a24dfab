package aggregate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/pattern"
)

// recognise marks findings that earlier reviews, approvers or people already reported, and sets the status of the
// earlier findings. An earlier finding matches at most one finding, so that the same defect at a second place is
// new. One that was announced as resolved matches none, so that it is posted again if it comes back.
func recognise(all []*entry, files map[string]diff.File, in Input) []finding.Earlier {
	if len(in.Earlier) == 0 {
		return in.Earlier
	}
	earlier := slices.Clone(in.Earlier)
	r := newRecognition(all, files, in.Reviews, earlier)
	for _, kept := range []bool{true, false} {
		r.pair(kept, r.withSamePrint, onLines)
		r.pair(kept, r.withSamePrint, nil)
		r.pair(kept, r.inFile, rewordedOnLines)
		r.pair(kept, r.inFile, r.rewordedOnQuote)
		r.pair(kept, r.inFile, r.onEditedLine)
	}
	r.pair(true, r.droppedAtPlace, nil)
	for _, e := range r.earlier {
		switch {
		case e.Fate == finding.WasCommented || e.Announced && e.Now == finding.Resolved:
		case e.matched:
			e.Now = finding.StillThere
		case e.Fate == finding.WasPosted && r.isResolved(e):
			e.Now = finding.Resolved
		case in.Covered && placeless(e):
			e.Now, e.Announced = finding.Resolved, true
		}
	}
	r.filterMatched()
	return earlier
}

// placeless reports whether a posted finding is a minor one known only from the marker: it was in a review's body,
// so no comment is tracked to its line. If the whole change is reviewed and it is not found again, it is resolved
// without notice. A severe one stays open until a person closes it.
func placeless(e *earlierFinding) bool {
	rank := e.Severity.Rank()
	return e.Fate == finding.WasPosted && e.Path == "" && e.URL == "" && rank >= 0 && rank < finding.Major.Rank()
}

// pair matches findings without an earlier one to the first candidate that is admitted and that same accepts. kept
// selects the unfiltered findings or the filtered ones, which show that the earlier finding is still there.
func (r *recognition) pair(kept bool, candidates func(f *entry) []*earlierFinding,
	same func(f *entry, e *earlierFinding) bool) {
	for _, f := range r.all {
		if f.matched != nil || (f.Filtered == "") != kept {
			continue
		}
		for _, e := range candidates(f) {
			if !e.matched && canMatch(f, e) && (same == nil || same(f, e)) {
				e.matched, f.matched = true, e
				break
			}
		}
	}
}

// withSamePrint returns the earlier findings with a finding's fingerprint, under any of its paths.
func (r *recognition) withSamePrint(f *entry) (all []*earlierFinding) {
	if f.Fingerprint != "" {
		all = slices.Clone(r.byPrint[f.Fingerprint])
	}
	was := f.Finding
	for _, was.Path = range f.paths[1:] {
		all = append(all, r.byPrint[finding.Fingerprint(was)]...)
	}
	return all
}

// droppedAtPlace returns the findings that an approver dropped, no weaker and in the same category, of a line that is
// in the diff once, and of which a model says one thing only: that one is likely the same in other words.
func (r *recognition) droppedAtPlace(f *entry) (all []*earlierFinding) {
	if f.Source != finding.Model || !distinctive(f.claim.quote) || r.linesOf(f.Path, f.Side)[f.claim.quote] > 1 ||
		slices.ContainsFunc(r.all, func(g *entry) bool {
			return g != f && g.Filtered == "" && g.Path == f.Path && g.Side == f.Side && g.Line == f.Line
		}) {
		return nil
	}
	was := f.Finding
	for _, was.Path = range f.paths {
		for _, s := range finding.Severities()[max(0, f.Severity.Rank()):] {
			all = append(all, r.byPrint[finding.Placed(was, s)]...)
		}
	}
	return all
}

// inFile returns the earlier findings in a finding's file. Linters' findings match only by fingerprint, because the
// change controls their words. So do findings of hidden text: they share one title, and only the fingerprint covers
// what was seen.
func (r *recognition) inFile(f *entry) []*earlierFinding {
	if f.Source == finding.Linter || f.IsHiddenText() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.byPath[f.Path]), func(e *earlierFinding) bool {
		return e.Category == finding.Lint
	})
}

// canMatch reports whether an earlier finding can match a finding at all.
func canMatch(f *entry, e *earlierFinding) bool {
	return e.Fate == finding.WasPosted && !e.Announced || e.Fate == finding.WasDropped && !f.IsWarning()
}

// onLines reports whether a finding overlaps the lines to which GitHub tracked the earlier one.
func onLines(f *entry, e *earlierFinding) bool {
	return e.Line > 0 && f.Path == e.Path && f.Side == e.Side && f.StartLine <= e.Line && e.StartLine <= f.Line
}

// rewordedOnLines reports whether both make the same claim on the same lines in other words.
func rewordedOnLines(f *entry, e *earlierFinding) bool { return onLines(f, e) && inOtherWords(f, e) }

// rewordedOnQuote reports whether both make the same claim about the same line of code in other words, if that line
// is in the diff only once: else it may be about the other one.
func (r *recognition) rewordedOnQuote(f *entry, e *earlierFinding) bool {
	quote := e.claim.quote
	return f.Path == e.Path && f.Side == e.Side && distinctive(quote) && r.linesOf(f.Path, f.Side)[quote] <= 1 &&
		slices.Contains(r.aboutLines(f), quote) && inOtherWords(f, e)
}

// onEditedLine reports whether both make the same claim, about a line similar to one that is gone.
func (r *recognition) onEditedLine(f *entry, e *earlierFinding) bool {
	was := e.claim
	return f.Path == e.Path && f.Side == e.Side && e.Line == 0 && was.title != "" && f.claim.title == was.title &&
		!tooGrave(f, e) && distinctive(was.quote) && r.linesOf(f.Path, f.Side)[was.quote] == 0 &&
		likeness(strings.Fields(foldTitle(f.claim.quote)), strings.Fields(foldTitle(was.quote))) >= alikeLines
}

func inOtherWords(f *entry, e *earlierFinding) bool {
	return !tooGrave(f, e) && sameClaim(f.claim, e.claim)
}

// tooGrave keeps a finding from matching a much weaker one in other words.
func tooGrave(f *entry, e *earlierFinding) bool {
	return e.Severity != "" && f.Severity.Rank() >= e.Severity.Rank()+2
}

// filterMatched filters the findings that were recognised, and those that a person's comment reports on the same
// lines. From major on, a comment filters nothing: the note shows who wrote what.
func (r *recognition) filterMatched() {
	for _, f := range r.all {
		if f.Filtered != "" {
			continue
		}
		if f.matched != nil {
			if f.Filtered, f.Note = heldBy(f.matched); f.Filtered == finding.AlreadyPosted {
				f.ID = f.matched.ID
			}
			continue
		}
		e, same := r.commented(f)
		switch {
		case e == nil:
		case f.Severity.Rank() >= finding.Major.Rank():
			said := fmt.Sprintf("%s commented on line %d: “%s”", loginOf(e), e.Line, e.Title)
			f.Note = strings.TrimPrefix(f.Note+"; "+said, "; ")
		case same:
			f.Filtered, f.Note = heldBy(e)
		}
	}
}

// maxRange is the largest number of lines of a comment that counts as being about each of them.
const maxRange = 20

// commented returns a person's comment on a finding's lines, or nil: the first that makes the same claim, or else
// the first.
func (r *recognition) commented(f *entry) (first *earlierFinding, same bool) {
	if f.IsWarning() || f.Placement != finding.Inline {
		return nil, false
	}
	for _, e := range r.earlier {
		if e.Fate != finding.WasCommented || e.Line-e.StartLine >= maxRange || !onLines(f, e) {
			continue
		}
		if sameClaim(f.claim, e.claim) {
			return e, true
		}
		first = cmp.Or(first, e)
	}
	return first, false
}

var plainLogin = pattern.Lazy(`^[A-Za-z0-9-]{1,60}(\[bot\])?$`)

// heldBy returns the filter and the note, in our own words, for a finding matched by e.
func heldBy(e *earlierFinding) (finding.Filter, string) {
	switch {
	case e.Fate == finding.WasCommented:
		return finding.AlreadyCommented, fmt.Sprintf("%s commented on line %d", loginOf(e), e.Line)
	case e.Fate == finding.WasDropped && e.By != "":
		return finding.DroppedBefore, "dropped by " + loginOf(e) + " from an earlier draft"
	case e.Fate == finding.WasDropped:
		return finding.DroppedBefore, "dropped from an earlier draft"
	case e.Line > 0:
		return finding.AlreadyPosted, fmt.Sprintf("an earlier review says it at line %d", e.Line)
	}
	return finding.AlreadyPosted, "an earlier review says it"
}

func loginOf(e *earlierFinding) string {
	if !plainLogin().MatchString(e.By) {
		return "somebody"
	}
	return e.By
}

// isResolved reports whether a finding that was not found again is resolved: its file was reviewed in full and its
// line is no longer on its side of the diff, or the file left the change. In doubt it is not: a finding without a
// place, a line too short to identify, or a line that moved to a file that the change adds or renames.
func (r *recognition) isResolved(e *earlierFinding) bool {
	quote := e.claim.quote
	file, here := r.files[e.Path]
	switch {
	case e.Path == "" || e.Line > 0 || strings.Contains(e.Quote, "<redacted "):
		// redacted text differs elsewhere
		return false
	case !here || file.Status == diff.Removed && e.Side == finding.Right:
		return !r.mayBeElsewhere(quote)
	case letters(quote) < minMissed || !r.read[e.Path] && file.Status != diff.Removed || file.Patch == "":
		return false
	}
	lines := r.linesOf(e.Path, e.Side)
	return lines != nil && lines[quote] == 0 && !r.mayBeElsewhere(quote)
}

// mayBeElsewhere reports whether a line may be in a file that the change adds or renames.
func (r *recognition) mayBeElsewhere(quote string) bool {
	for path, f := range r.files {
		if f.Status != diff.Added && f.Status != diff.Renamed {
			continue
		}
		lines := r.linesOf(path, finding.Right)
		if !distinctive(quote) || lines == nil || lines[quote] > 0 || f.Patch == "" && f.Changes() > 0 {
			return true
		}
	}
	return false
}
