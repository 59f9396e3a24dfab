// Package rule reviews a changed file by fixed rules, without a model: each
// rule looks at added lines together with the rest of their hunk.
//
// Rules are chosen for precision: one that is often wrong does not belong here.
// The package reads no file and no network, and what it returns depends on the
// diff alone. To add a rule, write a function that returns one, put it into
// list.go and give it cases under testdata. Start reading at Review, then at
// the rule in tls.go.
package rule

import (
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// confidence is that of every finding: what is less sure is no rule here.
const confidence = 0.85

// treatment says what becomes of a rule's findings in test files.
type treatment int

const (
	lowered treatment = iota // one severity lower
	skipped
	unchanged
)

// rule is one thing to look for.
type rule struct {
	name     string           // of its folder of cases
	category string           // of its findings
	severity finding.Severity // outside test files; single findings may differ
	title    string           // {} stands for the hit's subject
	body     string           // why it matters
	inTests  treatment
	find     in
}

// in says how a rule looks through the files of each language.
type in map[language]finder

// finder returns the places in a hunk where a rule found something; those on
// lines that were not added do not count.
type finder func(*hunk) []hit

// hit is one place where a rule found something.
type hit struct {
	line       int              // index into the hunk's lines
	subject    string           // fills the title
	severity   finding.Severity // empty for the rule's own
	suggestion string           // replaces the line; empty for none
}

// Review runs every rule that fits the file's language over its added lines and
// returns what they found, gravest first. A patch that cannot be parsed yields
// nothing: callers that must tell the two apart parse it with diff.Hunks first.
func Review(f diff.File) []finding.Finding {
	var found []finding.Finding
	hunks := newHunks(f)
	for _, r := range rules {
		found = append(found, r.review(hunks)...)
	}
	slices.SortFunc(found, finding.Compare)
	return found
}

func (r rule) review(hunks []*hunk) []finding.Finding {
	var found []finding.Finding
	for _, h := range hunks {
		for _, at := range r.hits(h) {
			if h.lines[at.line].added {
				found = append(found, r.finding(h, at))
			}
		}
	}
	return found
}

func (r rule) hits(h *hunk) []hit {
	if h.test && r.inTests == skipped {
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
		Severity:   r.grade(h, at),
		Category:   r.category,
		Confidence: confidence,
		Title:      strings.ReplaceAll(r.title, "{}", fillers().ReplaceAllString(at.subject, "…")),
		Body:       r.body,
		Suggestion: at.suggestion,
		Quote:      redacted(strings.TrimSpace(l.text)),
		Placement:  finding.Inline,
		Source:     finding.Rule,
		Rule:       r.name,
	}
	f.Fingerprint = finding.Fingerprint(f)
	return f
}

// fillers are what masked code has in place of the inside of a string.
var fillers = lazy(string(filler) + "+")

func (r rule) grade(h *hunk, at hit) finding.Severity {
	s := r.severity
	if at.severity != "" {
		s = at.severity
	}
	if !h.test || r.inTests == unchanged {
		return s
	}
	return finding.Severities()[max(s.Rank()-1, 0)]
}
