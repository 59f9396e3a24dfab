package trace

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

const gap = "  "

// draw aligns the rows: names to the left, numbers to the right, ends behind.
func draw(rows []row, wide int) string {
	sizes := make([]int, 6)
	for _, r := range rows {
		sizes[0] = max(sizes[0], columns(r.lead+r.name))
		for i, cell := range r.cells {
			sizes[i] = max(sizes[i], columns(cell))
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
		b.WriteString(strings.TrimRight(fit(r.write(sizes, wide), wide), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// wrapped is a note on as many lines as it takes, broken between words.
func (r row) wrapped(wide int) string {
	var b strings.Builder
	line := r.lead
	for i, word := range strings.Fields(r.text) {
		if i > 0 && columns(line)+1+columns(word) > wide {
			b.WriteString(fit(line, wide) + "\n")
			line = r.next + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return b.String() + fit(line, wide) + "\n"
}

// write makes one row. Text in place of numbers may use the room of all of them.
func (r row) write(sizes []int, wide int) string {
	if r.cells == nil {
		room := min(columns(r.text), max(wide/2, wide-columns(r.lead+r.name)-len(gap)))
		name := middle(r.name, wide-columns(r.lead)-room-len(gap))
		return pad(r.lead+name, sizes[0]) + gap + r.text
	}
	line := pad(r.lead+middle(r.name, sizes[0]-columns(r.lead)), sizes[0])
	for i := 1; i < 5; i++ {
		line += gap + strings.Repeat(" ", sizes[i]-columns(r.cells[i])) + r.cells[i]
	}
	return line + gap + fit(r.cells[5], sizes[5])
}

func pad(s string, size int) string {
	return s + strings.Repeat(" ", max(0, size-columns(s)))
}

// fit cuts the end of what is too wide.
func fit(s string, size int) string {
	if columns(s) <= size {
		return s
	}
	return head(s, size-1) + "…"
}

// middle cuts out of the middle, since the ends of a path tell the most.
func middle(s string, size int) string {
	if columns(s) <= size {
		return s
	}
	if size < 8 {
		return fit(s, max(1, size))
	}
	tail := (size - 1) / 2
	runes := []rune(s)
	from := len(runes)
	for from > 0 && columns(string(runes[from-1:])) <= tail {
		from--
	}
	return head(s, size-1-tail) + "…" + string(runes[from:])
}

// head is as much of the beginning as has room.
func head(s string, size int) string {
	used := 0
	for i, r := range s {
		if used += column(r); used > size {
			return s[:i]
		}
	}
	return s
}

// columns is the room that a text takes on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += column(r)
	}
	return n
}

func column(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
