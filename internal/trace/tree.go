package trace

import (
	"cmp"
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
	maxName      = 500
	numbers      = "%6s  %6s  %6s  %8s  " // time, tokens in and out, cost
	numbersWidth = 34
)

// Tree draws a run: a row for each node with time, input and output tokens, cost, name and end, and below each call
// the tools that it requested. No row is wider than width columns; 0 means 80, and below 54 the figures are left out.
// The result is plain text that ends in a line break, and the same for the same run.
func Tree(run Node, width int) string {
	width = cmp.Or(width, 80)
	rows := []string{fmt.Sprintf(numbers, "time", "in", "out", "cost")}
	left := 0
	if width < numbersWidth+20 {
		left = numbersWidth
	}
	rows = flatten(rows, run, left+width, "", "")
	for i, row := range rows {
		rows[i] = strings.TrimRight(column.Cut(row[left:], width), " ") + "\n"
	}
	return strings.Join(rows, "")
}

// flatten appends the rows of a node and of all below it. lead precedes its own row, indent those below.
func flatten(rows []string, n Node, width int, lead, indent string) []string {
	u := n.Usage
	in, out, price := "", "", ""
	if u != (cost.Usage{}) {
		in, out, price = tokens(u.InputTokens), tokens(u.OutputTokens), u.Cost.String()
	}
	if u.Known() == nil {
		price = "unknown"
	}
	front, end := fmt.Sprintf(numbers, duration(n.Time), in, out, price)+lead, "  "+guard.Line(n.End, maxName)
	room := width - column.Width(front) - column.Width(end)
	rows = append(rows, front+cutMiddle(guard.Line(n.Name, maxName), room)+end)
	below := len(n.Tools) + len(n.Children) + len(n.Notes)
	branch := func() (lead, next string) {
		if below--; below == 0 {
			return indent + "└─ ", indent + "   "
		}
		return indent + "├─ ", indent + "│  "
	}
	margin := fmt.Sprintf(numbers, "", "", "", "")
	for _, t := range n.Tools {
		lead, _ := branch()
		called := guard.Line(strings.TrimSpace(t.Name+" "+t.Arguments), maxName)
		rows = append(rows, margin+lead+resultOf(t)+"  "+called)
	}
	for _, child := range n.Children {
		lead, next := branch()
		rows = flatten(rows, child, width, lead, next)
	}
	for _, note := range n.Notes {
		lead, next := branch()
		for _, text := range column.Wrap(guard.Line(note, maxName), width-column.Width(margin+lead)) {
			rows = append(rows, margin+lead+text)
			lead = next
		}
	}
	return rows
}

func resultOf(t finding.ToolCall) string {
	switch {
	case t.Problem != "":
		return guard.Line("no result: "+t.Problem, maxName)
	case t.Bytes < 1000:
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

// cutMiddle shortens a text in the middle, since the ends of a path tell the most.
func cutMiddle(s string, size int) string {
	if column.Width(s) <= size || size < 8 {
		return column.Cut(s, max(1, size))
	}
	tail := (size - 1) / 2
	return column.Head(s, size-1-tail) + column.CutFront(s, tail+1)
}
