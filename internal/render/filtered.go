package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

const filteredBytes = 150_000 // of the list of what was filtered, about

// reason says why findings are filtered: short in a count, long above their list.
type reason struct {
	filter      finding.Filter
	short, long string
}

// reasons are in the order shown: first those that involve people.
var reasons = []reason{
	{finding.AlreadyPosted, "posted before", "An earlier review of ours says it"},
	{finding.AlreadyCommented, "said by people", "Somebody said it of the same lines"},
	{finding.DroppedBefore, "dropped before", "An approver dropped it from an earlier draft"},
	{finding.Dropped, "dropped", "The approver dropped it"},
	{finding.LeftOut, "not reported", "The settings report no such findings"},
	{finding.Duplicate, "duplicate", "Another finding says it"},
	{finding.Repeat, "in one with others", "Another finding lists its line"},
	{finding.Capped, "beyond a linter's limit", "A linter says more than is shown of it"},
	{finding.LowConfidence, "low confidence", "The reviewer is not sure enough"},
	{finding.Refuted, "refuted", "Verification refuted it"},
	{finding.Misquoted, "misquoted", "It quotes a line that is nowhere in the change"},
}

// filteredByReason groups findings by the reason for which they were filtered, in the order of reasons.
func filteredByReason(all []finding.Finding) (why []reason, groups [][]finding.Finding) {
	for _, r := range reasons {
		other := func(f finding.Finding) bool { return f.Filtered != r.filter }
		if g := slices.DeleteFunc(slices.Clone(all), other); len(g) > 0 {
			why, groups = append(why, r), append(groups, g)
		}
	}
	return why, groups
}

// FilteredList lists the filtered findings, by reason.
func (r Review) FilteredList() string {
	all := r.Filtered
	if len(all) == 0 {
		return ""
	}
	var blocks []string
	size := 0
	why, groups := filteredByReason(all)
	for i, g := range groups {
		var rows []string
		for j, f := range g {
			row := filteredItem(f)
			if size += len(row); size > filteredBytes {
				rows = append(rows, "- and "+wording.Thousands(int64(len(g)-j))+" more")
				break
			}
			rows = append(rows, row)
		}
		blocks = append(blocks, guard.Inline(why[i].long, TitleRunes)+":", strings.Join(rows, "\n"))
	}
	return Details("Filtered: "+InlineHTML(r.FilteredCounts(), 0), Paragraphs(blocks...))
}

func filteredItem(f finding.Finding) string {
	row := fmt.Sprintf("- %s %s", f.Severity, guard.Code(position(f))+oldSuffix(f))
	if t := Title(f); t != "" {
		row += " " + t
	}
	if f.Note != "" {
		row += " (" + guard.Inline(f.Note, TitleRunes) + ")"
	}
	return row
}

// FilteredCounts returns "2 posted before, 1 duplicate".
func (r Review) FilteredCounts() string {
	var parts []string
	why, groups := filteredByReason(r.Filtered)
	for i, g := range groups {
		parts = append(parts, wording.Amount(len(g), why[i].short))
	}
	return strings.Join(parts, ", ")
}

// Unreported counts what the settings leave out: "12 below minor left out, 1 blocker of other
// categories left out"; "" if nothing. A finding that is not below the line counts as one of
// category or rule: the filter does not say more.
func (r Review) Unreported() string {
	var others []finding.Finding
	weak := 0
	for _, f := range r.Filtered {
		switch {
		case f.Filtered != finding.LeftOut:
		case f.Severity.Rank() < r.From.Rank():
			weak++
		default:
			others = append(others, f)
		}
	}
	rest := ""
	if len(others) > 0 {
		rest = finding.Counts(others) + " of other categories or rules left out"
	}
	return wording.Joined(", ", wording.Any(weak, "below "+string(r.From)+" left out"), rest)
}
