package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// Node is a finished piece of a run, for Tree. All texts may be untrusted.
type Node struct {
	Name     string        // of the step, the path of the file, or task and model of the call
	Time     time.Duration // duration; negative if unknown
	Usage    cost.Usage
	End      string             // how it ended: a state, or the finish reason of an answer
	Tools    []finding.ToolCall // requested by the call
	Notes    []string           // anything else about it
	Children []Node
}

const (
	defaultWidth = 80
	minimumName  = 16 // columns, kept before numbers
	maxName      = 500
	maxEnd       = 24 // columns for how a piece ended, if there is room
)

// Tree draws a run: a row for each node with time, input and output tokens, cost and end, and below each call the
// tools that it requested. No row is wider than width columns; 0 means 80. The result is plain text that ends in a
// line break, and the same for the same run.
func Tree(run Node, width int) string {
	if width <= 0 {
		width = defaultWidth
	}
	rows := []row{{cells: []string{"", "time", "in", "out", "cost", "end"}}}
	rows = flatten(rows, run, "", "")
	return draw(rows, width)
}

// row is a line of the tree. A row without cells has text in place of numbers.
type row struct {
	lead  string   // branches of the tree
	name  string   // safe to print
	cells []string // name's place, time, in, out, cost, end
	text  string
	note  bool   // print only the text, on several lines if needed,
	next  string // with this in front of all but the first
}

// flatten lists a node and all below it. lead precedes its own row, indent those below.
func flatten(rows []row, n Node, lead, indent string) []row {
	u := n.Usage
	cells := []string{"", duration(n.Time), "", "", "", guard.Line(n.End, maxName)}
	if u != (cost.Usage{}) {
		cells[2], cells[3], cells[4] = tokens(u.InputTokens), tokens(u.OutputTokens), u.Cost.String()
	}
	if u.Known() == nil {
		cells[4] = "unknown"
	}
	rows = append(rows, row{lead: lead, name: guard.Line(n.Name, maxName), cells: cells})
	below := len(n.Tools) + len(n.Children) + len(n.Notes)
	branch := func() (lead, next string) {
		if below--; below == 0 {
			return indent + "└─ ", indent + "   "
		}
		return indent + "├─ ", indent + "│  "
	}
	for _, t := range n.Tools {
		lead, _ := branch()
		rows = append(rows, row{lead: lead, name: guard.Line(strings.TrimSpace(t.Name+" "+t.Arguments), maxName),
			text: resultOf(t)})
	}
	for _, child := range n.Children {
		lead, next := branch()
		rows = flatten(rows, child, lead, next)
	}
	for _, note := range n.Notes {
		lead, next := branch()
		rows = append(rows, row{lead: lead, text: guard.Line(note, maxName), note: true, next: next})
	}
	return rows
}

func resultOf(t finding.ToolCall) string {
	if t.Problem != "" {
		return guard.Line("no result: "+t.Problem, maxName)
	}
	if t.Bytes < 1000 {
		return fmt.Sprintf("%d B", t.Bytes)
	}
	return fmt.Sprintf("%.1f kB", float64(t.Bytes)/1e3)
}

// duration formats a duration so that it is short and sorts by eye: 0.4s, 12.3s, 2m05s.
func duration(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < 100*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// tokens formats a count in at most five columns: 950, 41.2k, 1.3M.
func tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

const gap = "  "

// draw aligns the rows: names to the left, numbers to the right, ends last.
func draw(rows []row, wide int) string {
	sizes := make([]int, 6)
	for _, r := range rows {
		sizes[0] = max(sizes[0], column.Width(r.lead+r.name))
		for i, cell := range r.cells {
			sizes[i] = max(sizes[i], column.Width(cell))
		}
	}
	sizes[5] = min(sizes[5], maxEnd)
	numbers := 0
	for _, n := range sizes[1:] {
		numbers += n + len(gap)
	}
	sizes[0] = min(sizes[0], max(minimumName, wide-numbers))
	var b strings.Builder
	for _, r := range rows {
		if r.note {
			b.WriteString(r.wrapNote(wide))
			continue
		}
		b.WriteString(strings.TrimRight(column.Cut(r.write(sizes, wide), wide), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// wrapNote returns a note on as many lines as it needs, broken between words.
func (r row) wrapNote(wide int) string {
	var b strings.Builder
	lead := r.lead
	for _, text := range column.Wrap(r.text, wide-column.Width(r.lead)) {
		b.WriteString(column.Cut(lead+text, wide) + "\n")
		lead = r.next
	}
	return b.String()
}

// write formats one row. Text in place of numbers may use the room of all of them.
func (r row) write(sizes []int, wide int) string {
	if r.cells == nil {
		room := min(column.Width(r.text), max(wide/2, wide-column.Width(r.lead+r.name)-len(gap)))
		name := cutMiddle(r.name, wide-column.Width(r.lead)-room-len(gap))
		return column.Pad(r.lead+name, sizes[0]) + gap + r.text
	}
	line := column.Pad(r.lead+cutMiddle(r.name, sizes[0]-column.Width(r.lead)), sizes[0])
	for i := 1; i < 5; i++ {
		line += gap + strings.Repeat(" ", sizes[i]-column.Width(r.cells[i])) + r.cells[i]
	}
	return line + gap + column.Cut(r.cells[5], sizes[5])
}

// cutMiddle shortens a text in the middle, since the ends of a path tell the most.
func cutMiddle(s string, size int) string {
	if column.Width(s) <= size {
		return s
	}
	if size < 8 {
		return column.Cut(s, max(1, size))
	}
	tail := (size - 1) / 2
	return column.Head(s, size-1-tail) + column.CutFront(s, tail+1)
}
