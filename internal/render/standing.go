package render

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// standing are the findings that earlier reviews posted and that stand.
func (r Review) standing() (all []finding.Finding) {
	for _, e := range finding.Standing(r.Earlier) {
		all = append(all, e.Finding())
	}
	return all
}

// stands is "1 blocker, 2 minor of earlier reviews stand", or empty.
func (r Review) stands() string { return standCount(r.standing(), " of earlier reviews") }

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
		counts = []string{Count(ungraded, "finding")}
	case ungraded > 0:
		counts = append(counts, Count(ungraded, "other"))
	}
	if len(all) == 1 {
		verb = "stands"
	}
	return strings.Join(counts, ", ") + whose + " " + verb
}

// posted lists the findings of earlier reviews that stand: a few openly, more in a fold,
// and those beyond as a count.
func (r Review) posted() string {
	all := r.standing()
	if len(all) == 0 {
		return ""
	}
	urls := map[string]string{}
	for _, e := range r.Earlier {
		urls[e.Fingerprint] = e.URL
	}
	rows := []string{}
	for _, f := range all[:min(len(all), resolvedRows)] {
		rows = append(rows, r.postedItem(f, urls[f.Fingerprint]))
	}
	if more := len(all) - resolvedRows; more > 0 {
		rows = append(rows, "- and "+Thousands(int64(more))+" more")
	}
	title, text := "Posted before, and standing: "+Count(len(all), "finding"), strings.Join(rows, "\n")
	if len(all) > resolvedOpen {
		return paragraphs(details(title, text), ends)
	}
	return paragraphs("**"+title+"**", text, ends)
}

// ends says how a finding that stands and is wrong comes to its end.
const ends = "One that is wrong ends where somebody who may write, not the author, resolves its thread; " +
	"or in a draft that waits by `/drop` with its id and a reason."

// postedItem is a standing finding on a line, linked to the comment where we said it.
func (r Review) postedItem(f finding.Finding, url string) string {
	var parts []string
	if f.ID != "" {
		parts = append(parts, guard.Inline(f.ID, titleRunes))
	}
	if f.Severity != "" {
		parts = append(parts, "**"+guard.Inline(string(f.Severity), titleRunes)+"**")
	}
	return r.earlierItem(parts, f, url, "in the body of an earlier review")
}
