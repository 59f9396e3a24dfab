package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/stats"
	"github.com/org/pr-review-action/internal/wording"
)

const maxListedCases = 30 // most failed cases to list

// Markdown returns the report for people, in a terminal or on a page. It contains
// no time, so two runs with the same answers give the same bytes, and no workflow
// command that a runner would execute.
func (r Report) Markdown() string {
	return page("## Evaluation", r.head(), r.notes(), r.figures(), r.ticketTable(), r.shownTable(), r.groups(),
		r.losses(), r.failedCases(), r.bill(), r.measuredWith())
}

// head returns the line that names the reviewer and the judge.
func (r Report) head() string {
	parts := []string{"Reviewer " + guard.Code(r.Reviewer)}
	if r.Model != "" && r.Model != r.Reviewer {
		parts = append(parts, "model "+guard.Code(r.Model))
	}
	judge := "no judge"
	if r.judged() {
		judge = "judge " + guard.Code(r.Judge)
		if a := r.Agreement; a != nil {
			judge += fmt.Sprintf(" (right on %s labelled pairs)", outOf(a.Agreed, a.Of))
		}
	}
	return strings.Join(append(parts, judge, fmt.Sprintf("%s, %d of them clean", wording.Count(r.Cases, "case"),
		r.CleanCases)), " · ")
}

func (a About) judged() bool { return a.Judge != "" }

func (r Report) notes() string {
	var notes []string
	note := func(applies bool, says string) {
		if applies {
			notes = append(notes, "> "+says)
		}
	}
	note(!r.judged(), "No judge: only the place decides what is a hit (same file, at most 3 lines away). That "+
		"overstates; these figures are not recall to publish.")
	if a := r.Agreement; r.judged() && a != nil {
		note(!a.usable(), fmt.Sprintf("The judge is right on too few labelled pairs to be used: %s, where 90 %% are "+
			"needed.", outOf(a.Agreed, a.Of)))
	}
	note(r.Reviewer == Scripted, "The reviewer is the scripted model, which knows the answers: these figures "+
		"measure the pipeline, not a model.")
	note(r.Cases > 0 && r.Posted == 0, "Nothing was posted. A reviewer that posts nothing passes the clean cases only.")
	note(r.UnreadCases > 0, wording.Count(r.UnreadCases, "case")+" could not be read in full.")
	if len(notes) == 0 {
		return ""
	}
	return "> [!NOTE]\n" + strings.Join(notes, "\n>\n")
}

// figures returns the table of scores, shares first.
func (r Report) figures() string {
	t := table{head: []string{"figure", "value", "of", "95 % interval"}, align: "lrrr"}
	share := func(name string, n, of int, always bool) {
		if v := stats.Wilson(n, of); v != nil {
			t.add(name, percent(v.Value), outOf(n, of), intervalText(v))
		} else if always {
			t.add(name, none, none, none)
		}
	}
	local, context := r.By[byVisibility][string(dataset.Local)], r.By[byVisibility][string(dataset.Context)]
	clean := r.By[byVisibility][string(dataset.Clean)]
	share("cases passed", r.Passed, r.Cases, true)
	share("… with only local defects", local.Passed, local.Cases, false)
	share("… clean", clean.Passed, clean.Cases, false)
	share("recall: known findings hit", r.Hit, r.Golden, true)
	share("… local", local.Hit, local.Golden, false)
	share("… that need context", context.Hit, context.Golden, false)
	share("… with a finding anywhere in their file", r.FileHit, r.Golden, false)
	share("precision: posted findings that hit", r.Matched, r.Posted, true)
	if r.Rates.PrecisionJudged != nil {
		share("… or that the judge calls valid", r.Matched+r.Valid, r.Posted, false)
	}
	cases := wording.Count(r.Cases, "case")
	t.add("posted per case", meanText(r.Rates.PostedPerCase), cases, none)
	t.add("unmatched of major or higher per case", meanText(r.Rates.UnmatchedMajorPerCase), cases, none)
	t.add("false positives per clean case", meanText(r.Rates.FalsePositivesOnClean),
		wording.Count(r.CleanCases, "case"), none)
	return t.String()
}

func (r Report) shownTable() string {
	if r.Shown == nil {
		return ""
	}
	t := table{head: []string{"beside the diff", "known findings hit", "of these decided elsewhere", "input tokens"},
		align: "lrrr"}
	for _, name := range []string{"both", "packs", "tools", "neither"} {
		of := r.Shown[name]
		if name == "both" {
			name = "packs and tools"
		}
		t.add(name, outOf(of.Hit, of.Golden), outOf(of.Elsewhere.Hit, of.Elsewhere.Golden),
			wording.Thousands(of.InputTokens))
	}
	return paragraphs("### By what was shown", t.String(), "A finding counts where the lines that decide it stood in "+
		"a prompt or in what a tool gave; tokens are bytes by four.")
}

func meanText(v *float64) string {
	if v == nil {
		return none
	}
	return fmt.Sprintf("%.2f", *v)
}

func intervalText(v *stats.Interval) string {
	return strings.TrimSuffix(percent(v.Low), " %") + " – " + percent(v.High)
}

// groups returns one table of all breakdowns.
func (r Report) groups() string {
	t := table{head: []string{"by", "group", "cases passed", "known findings hit", "posted that hit",
		"posted on clean cases"}, align: "llrrrr"}
	visibilities := []string{string(dataset.Local), string(dataset.Context), string(dataset.Clean)}
	severities := []string{string(finding.Blocker), string(finding.Major), string(finding.Minor), string(finding.Nit)}
	for _, d := range []struct {
		name  string
		order []string
	}{{byLanguage, nil}, {bySeverity, severities}, {byVisibility, visibilities}} {
		label := d.name
		for _, name := range names(r.By[d.name], d.order) {
			c := r.By[d.name][name]
			t.add(label, cell(name), outOf(c.Passed, c.Cases), outOf(c.Hit, c.Golden), outOf(c.Matched, c.Posted),
				countOrNone(c.CleanFalsePositives))
			label = ""
		}
	}
	if len(t.rows) == 0 {
		return ""
	}
	return paragraphs("### By group", t.String(), "Known findings count by their own severity, posted ones by "+
		"theirs, and a case by its most severe known finding.")
}

func countOrNone(n int) string {
	if n == 0 {
		return none
	}
	return wording.Thousands(int64(n))
}

// losses returns the section on the model's findings that did not reach the review,
// or reached it at another place.
func (r Report) losses() string {
	text := "Nothing was lost between the model's answers and the review."
	if len(r.Losses) > 0 {
		t := table{head: []string{"stage", "lost", "near a known finding"}, align: "lrr"}
		for _, stage := range names(r.Losses, Stages()) {
			t.add(cell(stage), wording.Thousands(int64(len(r.Losses[stage]))), countOrNone(nearKnown(r.Losses[stage])))
		}
		text = t.String()
	}
	for _, stage := range names(r.Moved, Stages()) {
		all := r.Moved[stage]
		text = paragraphs(text, fmt.Sprintf("Moved, not lost: %s at stage %s (near a known one: %d).",
			wording.Count(len(all), "finding"), cell(stage), nearKnown(all)))
	}
	return paragraphs("### Lost on the way", text)
}

func nearKnown(all []Lost) (n int) {
	for _, l := range all {
		n += boolToInt(l.Known)
	}
	return n
}

func (r Report) failedCases() string {
	if len(r.NotPassed) == 0 {
		return ""
	}
	var rows []string
	for _, c := range r.NotPassed[:min(len(r.NotPassed), maxListedCases)] {
		rows = append(rows, "- "+guard.Code(c.Case)+": "+inline(c.Why))
	}
	if more := len(r.NotPassed) - maxListedCases; more > 0 {
		rows = append(rows, fmt.Sprintf("- … and %d more", more))
	}
	return paragraphs(fmt.Sprintf("### Did not pass (%s)", outOf(len(r.NotPassed), r.Cases)), strings.Join(rows, "\n"))
}

func (r Report) bill() string {
	var parts []string
	for _, p := range []struct {
		name string
		used cost.Usage
	}{{"review", cost.Usage(r.Usage)}, {"judge", cost.Usage(r.Judging)}} {
		if p.used.Calls > 0 {
			parts = append(parts, p.name+" "+strings.Join(wording.Costs(p.used, 0), ", "))
		}
	}
	if q := r.CostPerCase; q != nil && q.P95 > 0 {
		parts = append(parts, fmt.Sprintf("review of a case $%.4f at the median, $%.4f at p95", q.P50/1e6, q.P95/1e6))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Used: " + strings.Join(parts, "; ") + "."
}

func (r Report) measuredWith() string {
	var parts []string
	for _, name := range names(r.Fingerprints, nil) {
		value, most := r.Fingerprints[name], 80
		if strings.Trim(value, "0123456789abcdef") == "" {
			most = 12 // of a hash
		}
		parts = append(parts, cell(name)+" "+guard.Code(guard.Line(value, most)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Measured with " + strings.Join(parts, ", ") + "."
}

// none is the text of a cell whose figure is undefined.
const none = "–"

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func outOf(n, of int) string {
	if of == 0 {
		return none
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// paragraphs joins blocks with an empty line between them.
func paragraphs(blocks ...string) string { return wording.Joined("\n\n", blocks...) }

// page joins blocks to a text that is safe on a page and in a terminal.
func page(blocks ...string) string { return guard.Text(paragraphs(blocks...)) + "\n" }

// inline turns text that may quote untrusted words into a line of Markdown.
func inline(s string) string { return guard.Inline(s, 400) }

// cell turns untrusted words into a table cell. A bar would end the cell, even
// within a code span.
func cell(s string) string { return guard.Inline(strings.ReplaceAll(s, "|", "¦"), 40) }

// names returns the keys of a map: those in first come first, in that order, then
// the others in alphabetical order.
func names[V any](of map[string]V, first []string) []string {
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}

// table is a Markdown table whose columns are aligned in a terminal too. align has
// an l or r for each column.
type table struct {
	head  []string
	align string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String returns the table, without a trailing newline.
func (t table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	rule := strings.NewReplacer("l", "---\t| ", "r", "--:\t| ").Replace(t.align)
	fmt.Fprintf(w, "| %s\t|\n| %s\n", strings.Join(t.head, "\t| "), strings.TrimSuffix(rule, " "))
	for _, row := range t.rows {
		fmt.Fprintf(w, "| %s\t|\n", strings.Join(row, "\t| "))
	}
	_ = w.Flush() // writing to memory
	return strings.TrimSuffix(b.String(), "\n")
}
