package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/wording"
)

// none stands in a cell where a figure is undefined.
const none = "–"

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

func outOf(n, of int) string {
	if of == 0 {
		return none
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// paragraphs joins blocks with one empty line between.
func paragraphs(blocks ...string) string { return wording.Joined("\n\n", blocks...) }

// page joins blocks to a text that may stand on a page and in a terminal.
func page(blocks ...string) string { return guard.Text(paragraphs(blocks...)) + "\n" }

// inline makes a line of Markdown out of text that may quote untrusted words.
func inline(s string) string { return guard.Inline(s, 400) }

// cell makes a table's cell out of untrusted words. A bar would end the cell,
// within a code span too.
func cell(s string) string { return guard.Inline(strings.ReplaceAll(s, "|", "¦"), 40) }

// names are the keys of a map: those that first lists in front, in its order, and
// the others behind them in alphabetical order.
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

// table is a Markdown table whose columns stand under each other in a terminal
// too. Align has an l or r for each column.
type table struct {
	head  []string
	align string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String writes the table, without a line feed at its end.
func (t table) String() string {
	widths := make([]int, len(t.head))
	for _, row := range append(t.rows, t.head) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c), 3)
		}
	}
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w-1) + map[byte]string{'l': "-", 'r': ":"}[t.align[i]]
	}
	lines := []string{t.line(t.head, widths), t.line(rule, widths)}
	for _, row := range t.rows {
		lines = append(lines, t.line(row, widths))
	}
	return strings.Join(lines, "\n")
}

func (t table) line(row []string, widths []int) string {
	var b strings.Builder
	for i, c := range row {
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
		if t.align[i] == 'r' {
			c = space + c
		} else {
			c += space
		}
		b.WriteString("| " + c + " ")
	}
	return b.String() + "|"
}
