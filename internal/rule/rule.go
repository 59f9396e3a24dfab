// Package rule reviews a changed file by fixed rules, without a model: each rule looks at added lines
// together with the rest of their hunk.
//
// Rules are chosen for precision: one that is often wrong does not belong here. The package does no
// I/O, and its results depend on the diff alone. To add a rule, write a variable for one, put it into
// rules and give it cases under testdata. Start reading at Review, then at the rule in tls.go.
package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/secret"
)

// confidence is the confidence of every finding: anything less certain is not a rule here.
const confidence = 0.85

// rules lists the rules that Review runs. Each was kept because what it found in real
// commits was worth a look; what was merely true is left to linters.
var rules = []rule{
	conflictMarker, sqlFromStrings, shellFromInput, tlsCheckOff, errorDropped, swallowedException, removeUnchecked,
	pipeToShell,
}

// rule is one thing to look for.
type rule struct {
	name     string           // also names its folder of cases
	category string           // of its findings
	severity finding.Severity // single findings may differ
	title    string           // {} stands for the hit's subject
	body     string           // why it matters
	always   bool             // also runs on tests and samples
	find     in
}

// in maps a language to the finder for its files.
type in map[language]finder

// finder returns the places in a hunk where a rule found something. Hits on lines that were not added are ignored.
type finder func(*hunk) []hit

// hit is one place where a rule found something.
type hit struct {
	line       int              // index into the hunk's lines
	subject    string           // fills the title
	severity   finding.Severity // empty for the rule's own
	suggestion string           // replaces the line; empty for none
}

// Review runs every rule for the file's language on its added lines and returns the
// findings, most severe first. A patch that cannot be parsed yields nothing: callers that
// must tell the difference parse it with diff.Hunks first.
func Review(f diff.File) []finding.Finding {
	var found []finding.Finding
	hunks := newHunks(f)
	for _, r := range rules {
		found = append(found, r.review(hunks)...)
	}
	order.Stable(found, finding.Compare)
	return found
}

// review returns the hits that the old lines did not have: moving, indenting or rewording a line adds no finding.
func (r rule) review(hunks []*hunk) []finding.Finding {
	places := r.places(hunks)
	if len(places) == 0 {
		return nil
	}
	stood := r.places(oldSides(hunks))
	text := func(p place) string { return strings.Join(strings.Fields(p.hunk.lines[p.line].text), "") }
	for _, same := range []func(now, old place) bool{
		func(now, old place) bool { return text(now) == text(old) },
		func(now, old place) bool { return now.hunk.parsed.NewStart == old.hunk.parsed.NewStart }, // reworded
	} {
		places = slices.DeleteFunc(places, func(p place) bool {
			i := slices.IndexFunc(stood, func(old place) bool {
				return p.subject == old.subject && p.severity.Rank() <= old.severity.Rank() && same(p, old)
			})
			if i >= 0 {
				stood = slices.Delete(stood, i, i+1)
			}
			return i >= 0
		})
	}
	var found []finding.Finding
	for _, p := range places {
		found = append(found, r.finding(p.hunk, p.hit))
	}
	return found
}

// place is a hit on an added line, or on a removed one in the old hunks.
type place struct {
	hunk *hunk
	hit
}

func (r rule) places(hunks []*hunk) (places []place) {
	for _, h := range hunks {
		for _, at := range r.hits(h) {
			if at.severity == "" {
				at.severity = r.severity
			}
			if h.lines[at.line].added {
				places = append(places, place{h, at})
			}
		}
	}
	return places
}

func (r rule) hits(h *hunk) []hit {
	if h.test && !r.always {
		return nil
	}
	for _, language := range []language{h.language, anyLanguage} {
		if find := r.find[language]; find != nil {
			return find(h)
		}
	}
	return nil
}

func (r rule) finding(h *hunk, at hit) finding.Finding {
	l := h.lines[at.line]
	f := finding.Finding{
		Path:       h.path,
		Side:       finding.Right,
		StartLine:  l.number,
		Line:       l.number,
		Severity:   at.severity,
		Category:   r.category,
		Confidence: confidence,
		Title:      strings.ReplaceAll(r.title, "{}", fillers().ReplaceAllString(at.subject, "…")),
		Body:       r.body,
		Suggestion: at.suggestion,
		Quote:      secret.Redact(strings.TrimSpace(l.text)),
		Placement:  finding.Inline,
		Source:     finding.Rule,
		Rule:       r.name,
	}
	f.Fingerprint = finding.Fingerprint(f)
	return f
}

// fillers matches what replaces the contents of a string in masked code.
var fillers = lazy(string(filler) + "+")
