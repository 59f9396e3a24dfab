// Package terminal shows a review, a proposal, waiting drafts and the progress of a run as
// rows of plain text no wider than a terminal, in colours if it has them. Outside text cannot
// control the terminal or the runner. Start reading at Review.
package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/render"
	"github.com/org/pr-review-action/internal/wording"
)

// Options adapts a rendering to a terminal.
type Options struct {
	Width int  // columns; 0 if there is no terminal: 80, and an unwrapped first line
	Color bool // ANSI colours; the words are the same without
}

// screen writes rows no wider than the width.
type screen struct {
	strings.Builder
	render.Review
	Options
	gutter int // columns before the bar
}

// Review returns a review for reading at a prompt, as plain text that ends in a line break.
func Review(r render.Review, o Options) string {
	piped := o.Width <= 0
	if piped {
		o.Width = 80
	}
	t := &screen{Review: r, Options: o, gutter: 8}
	if o.Width < 60 {
		t.gutter = 5
	}
	if r.Rules {
		t.writeText("", render.RulesNotice)
	}
	t.writeVerdict(piped)
	if text := t.PlainSubject(); text != "" {
		t.writeText("", text)
	}
	for i, n := range r.Warnings() {
		t.WriteString("\n")
		if i == render.WarningRows {
			t.writeText("", wording.Count(len(r.Notices)+len(r.Flags)-i, "more warning")+" of this kind")
			break
		}
		t.writeText("", "warning: "+guard.Line(n, 1000))
	}
	if t.Overview != "" {
		by := "In a model's words: "
		if t.Edited {
			by = "What it does: "
		}
		t.WriteString("\n")
		t.writeText("", by+guard.Line(t.Overview, render.OverviewRunes))
	}
	for i, f := range r.Findings {
		if i == 0 {
			t.WriteString("\n")
		}
		t.writeFinding(f)
	}
	t.writeAsked()
	t.writeEarlier()
	t.writeUnread()
	t.writeFoot()
	return t.String()
}

func (t *screen) paint(code, s string) string { return Paint(t.Color, code, s) }

func (t *screen) writeText(prefix, text string) { t.writeColored("", prefix, text) }

func (t *screen) writeColored(color, prefix, text string) {
	for _, line := range strings.Split(guard.Text(text), "\n") {
		for _, row := range wording.Wrapped(line, t.Width-column.Width(prefix)) {
			row = t.paint(color, strings.TrimRight(row, " "))
			t.WriteString(strings.TrimRight(prefix+row, " ") + "\n")
		}
	}
}

// writeVerdict writes what was found and what was read, in one line if that fits or if nothing
// limits it, as in a pipe.
func (t *screen) writeVerdict(piped bool) {
	found := wording.Joined(", ", t.Result(), t.Settled(), t.Stands(), t.Unreported())
	read := strings.ReplaceAll(t.Tally(), "*", "") + t.SkippedByReason()
	if piped || column.Width(found+" · "+read) <= t.Width {
		t.WriteString(t.paint(Bold, found) + " · " + read + "\n")
		return
	}
	t.writeColored(Bold, "", found)
	t.writeText("", read)
}

func (t *screen) writeAsked() {
	a := t.Asked
	for i, c := range a.Criteria[:min(len(a.Criteria), render.AskedRows)] {
		if i == 0 {
			var keys []string
			for _, k := range a.Tickets {
				keys = append(keys, guard.Line(strings.TrimSpace(k.Key+" "+k.Summary), render.AskedRunes))
			}
			t.WriteString("\n")
			t.writeText("", strings.TrimSpace("What was asked: "+strings.Join(keys, "; ")))
		}
		said := fmt.Sprintf("%d  %s", c.N, strings.TrimRight(guard.Line(c.Text, render.AskedRunes), "."))
		t.writeText("  ", strings.TrimSpace(said)+": "+render.Verdict(c, plainPlaces(c.Evidence)))
	}
	for _, u := range a.Unasked {
		t.writeText("  ", strings.TrimSuffix("not asked for: "+plainPlaces([]finding.Lines{u.Lines})+": "+
			guard.Line(u.Text, render.AskedRunes), ": "))
	}
	if len(a.Missing) > 0 {
		t.WriteString("\n")
		t.writeText("", strings.NewReplacer("`", "", `\`, "").Replace(t.Missing()))
	}
}

func plainPlaces(all []finding.Lines) string {
	var places []string
	for _, l := range all {
		places = append(places, guard.Line(l.Path, render.TitleRunes)+":"+l.Numbers())
	}
	return strings.Join(slices.Compact(places), ", ")
}

func (t *screen) writeEarlier() {
	all := finding.Standing(t.Earlier)
	t.writeRows(len(all), "more posted before", func(i int) string {
		f := all[i].Finding()
		return wording.Joined("  ", "stands", guard.Line(f.ID, render.TitleRunes),
			guard.Line(string(f.Severity), render.TitleRunes), place(f)+render.Outdated(all[i]), name(f))
	})
	news := t.NewlyResolved()
	t.writeRows(len(news), "more resolved", func(i int) string {
		f := news[i].Finding()
		return wording.Joined("  ", "resolved", place(f), name(f))
	})
}

// writeRows writes a row for each of n, up to a limit, and the number of the rest.
func (t *screen) writeRows(n int, more string, row func(i int) string) {
	for i := range min(n, render.EarlierRows) {
		if i == 0 {
			t.WriteString("\n")
		}
		t.writeText("", row(i))
	}
	if left := n - render.EarlierRows; left > 0 {
		t.writeText("", fmt.Sprintf("and %s %s", wording.Thousands(int64(left)), more))
	}
}

func (t *screen) writeFinding(f finding.Finding) {
	severity := string(f.Severity)
	head := strings.TrimSpace(strings.Join([]string{f.ID, severity, place(f)}, "  "))
	name := name(f)
	if column.Width(head)+2+column.Width(name) <= t.Width {
		t.WriteString(t.colorSeverity(head, severity) + "  " + t.paint(Bold, name) + "\n")
	} else {
		for _, row := range wording.Wrapped(head, t.Width) {
			t.WriteString(t.colorSeverity(row, severity) + "\n")
		}
		for _, row := range wording.Wrapped(name, t.Width-4) {
			t.WriteString("    " + t.paint(Bold, row) + "\n")
		}
	}
	t.writeCode(f)
	if f.Placement == finding.Inline && f.Note != "" {
		t.writeColored(Dim, t.bar(), guard.Line(f.Note, 1000))
	}
	for _, text := range []string{strings.TrimSpace(f.Body), f.AlsoSaid()} {
		if text != "" {
			t.writeText(t.bar(), text)
		}
	}
}

func (t *screen) colorSeverity(head, severity string) string {
	code := SeverityColor(finding.Severity(severity))
	return strings.Replace(head, "  "+severity+"  ", "  "+t.paint(code, severity)+"  ", 1)
}

// bar precedes rows without a number.
func (t *screen) bar() string { return strings.Repeat(" ", t.gutter) + " │ " }

// writeCode shows the lines that a finding is about, or its quote, and the suggestion under them.
// A quote from outside the diff was not verified, so the note replaces it.
func (t *screen) writeCode(f finding.Finding) {
	rows, ok := t.Quoted(f)
	if len(rows) == 0 && f.Placement == finding.Body && f.Note != "" {
		t.writeColored(Dim, t.bar(), guard.Line(f.Note, 1000))
	}
	t.writeCodeRows(rows, func(i int) string {
		if !ok && f.StartLine != f.Line {
			return "" // the quote may be any of the lines
		}
		return strconv.Itoa(f.StartLine + i)
	})
	if render.ShowsSuggestion(f) {
		for row := range strings.SplitSeq(strings.TrimSuffix(f.Suggestion, "\n"), "\n") {
			for i, part := range column.Fold(codeLine(row), t.Width-t.gutter-3) {
				t.writeCodeRow([]string{"+", ""}[min(i, 1)], part, green)
			}
		}
	}
}

// codeLine returns a line of code as shown.
func codeLine(row string) string { return guard.Line(strings.ReplaceAll(row, "\t", "    "), 1000) }

func (t *screen) writeCodeRow(sign, text, color string) {
	fmt.Fprintf(t, "%s │ %s\n", t.paint(Dim, fmt.Sprintf("%*s", t.gutter, sign)), t.paint(color, text))
}

func (t *screen) writeCodeRows(rows []string, sign func(int) string) {
	for i, row := range rows {
		if i == render.CodeLines {
			fmt.Fprintf(t, "%*s │ %s\n", t.gutter, "", t.paint(Dim, "… "+wording.Count(len(rows)-i, "more line")))
			return
		}
		t.writeCodeRow(sign(i), column.Cut(codeLine(row), t.Width-t.gutter-3), "")
	}
}

func (t *screen) writeUnread() {
	open := slices.DeleteFunc(slices.Clone(t.Files), finding.FileReview.Covered)
	why := func(f finding.FileReview) string {
		return guard.Line(wording.Joined(": ", wording.Words(string(f.State)), wording.Words(string(f.Reason))),
			render.TitleRunes)
	}
	alike := order.Grouped(open, why)
	t.writeRows(len(alike), "more reasons", func(i int) string {
		var paths []string
		for _, f := range alike[i][:min(len(alike[i]), render.EarlierRows)] {
			paths = append(paths, guard.Line(f.Path, 1000))
		}
		if more := len(alike[i]) - len(paths); more > 0 {
			paths = append(paths, "and "+wording.Thousands(int64(more))+" more")
		}
		return strings.Join(paths, ", ") + "  " + why(alike[i][0])
	})
}

func (t *screen) writeFoot() {
	if len(t.Filtered) > 0 {
		t.WriteString("\n")
		t.writeText("", "filtered: "+t.FilteredCounts())
		refuted := slices.DeleteFunc(slices.Clone(t.Filtered), // severe, and taken out on a model's word
			func(f finding.Finding) bool { return f.Filtered != finding.Refuted })
		t.writeRows(len(refuted), "more refuted", func(i int) string {
			f := refuted[i]
			return wording.Joined(": ", fmt.Sprintf("refuted  %s  %s  %s", f.Severity, render.Place(f),
				guard.Line(render.PlainTitle(f), render.TitleRunes)), guard.Line(f.Note, render.TitleRunes))
		})
	}
	if parts := wording.Costs(t.Usage, t.Limit); len(parts) > 0 {
		t.WriteString("\n")
		t.writeText("", strings.Join(parts, ", "))
	}
	for _, note := range []string{t.Linters, t.FromEarlier(), t.Moved()} {
		if note != "" {
			t.writeText("", note)
		}
	}
}

// place returns the position of a finding; "" for one of the whole pull request.
func place(f finding.Finding) string {
	if f.Path == "" {
		return ""
	}
	return render.Place(f)
}

func name(f finding.Finding) string { return guard.Line(render.PlainTitle(f), render.TitleRunes) }

// ANSI colours of a terminal, by what they mean here.
const (
	Bold  = "1"
	Dim   = "2"
	green = "32"
	red   = "31"
	cyan  = "36"
)

// SeverityColor returns the colour of a severity's name; "" for an unknown one.
func SeverityColor(s finding.Severity) string {
	return map[finding.Severity]string{finding.Blocker: "1;31", finding.Major: "33", finding.Minor: "36",
		finding.Nit: Dim}[s]
}

// Paint colours text if colours are on.
func Paint(on bool, color, s string) string {
	if !on || s == "" || color == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
