package render

import (
	"cmp"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// Stands returns "1 blocker, 2 minor of earlier reviews stand", or "".
func (r Review) Stands() string {
	var all []finding.Finding
	for _, e := range finding.Standing(r.Earlier) {
		all = append(all, e.Finding())
	}
	return StandCount(all, OfEarlier)
}

// OfEarlier is whose the findings are that this review did not post.
const OfEarlier = " of earlier reviews"

// StandCount returns "1 blocker, 2 minor stand", with whose they are before the verb; "" for none.
func StandCount(all []finding.Finding, whose string) string {
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

// Settled returns "2 resolved", or "".
func (r Review) Settled() string { return wording.Any(len(r.NewlyResolved()), "resolved") }

// NewlyResolved returns the earlier findings whose resolution this review announces.
func (r Review) NewlyResolved() []finding.Earlier { return finding.NewlyResolved(r.Earlier) }

// Resolved lists the findings of earlier reviews that the change has resolved.
func (r Review) Resolved() string {
	all := r.NewlyResolved()
	title := "Resolved since: " + wording.Count(len(all), "finding") + " of earlier reviews"
	return r.listEarlier(title, all, func(e finding.Earlier) string {
		return r.earlierItem(e, "a finding that an earlier review holds", guard.Inline(string(e.Severity), TitleRunes))
	})
}

// PostedBefore lists the open findings of earlier reviews.
func (r Review) PostedBefore() string {
	all := finding.Standing(r.Earlier)
	if len(all) == 0 {
		return ""
	}
	title := "Posted before, and standing: " + wording.Count(len(all), "finding")
	return Paragraphs(r.listEarlier(title, all, func(e finding.Earlier) string {
		severity := guard.Inline(string(e.Severity), TitleRunes)
		if severity != "" {
			severity = "**" + severity + "**"
		}
		return r.earlierItem(e, "in the body of an earlier review", guard.Inline(e.ID, TitleRunes), severity)
	}), endsHint)
}

// Outdated returns what follows the path of an open finding if its comment has no line any more.
func Outdated(e finding.Earlier) string {
	if e.URL == "" || e.Path == "" || e.Line > 0 || e.Now == finding.Resolved {
		return ""
	}
	return " (outdated)"
}

// endsHint explains how to close a posted finding that is wrong.
const endsHint = "To close one that is wrong, somebody with write access, not the author, resolves its thread; " +
	"or the decision on a waiting draft has a `/drop` with its id and a reason."

const earlierOpen = 5 // findings of earlier reviews that are listed outside a fold

// listEarlier lists findings of earlier reviews: a few visibly, more in a fold, and the rest as a
// count.
func (r Review) listEarlier(title string, all []finding.Earlier, item func(finding.Earlier) string) string {
	var rows []string
	for _, e := range all[:min(len(all), EarlierRows)] {
		rows = append(rows, item(e))
	}
	if more := len(all) - EarlierRows; more > 0 {
		rows = append(rows, "- and "+wording.Thousands(int64(more))+" more")
	}
	switch list := strings.Join(rows, "\n"); {
	case len(all) == 0:
		return ""
	case len(all) > earlierOpen:
		return Details(title, list)
	default:
		return Paragraphs("**"+title+"**", list)
	}
}

// earlierItem returns an earlier finding on a line, after what said tells about it, and
// linked to our comment. elsewhere replaces place and title if it has neither.
func (r Review) earlierItem(e finding.Earlier, elsewhere string, said ...string) string {
	f, place := e.Finding(), ""
	if f.Path != "" {
		place = guard.Code(guard.Line(position(f), TitleRunes))
		if r.ownPage(e.URL) {
			place = "[" + place + "](" + e.URL + ")"
		}
		elsewhere, place = "", place+oldSuffix(f)+Outdated(e)
	}
	return "- " + wording.Joined(" ", append(said, place, cmp.Or(Title(f), elsewhere))...)
}
