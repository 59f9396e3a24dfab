package render

import (
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	resolvedOpen = 5 // resolved findings that are listed without a fold
)

// NewlyResolved are the earlier findings whose resolution this review announces.
func (r Review) NewlyResolved() []finding.Earlier { return finding.NewlyResolved(r.Earlier) }

// Settled is "2 resolved", or empty.
func (r Review) Settled() string {
	n := len(r.NewlyResolved())
	if n == 0 {
		return ""
	}
	return wording.Thousands(int64(n)) + " resolved"
}

// Resolved lists the findings of earlier reviews that the change has resolved:
// a few openly, more in a fold, and those beyond as a count.
func (r Review) Resolved() string {
	news := r.NewlyResolved()
	if len(news) == 0 {
		return ""
	}
	var rows []string
	for _, e := range news[:min(len(news), EarlierRows)] {
		rows = append(rows, r.resolvedItem(e))
	}
	if more := len(news) - EarlierRows; more > 0 {
		rows = append(rows, "- and "+wording.Thousands(int64(more))+" more")
	}
	list := strings.Join(rows, "\n")
	if len(news) > resolvedOpen {
		return Details(resolvedTitle(len(news)), list)
	}
	return Paragraphs("**"+resolvedTitle(len(news))+"**", list)
}

func resolvedTitle(n int) string {
	return "Resolved since: " + wording.Count(n, "finding") + " of earlier reviews"
}

// resolvedItem is a resolved finding on a line, linked to the comment where we
// said it.
func (r Review) resolvedItem(e finding.Earlier) string {
	var parts []string
	if e.Severity != "" {
		parts = append(parts, guard.Inline(string(e.Severity), TitleRunes))
	}
	return r.earlierItem(parts, e.Finding(), e.URL, "a finding that an earlier review holds")
}

// earlierItem puts place and title of an earlier review's finding behind what is said of
// it; where it has neither, elsewhere.
func (r Review) earlierItem(parts []string, f finding.Finding, url, elsewhere string) string {
	if f.Path != "" {
		place := guard.Code(guard.Line(position(f), TitleRunes))
		if r.ownPage(url) {
			place = "[" + place + "](" + url + ")"
		}
		parts = append(parts, place+old(f))
	}
	if t := Title(f); t != "" {
		parts = append(parts, t)
	} else if f.Path == "" {
		parts = append(parts, elsewhere)
	}
	return "- " + strings.Join(parts, " ")
}
