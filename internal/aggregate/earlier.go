package aggregate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
)

// recognise marks what earlier reviews, approvers and people said already, and
// tells what became of the earlier findings. An earlier finding stands for one of
// now at most, so that the same defect at a second place is a new one; what was
// said to be resolved stands for none, so that it is posted again when it comes back.
func recognise(all []finding.Finding, in Input) []finding.Earlier {
	if len(in.Earlier) == 0 {
		return in.Earlier
	}
	r := newRecognition(all, in)
	for _, kept := range []bool{true, false} {
		r.pair(kept, r.printed, r.onLines)
		r.pair(kept, r.printed, nil)
		r.pair(kept, r.inFile, r.saidHere)
		r.pair(kept, r.inFile, r.quoted)
		r.pair(kept, r.inFile, r.edited)
	}
	for i, e := range r.earlier {
		switch {
		case e.Fate == finding.WasCommented || e.Announced && e.Now == finding.Resolved:
		case r.used[i]:
			r.earlier[i].Now = finding.StillThere
		case e.Fate == finding.WasPosted && r.gone(e):
			r.earlier[i].Now = finding.Resolved
		case in.Covered && placeless(e):
			r.earlier[i].Now, r.earlier[i].Announced = finding.Resolved, true
		}
	}
	r.hold()
	return r.earlier
}

// placeless reports whether a posted finding is a weak one of which the marker alone
// tells: a review's body held it, so that no comment is followed to its line. Where the
// whole change is read and it is not found again, it stands no more, and nobody is called
// for that. A grave one stays until a person ends it.
func placeless(e finding.Earlier) bool {
	rank := e.Severity.Rank()
	return e.Fate == finding.WasPosted && e.Path == "" && e.URL == "" && rank >= 0 && rank < finding.Major.Rank()
}

// pair gives findings without an earlier one the first that can be and that a
// rule says is the same: those that are kept, or those that a filter holds back,
// which show that the earlier one is still there.
func (r *recognition) pair(kept bool, candidates func(f int) []int, same func(f, e int) bool) {
	for f := range r.all {
		if r.met[f] >= 0 || (r.all[f].Filtered == "") != kept {
			continue
		}
		for _, e := range candidates(f) {
			if !r.used[e] && r.admits(r.all[f], r.earlier[e]) && (same == nil || same(f, e)) {
				r.used[e], r.met[f] = true, e
				break
			}
		}
	}
}

// printed are the earlier findings with a finding's fingerprint.
func (r *recognition) printed(f int) (all []int) {
	for _, fp := range r.prints[f] {
		if fp != "" {
			all = append(all, r.byPrint[fp]...)
		}
	}
	return all
}

// inFile are the earlier findings of a finding's file. Those of linters are known by
// their fingerprints alone: their words are the change's, and hold nothing else back.
func (r *recognition) inFile(f int) []int {
	if r.all[f].Source == finding.Linter {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.byPath[r.all[f].Path]), func(e int) bool {
		return r.earlier[e].Category == linted
	})
}

// linted is the category of linters' findings, which no other finding has.
const linted = "lint"

// admits leaves to the rules what can stand for a finding at all.
func (r *recognition) admits(f finding.Finding, e finding.Earlier) bool {
	return e.Fate == finding.WasPosted && !e.Announced || e.Fate == finding.WasDropped && !warns(f)
}

// warns reports whether a finding says that the input hides something or holds a
// credential. What a comment or an earlier drop says cannot hold such a one back:
// the comment may be about something else on the line, and a credential is not in
// the fingerprint, so that a drop would cover the next one too. Where it was
// posted, it is not posted again.
func warns(f finding.Finding) bool {
	return f.Source == finding.Rule && slices.Contains([]string{"hidden-text", "secret"}, f.Category)
}

// onLines are the lines that GitHub followed the earlier finding to.
func (r *recognition) onLines(f, e int) bool {
	a, b := r.all[f], r.earlier[e]
	return b.Line > 0 && a.Path == b.Path && a.Side == b.Side && a.StartLine <= b.Line && b.StartLine <= a.Line
}

// saidHere is another wording of the claim on the same lines.
func (r *recognition) saidHere(f, e int) bool {
	return r.onLines(f, e) && r.sameClaim(f, e)
}

// quoted is another wording of the claim about the same line of code, if that
// line stands in the diff once: else it may be about the other one.
func (r *recognition) quoted(f, e int) bool {
	a, b := r.all[f], r.earlier[e]
	quote := r.before[e].quote
	if a.Path != b.Path || a.Side != b.Side || !telling(quote) || r.linesOf(a.Path, a.Side)[quote] > 1 {
		return false
	}
	return slices.Contains(r.about(f), quote) && r.sameClaim(f, e)
}

// edited is the same claim about a line that is much like one that is gone.
func (r *recognition) edited(f, e int) bool {
	a, b := r.all[f], r.earlier[e]
	was := r.before[e]
	return a.Path == b.Path && a.Side == b.Side && b.Line == 0 && was.title != "" && r.claims[f].title == was.title &&
		!tooGrave(a, b) && telling(was.quote) && r.linesOf(a.Path, a.Side)[was.quote] == 0 &&
		alike(r.claims[f].quote, was.quote)
}

func (r *recognition) sameClaim(f, e int) bool {
	return !tooGrave(r.all[f], r.earlier[e]) && sameClaim(r.claims[f], r.before[e])
}

// tooGrave keeps a finding from being taken for a much weaker one in other words.
func tooGrave(f finding.Finding, e finding.Earlier) bool {
	return e.Severity != "" && f.Severity.Rank() >= e.Severity.Rank()+2
}

// hold marks the findings that were recognised, and those that a person has said
// on their lines in other words. From major on nobody's comment holds one back: it
// shows who said what.
func (r *recognition) hold() {
	for i := range r.all {
		f := &r.all[i]
		if f.Filtered != "" {
			continue
		}
		if e := r.met[i]; e >= 0 {
			if f.Filtered, f.Note = heldBy(r.earlier[e]); f.Filtered == finding.AlreadyPosted {
				f.ID = r.earlier[e].ID
			}
			continue
		}
		e, same := r.commented(i)
		switch {
		case e < 0:
		case f.Severity.Rank() >= finding.Major.Rank():
			f.Note = strings.TrimPrefix(f.Note+"; "+textOf(r.earlier[e]), "; ")
		case same:
			f.Filtered, f.Note = heldBy(r.earlier[e])
		}
	}
}

// maxRange is how many lines a comment may be on to be about each of them.
const maxRange = 20

// commented is the comment of a person on a finding's lines, or -1: the first that
// makes the same claim, else the first.
func (r *recognition) commented(i int) (first int, same bool) {
	f, first := r.all[i], -1
	if warns(f) || f.Placement != finding.Inline {
		return first, false
	}
	for at, e := range r.earlier {
		if e.Fate != finding.WasCommented || e.Line-e.StartLine >= maxRange || !r.onLines(i, at) {
			continue
		}
		if sameClaim(r.claims[i], r.before[at]) {
			return at, true
		}
		if first < 0 {
			first = at
		}
	}
	return first, false
}

var plainLogin = regexp.MustCompile(`^[A-Za-z0-9-]{1,60}(\[bot\])?$`)

// heldBy says in our own words what holds a finding back.
func heldBy(e finding.Earlier) (finding.Filter, string) {
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

// textOf is a person's comment, for the note of a finding that stays all the same.
func textOf(e finding.Earlier) string {
	return fmt.Sprintf("%s commented on line %d: “%s”", who(e), e.Line, e.Title)
}

func who(e finding.Earlier) string {
	if !plainLogin.MatchString(e.By) {
		return "somebody"
	}
	return e.By
}
