package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
)

// Node is a piece of a run that is over, as Tree shows it. All texts may be
// untrusted.
type Node struct {
	Name     string        // of the step, the path of the file, or task and model of the call
	Time     time.Duration // that it took; negative where it is not known
	Usage    cost.Usage
	End      string             // how it ended: a state, or the finish reason of an answer
	Tools    []finding.ToolCall // that the call asked for
	Notes    []string           // what else is to be said of it
	Children []Node
}

const (
	defaultWidth = 80
	minimumName  = 16 // columns, before numbers are given up
	maxName      = 500
	maxEnd       = 24 // columns of how a piece ended, where there is room
)

// Tree draws a run: a row for each node with time, tokens read and written,
// cost and end, and below each call the tools that it asked for.
// No row is wider than width columns; 0 stands for 80. It is plain
// text with a line break at its end, the same for the same run.
func Tree(run Node, width int) string {
	if width <= 0 {
		width = defaultWidth
	}
	rows := []row{{cells: []string{"", "time", "in", "out", "cost", "end"}}}
	rows = flatten(rows, run, "", "")
	return draw(rows, width)
}

// row is a line of the tree. One without cells has text in place of numbers.
type row struct {
	lead  string   // lines of the tree
	name  string   // made safe
	cells []string // name's place, time, in, out, cost, end
	text  string
	note  bool   // the text alone, on as many lines as it takes,
	next  string // those behind the first with this before them
}

// flatten lists a node and all below it. lead stands before its own row, indent before those below.
func flatten(rows []row, n Node, lead, indent string) []row {
	u := n.Usage
	cells := []string{"", duration(n.Time), "", "", "", guard.Line(n.End, maxName)}
	if u != (cost.Usage{}) {
		cells[2], cells[3], cells[4] = tokens(u.InputTokens), tokens(u.OutputTokens), u.Cost.String()
	}
	if u.Unpriced > 0 && u.Cost == 0 {
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
		rows = append(rows, row{lead: lead, name: used(t), text: got(t)})
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

func used(t finding.ToolCall) string {
	return guard.Line(strings.TrimSpace(t.Name+" "+t.Arguments), maxName)
}

func got(t finding.ToolCall) string {
	if t.Problem != "" {
		return guard.Line("no result: "+t.Problem, maxName)
	}
	return size(t.Bytes)
}

// duration is short and sorts by eye: 0.4s, 12.3s, 2m05s.
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

// tokens is a count of at most five columns: 950, 41.2k, 1.3M.
func tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func size(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1e3)
}
