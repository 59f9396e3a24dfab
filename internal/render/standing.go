package render

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// Standing are the findings that earlier reviews posted and that stand.
func (r Review) Standing() (all []finding.Finding) {
	for _, e := range finding.Standing(r.Earlier) {
		all = append(all, e.Finding())
	}
	return all
}

// Stands is "1 blocker, 2 minor of earlier reviews stand", or empty.
func (r Review) Stands() string { return standCount(r.Standing(), " of earlier reviews") }

// StandsWithNew is the same of those and of the findings that this review has posted.
func (r Review) StandsWithNew() string { return standCount(append(r.Standing(), r.Findings...), "") }

// standCount is "1 blocker stands", with whose they are between; empty for none.
func standCount(all []finding.Finding, whose string) string {
	if len(all) == 0 {
		return ""
	}
	verb, counts := "stand", []string{finding.Counts(all)}
	graded := 0
	for _, s := range finding.Severities() {
		graded += finding.Count(all, s)
	}
	switch ungraded := len(all) - graded; {
	case graded == 0:
		counts = []string{wording.Count(ungraded, "finding")}
	case ungraded > 0:
		counts = append(counts, wording.Count(ungraded, "other"))
	}
	if len(all) == 1 {
		verb = "stands"
	}
	return strings.Join(counts, ", ") + whose + " " + verb
}

// PostedBefore lists the findings of earlier reviews that stand: a few openly, more in a fold,
// and those beyond as a count.
func (r Review) PostedBefore() string {
	all := r.Standing()
	if len(all) == 0 {
		return ""
	}
	urls := map[string]string{}
	for _, e := range r.Earlier {
		urls[e.Fingerprint] = e.URL
	}
	rows := []string{}
	for _, f := range all[:min(len(all), EarlierRows)] {
		rows = append(rows, r.postedItem(f, urls[f.Fingerprint]))
	}
	if more := len(all) - EarlierRows; more > 0 {
		rows = append(rows, "- and "+wording.Thousands(int64(more))+" more")
	}
	title, text := "Posted before, and standing: "+wording.Count(len(all), "finding"), strings.Join(rows, "\n")
	if len(all) > resolvedOpen {
		return Paragraphs(Details(title, text), ends)
	}
	return Paragraphs("**"+title+"**", text, ends)
}

// ends says how a finding that stands and is wrong comes to its end.
const ends = "One that is wrong ends where somebody who may write, not the author, resolves its thread; " +
	"or in a draft that waits by `/drop` with its id and a reason."

// postedItem is a standing finding on a line, linked to the comment where we said it.
func (r Review) postedItem(f finding.Finding, url string) string {
	var parts []string
	if f.ID != "" {
		parts = append(parts, guard.Inline(f.ID, TitleRunes))
	}
	if f.Severity != "" {
		parts = append(parts, "**"+guard.Inline(string(f.Severity), TitleRunes)+"**")
	}
	return r.earlierItem(parts, f, url, "in the body of an earlier review")
}
