package trace

import (
	"strings"

	"github.com/org/pr-review-action/internal/column"
)

const gap = "  "

// draw aligns the rows: names to the left, numbers to the right, ends behind.
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
			b.WriteString(r.wrapped(wide))
			continue
		}
		b.WriteString(strings.TrimRight(column.Cut(r.write(sizes, wide), wide), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// wrapped is a note on as many lines as it takes, broken between words.
func (r row) wrapped(wide int) string {
	var b strings.Builder
	line := r.lead
	for i, word := range strings.Fields(r.text) {
		if i > 0 && column.Width(line)+1+column.Width(word) > wide {
			b.WriteString(column.Cut(line, wide) + "\n")
			line = r.next + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return b.String() + column.Cut(line, wide) + "\n"
}

// write makes one row. Text in place of numbers may use the room of all of them.
func (r row) write(sizes []int, wide int) string {
	if r.cells == nil {
		room := min(column.Width(r.text), max(wide/2, wide-column.Width(r.lead+r.name)-len(gap)))
		name := middle(r.name, wide-column.Width(r.lead)-room-len(gap))
		return column.Pad(r.lead+name, sizes[0]) + gap + r.text
	}
	line := column.Pad(r.lead+middle(r.name, sizes[0]-column.Width(r.lead)), sizes[0])
	for i := 1; i < 5; i++ {
		line += gap + strings.Repeat(" ", sizes[i]-column.Width(r.cells[i])) + r.cells[i]
	}
	return line + gap + column.Cut(r.cells[5], sizes[5])
}

// middle cuts out of the middle, since the ends of a path tell the most.
func middle(s string, size int) string {
	if column.Width(s) <= size {
		return s
	}
	if size < 8 {
		return column.Cut(s, max(1, size))
	}
	tail := (size - 1) / 2
	return column.Head(s, size-1-tail) + column.CutFront(s, tail+1)
}
