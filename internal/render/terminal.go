package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

const terminalFiles = 20 // not read in full that are named

// TerminalOptions fit a rendering to a terminal.
type TerminalOptions struct {
	Width int  // columns; 0 where there is no terminal: 80, and the first line in one
	Color bool // ANSI colours; the words are the same without
}

// terminal writes rows no wider than the width.
type terminal struct {
	strings.Builder
	Review
	TerminalOptions
	gutter int // columns before the bar
}

// Terminal is a review for reading at a prompt, as plain text with a line break
// at its end.
func Terminal(r Review, o TerminalOptions) string {
	piped := o.Width <= 0
	if piped {
		o.Width = 80
	}
	t := &terminal{Review: r, TerminalOptions: o, gutter: 8}
	if o.Width < 60 {
		t.gutter = 5
	}
	if r.Rules {
		t.prose("", RulesNotice)
	}
	t.verdict(piped)
	t.subject()
	for i, n := range r.warnings() {
		t.WriteString("\n")
		if i == noticesMax {
			t.prose("", Count(len(r.Notices)+len(r.Flags)-i, "more warning")+" of this kind")
			break
		}
		t.prose("", "warning: "+guard.Line(n, 1000))
	}
	t.overview()
	for i, f := range r.Findings {
		if i == 0 {
			t.WriteString("\n")
		}
		t.finding(f)
	}
	t.asked()
	t.stood()
	t.resolved()
	t.unread()
	t.foot()
	return t.String()
}

func (t *terminal) paint(code, s string) string { return Paint(t.Color, code, s) }

// prose writes wrapped text with a prefix before every row.
func (t *terminal) prose(prefix, text string) { t.painted("", prefix, text) }

// painted is prose in a colour.
func (t *terminal) painted(color, prefix, text string) {
	for _, line := range strings.Split(guard.Text(text), "\n") {
		for _, row := range wrapped(line, t.Width-column.Width(prefix)) {
			row = t.paint(color, strings.TrimRight(row, " "))
			t.WriteString(strings.TrimRight(prefix+row, " ") + "\n")
		}
	}
}

// wrapped guards every row anew: one may begin within a line, with what acts at
// the start of a line.
func wrapped(s string, width int) []string {
	rows := column.Wrap(s, width-1)
	for i, row := range rows {
		rows[i] = guard.Text(row)
	}
	return rows
}

// verdict says what was found and what was read, in one line where that fits
// or where nothing limits it, as in a pipe.
func (t *terminal) verdict(piped bool) {
	found := t.counts()
	if s := t.settled(); s != "" {
		found += ", " + s
	}
	if s := t.stands(); s != "" {
		found += ", " + s
	}
	if out := t.unreported(); out != "" {
		found += ", " + out
	}
	read := strings.ReplaceAll(t.tally(), "*", "") + skippedCounts(t.Files)
	if piped || column.Width(found+" · "+read) <= t.Width {
		t.WriteString(t.paint(Bold, found) + " · " + read + "\n")
		return
	}
	for _, row := range column.Wrap(found, t.Width) {
		t.WriteString(t.paint(Bold, row) + "\n")
	}
	for _, row := range column.Wrap(afterNumber.ReplaceAllString(read, "$1\u00a0"), t.Width) {
		t.WriteString(strings.ReplaceAll(row, "\u00a0", " ") + "\n")
	}
}

// overview and what was asked, for a terminal.
func (t *terminal) overview() {
	if t.Overview.Text != "" {
		t.WriteString("\n")
		t.prose("", "In a model's words: "+guard.Line(t.Overview.Text, overviewRunes))
	}
}

func (t *terminal) asked() {
	a := t.Asked
	for i, c := range a.Criteria[:min(len(a.Criteria), askedRows)] {
		if i == 0 {
			var keys []string
			for _, k := range a.Tickets {
				keys = append(keys, guard.Line(strings.TrimSpace(k.Key+" "+k.Summary), askedRunes))
			}
			t.WriteString("\n")
			t.prose("", strings.TrimSpace("What was asked: "+strings.Join(keys, "; ")))
		}
		said := fmt.Sprintf("%d  %s", c.N, strings.TrimRight(guard.Line(c.Text, askedRunes), "."))
		t.prose("  ", strings.TrimSpace(said)+": "+verdictOn(c, plainPlaces(c.Evidence)))
	}
	for _, u := range a.Unasked {
		t.prose("  ", strings.TrimSuffix("not asked for: "+plainPlaces([]finding.Lines{u.Lines})+": "+
			guard.Line(u.Text, askedRunes), ": "))
	}
	if len(a.Missing) > 0 {
		t.WriteString("\n")
		t.prose("", strings.NewReplacer("`", "", `\`, "").Replace(t.missing()))
	}
}

// subject says what the change is, and how often its draft was revised.
func (t *terminal) subject() {
	parts := []string{t.subjectOf(by(t.title(), guard.Line(t.Author, titleRunes))), t.revision()}
	if text := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "); text != "" {
		t.prose("", text)
	}
}

// resolved lists the findings of earlier reviews that the change has resolved.
func (t *terminal) resolved() {
	for i, e := range t.news() {
		if i == 0 {
			t.WriteString("\n")
		}
		if i == resolvedRows {
			t.prose("", fmt.Sprintf("and %s more resolved", Thousands(int64(len(t.news())-i))))
			return
		}
		f := asFinding(e)
		parts := []string{"resolved", guard.Line(position(f), titleRunes) + old(f), guard.Line(claimed(f), titleRunes)}
		t.prose("", strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "  "))
	}
}

// stood lists the same at a prompt.
func (t *terminal) stood() {
	all := t.standing()
	for i, f := range all {
		if i == 0 {
			t.WriteString("\n")
		}
		if i == resolvedRows {
			t.prose("", fmt.Sprintf("and %s more posted before", Thousands(int64(len(all)-i))))
			return
		}
		parts := []string{"stands", f.ID, string(f.Severity)}
		if f.Path != "" {
			parts = append(parts, position(f)+old(f))
		}
		parts = append(parts, claimed(f))
		var shown []string
		for _, part := range parts {
			if part = guard.Line(part, titleRunes); part != "" {
				shown = append(shown, part)
			}
		}
		t.prose("", strings.Join(shown, "  "))
	}
}

// afterNumber is the space at which a row does not break: the noun stays with
// its number.
var afterNumber = regexp.MustCompile(`([0-9]) `)

// skippedCounts is ", 2 skipped (1 lockfile, 1 generated)".
func skippedCounts(files []finding.FileReview) string {
	var parts []string
	n := 0
	_, covered := byCoverage(files)
	for _, g := range byReason(covered) {
		if g[0].State == finding.Skipped {
			parts = append(parts, amount(len(g), word(string(g[0].Reason))))
			n += len(g)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s skipped (%s)", Thousands(int64(n)), strings.Join(parts, ", "))
}

func (t *terminal) finding(f finding.Finding) {
	severity := string(f.Severity)
	place := guard.Line(position(f), 1000) + old(f)
	head := strings.TrimSpace(strings.Join([]string{f.ID, severity, place}, "  "))
	name := guard.Line(claimed(f), titleRunes)
	if column.Width(head)+2+column.Width(name) <= t.Width {
		t.WriteString(t.colored(head, severity) + "  " + t.paint(Bold, name) + "\n")
	} else {
		for _, row := range wrapped(head, t.Width) {
			t.WriteString(t.colored(row, severity) + "\n")
		}
		for _, row := range wrapped(name, t.Width-4) {
			t.WriteString("    " + t.paint(Bold, row) + "\n")
		}
	}
	t.code(f)
	if f.Placement == finding.Inline && f.Note != "" {
		t.painted(Dim, t.bar(), guard.Line(f.Note, 1000))
	}
	for _, text := range []string{strings.TrimSpace(f.Body), f.AlsoSaid()} {
		if text != "" {
			t.prose(t.bar(), text)
		}
	}
}

func (t *terminal) colored(head, severity string) string {
	code := SeverityColor(finding.Severity(severity))
	return strings.Replace(head, "  "+severity+"  ", "  "+t.paint(code, severity)+"  ", 1)
}

// bar stands before rows without a number.
func (t *terminal) bar() string { return strings.Repeat(" ", t.gutter) + " │ " }

// code shows the lines that a finding is about, or its quote, and the
// suggestion under them. A quote from outside of the diff was checked against
// nothing, so that the note stands in its place.
func (t *terminal) code(f finding.Finding) {
	rows, ok := t.Quoted(f)
	if len(rows) == 0 && outside(f) {
		t.painted(Dim, t.bar(), guard.Line(f.Note, 1000))
	}
	t.rows(rows, func(i int) string {
		if !ok && f.StartLine != f.Line {
			return "" // the quote may be any of the lines
		}
		return strconv.Itoa(f.StartLine + i)
	}, "")
	if showsSuggestion(f) {
		t.rows(strings.Split(strings.TrimSuffix(f.Suggestion, "\n"), "\n"), func(int) string { return "+" }, green)
	}
}

func (t *terminal) rows(rows []string, sign func(int) string, color string) {
	for i, row := range rows {
		if i == evidenceLines {
			fmt.Fprintf(t, "%*s │ %s\n", t.gutter, "", t.paint(Dim, "… "+Count(len(rows)-i, "more line")))
			return
		}
		text := column.Cut(guard.Line(strings.ReplaceAll(row, "\t", "    "), 1000), t.Width-t.gutter-3)
		fmt.Fprintf(t, "%s │ %s\n", t.paint(Dim, fmt.Sprintf("%*s", t.gutter, sign(i))), t.paint(color, text))
	}
}

// unread names the files that were not read in full.
func (t *terminal) unread() {
	open, _ := byCoverage(t.Files)
	for i, f := range open {
		if i == 0 {
			t.WriteString("\n")
		}
		if i == terminalFiles {
			t.prose("", fmt.Sprintf("and %s not read in full", Count(len(open)-i, "more file")))
			return
		}
		why := word(string(f.State))
		if f.Reason != "" {
			why += ": " + word(string(f.Reason))
		}
		t.prose("", guard.Line(f.Path, 1000)+"  "+guard.Line(why, titleRunes))
	}
}

func (t *terminal) foot() {
	if len(t.Filtered) > 0 {
		t.WriteString("\n")
		t.prose("", "kept out: "+filterCounts(t.Filtered))
	}
	if parts := costParts(t.Usage, t.Limit); len(parts) > 0 {
		t.WriteString("\n")
		t.prose("", strings.Join(parts, ", "))
	}
	for _, note := range []string{t.Linters, t.reused(), t.moved()} {
		if note != "" {
			t.prose("", note)
		}
	}
}
