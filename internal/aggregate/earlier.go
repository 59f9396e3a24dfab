package aggregate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// recognise marks what earlier reviews, approvers and people said already, and tells what became of the earlier
// findings. An earlier finding stands for one of now at most, so that the same defect at a second place is a new one;
// what was said to be resolved stands for none, so that it is posted again when it comes back.
func recognise(all []*entry, files map[string]diff.File, in Input) []finding.Earlier {
	if len(in.Earlier) == 0 {
		return in.Earlier
	}
	earlier := slices.Clone(in.Earlier)
	r := newRecognition(all, files, in.Reviews, earlier)
	for _, kept := range []bool{true, false} {
		r.pair(kept, r.printed, onLines)
		r.pair(kept, r.printed, nil)
		r.pair(kept, r.inFile, saidHere)
		r.pair(kept, r.inFile, r.quoted)
		r.pair(kept, r.inFile, r.edited)
	}
	for _, e := range r.earlier {
		switch {
		case e.Fate == finding.WasCommented || e.Announced && e.Now == finding.Resolved:
		case e.used:
			e.Now = finding.StillThere
		case e.Fate == finding.WasPosted && r.gone(e):
			e.Now = finding.Resolved
		case in.Covered && placeless(e):
			e.Now, e.Announced = finding.Resolved, true
		}
	}
	r.hold()
	return earlier
}

// placeless reports whether a posted finding is a weak one of which the marker alone tells: a review's body held it,
// so that no comment is followed to its line. Where the whole change is read and it is not found again, it stands no
// more, and nobody is called for that. A grave one stays until a person ends it.
func placeless(e *before) bool {
	rank := e.Severity.Rank()
	return e.Fate == finding.WasPosted && e.Path == "" && e.URL == "" && rank >= 0 && rank < finding.Major.Rank()
}

// pair gives findings without an earlier one the first that can be and that a rule says is the same: those that are
// kept, or those that a filter holds back, which show that the earlier one is still there.
func (r *recognition) pair(kept bool, candidates func(f *entry) []*before, same func(f *entry, e *before) bool) {
	for _, f := range r.all {
		if f.met != nil || (f.Filtered == "") != kept {
			continue
		}
		for _, e := range candidates(f) {
			if !e.used && admits(f, e) && (same == nil || same(f, e)) {
				e.used, f.met = true, e
				break
			}
		}
	}
}

// printed are the earlier findings with a finding's fingerprint.
func (r *recognition) printed(f *entry) (all []*before) {
	for _, fp := range f.prints {
		if fp != "" {
			all = append(all, r.byPrint[fp]...)
		}
	}
	return all
}

// inFile are the earlier findings of a finding's file. Those of linters are known by
// their fingerprints alone: their words are the change's, and hold nothing else back. So is
// what hides something: one title stands for all of it, and the fingerprint for what was seen.
func (r *recognition) inFile(f *entry) []*before {
	if f.Source == finding.Linter || hides(f.Finding) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.byPath[f.Path]), func(e *before) bool { return e.Category == linted })
}

// linted is the category of linters' findings, which no other finding has.
const linted = "lint"

// admits leaves to the rules what can stand for a finding at all.
func admits(f *entry, e *before) bool {
	return e.Fate == finding.WasPosted && !e.Announced || e.Fate == finding.WasDropped && !warns(f.Finding)
}

// warns reports whether a finding says that the input hides something or holds a credential. What a comment or an
// earlier drop says cannot hold such a one back: the comment may be about something else on the line, and a
// credential is not in the fingerprint, so that a drop would cover the next one too. Where it was posted, it is not
// posted again.
func warns(f finding.Finding) bool {
	return hides(f) || f.Source == finding.Rule && f.Category == "secret"
}

// hides reports a finding of what the input hides. It may stand for several lines, all of
// which are in the fingerprint that it came with.
func hides(f finding.Finding) bool { return f.Source == finding.Rule && f.Category == "hidden-text" }

// onLines are the lines that GitHub followed the earlier finding to.
func onLines(f *entry, e *before) bool {
	return e.Line > 0 && f.Path == e.Path && f.Side == e.Side && f.StartLine <= e.Line && e.StartLine <= f.Line
}

// saidHere is another wording of the claim on the same lines.
func saidHere(f *entry, e *before) bool { return onLines(f, e) && inOtherWords(f, e) }

// quoted is another wording of the claim about the same line of code, if that
// line stands in the diff once: else it may be about the other one.
func (r *recognition) quoted(f *entry, e *before) bool {
	quote := e.claim.quote
	return f.Path == e.Path && f.Side == e.Side && telling(quote) && r.linesOf(f.Path, f.Side)[quote] <= 1 &&
		slices.Contains(r.about(f), quote) && inOtherWords(f, e)
}

// edited is the same claim about a line that is much like one that is gone.
func (r *recognition) edited(f *entry, e *before) bool {
	was := e.claim
	return f.Path == e.Path && f.Side == e.Side && e.Line == 0 && was.title != "" && f.claim.title == was.title &&
		!tooGrave(f, e) && telling(was.quote) && r.linesOf(f.Path, f.Side)[was.quote] == 0 &&
		alike(f.claim.quote, was.quote)
}

func inOtherWords(f *entry, e *before) bool { return !tooGrave(f, e) && sameClaim(f.claim, e.claim) }

// tooGrave keeps a finding from being taken for a much weaker one in other words.
func tooGrave(f *entry, e *before) bool {
	return e.Severity != "" && f.Severity.Rank() >= e.Severity.Rank()+2
}

// hold marks the findings that were recognised, and those that a person has said on their lines in other words. From
// major on nobody's comment holds one back: it shows who said what.
func (r *recognition) hold() {
	for _, f := range r.all {
		if f.Filtered != "" {
			continue
		}
		if f.met != nil {
			if f.Filtered, f.Note = heldBy(f.met); f.Filtered == finding.AlreadyPosted {
				f.ID = f.met.ID
			}
			continue
		}
		e, same := r.commented(f)
		switch {
		case e == nil:
		case f.Severity.Rank() >= finding.Major.Rank():
			said := fmt.Sprintf("%s commented on line %d: “%s”", who(e), e.Line, e.Title)
			f.Note = strings.TrimPrefix(f.Note+"; "+said, "; ")
		case same:
			f.Filtered, f.Note = heldBy(e)
		}
	}
}

// maxRange is how many lines a comment may be on to be about each of them.
const maxRange = 20

// commented is the comment of a person on a finding's lines, or nil: the first that
// makes the same claim, else the first.
func (r *recognition) commented(f *entry) (first *before, same bool) {
	if warns(f.Finding) || f.Placement != finding.Inline {
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

var plainLogin = regexp.MustCompile(`^[A-Za-z0-9-]{1,60}(\[bot\])?$`)

// heldBy says in our own words what holds a finding back.
func heldBy(e *before) (finding.Filter, string) {
	switch {
	case e.Fate == finding.WasCommented:
		return finding.AlreadyCommented, fmt.Sprintf("%s commented on line %d", who(e), e.Line)
	case e.Fate == finding.WasDropped && e.By != "":
		return finding.DroppedBefore, "dropped by " + who(e) + " from an earlier draft"
	case e.Fate == finding.WasDropped:
		return finding.DroppedBefore, "dropped from an earlier draft"
	case e.Line > 0:
		return finding.AlreadyPosted, fmt.Sprintf("an earlier review says it at line %d", e.Line)
	}
	return finding.AlreadyPosted, "an earlier review says it"
}

func who(e *before) string {
	if !plainLogin.MatchString(e.By) {
		return "somebody"
	}
	return e.By
}

// gone reports whether a finding that was not found again is resolved: its file was read in full and its line is no
// longer on its side of the diff, or the file is no longer in the change. What cannot be told is not resolved: a
// finding without a place, a line too short to know it by, a line that moved to a file that the change makes.
func (r *recognition) gone(e *before) bool {
	quote := e.claim.quote
	file, here := r.files[e.Path]
	switch {
	case e.Path == "" || e.Line > 0 || strings.Contains(e.Quote, "<redacted "):
		// what was taken out is another text elsewhere
		return false
	case !here || file.Status == diff.Removed && e.Side == finding.Right:
		return !r.elsewhere(quote)
	case !telling(quote) || !r.read[e.Path] && file.Status != diff.Removed || file.Patch == "":
		return false
	}
	lines := r.linesOf(e.Path, e.Side)
	return lines != nil && lines[quote] == 0 && !r.elsewhere(quote)
}

// elsewhere reports whether a line may stand in a file that the change adds or renames.
func (r *recognition) elsewhere(quote string) bool {
	for path, f := range r.files {
		if f.Status != diff.Added && f.Status != diff.Renamed {
			continue
		}
		lines := r.linesOf(path, finding.Right)
		if !telling(quote) || lines == nil || lines[quote] > 0 || f.Patch == "" && f.Changes() > 0 {
			return true
		}
	}
	return false
}
