package render

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

const (
	resolvedOpen = 5  // resolved findings that are listed without a fold
	resolvedRows = 20 // that are listed at all
)

// news are the earlier findings whose resolution this review announces.
func (r Review) news() []finding.Earlier { return finding.NewlyResolved(r.Earlier) }

// settled is "2 resolved", or empty.
func (r Review) settled() string {
	n := len(r.news())
	if n == 0 {
		return ""
	}
	return Thousands(int64(n)) + " resolved"
}

// resolved lists the findings of earlier reviews that the change has resolved:
// a few openly, more in a fold, and those beyond as a count.
func (r Review) resolved() string {
	news := r.news()
	if len(news) == 0 {
		return ""
	}
	var rows []string
	for _, e := range news[:min(len(news), resolvedRows)] {
		rows = append(rows, r.resolvedItem(e))
	}
	if more := len(news) - resolvedRows; more > 0 {
		rows = append(rows, "- and "+Thousands(int64(more))+" more")
	}
	list := strings.Join(rows, "\n")
	if len(news) > resolvedOpen {
		return details(resolvedTitle(len(news)), list)
	}
	return paragraphs("**"+resolvedTitle(len(news))+"**", list)
}

func resolvedTitle(n int) string {
	return "Resolved since: " + Count(n, "finding") + " of earlier reviews"
}

// resolvedItem is a resolved finding on a line, linked to the comment where we
// said it.
func (r Review) resolvedItem(e finding.Earlier) string {
	var parts []string
	if e.Severity != "" {
		parts = append(parts, guard.Inline(string(e.Severity), titleRunes))
	}
	return r.earlierItem(parts, asFinding(e), e.URL, "a finding that an earlier review holds")
}

// earlierItem puts place and title of an earlier review's finding behind what is said of
// it; where it has neither, elsewhere.
func (r Review) earlierItem(parts []string, f finding.Finding, url, elsewhere string) string {
	if f.Path != "" {
		place := guard.Code(guard.Line(position(f), titleRunes))
		if r.ownPage(url) {
			place = "[" + place + "](" + url + ")"
		}
		parts = append(parts, place+old(f))
	}
	if t := title(f); t != "" {
		parts = append(parts, t)
	} else if f.Path == "" {
		parts = append(parts, elsewhere)
	}
	return "- " + strings.Join(parts, " ")
}

// asFinding is what an earlier finding shares with one of this review.
func asFinding(e finding.Earlier) finding.Finding {
	return finding.Finding{Path: e.Path, Side: e.Side, StartLine: e.StartLine, Line: e.Line, Title: e.Title}
}
