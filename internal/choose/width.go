package choose

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columnsOf is how many columns of a terminal a character takes.
func columnsOf(r rune) int {
	if r < 0x7f {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

func columns(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// cut shortens a row to limit columns, with an ellipsis for what is missing.
func cut(s string, limit int) string {
	if columns(s) <= limit {
		return s
	}
	if limit < 1 {
		return ""
	}
	return s[:fitting(s, limit-1)] + "…"
}

// cutFront is cut at the other end, which tells paths apart.
func cutFront(s string, limit int) string {
	if limit < 1 {
		return ""
	}
	runes := []rune(s)
	n, from := 0, len(runes)
	for from > 0 && n+columnsOf(runes[from-1]) < limit {
		from--
		n += columnsOf(runes[from])
	}
	if from == 0 || columns(s) <= limit {
		return s
	}
	return "…" + string(runes[from:])
}

// fitting is the number of bytes of s that limit columns hold.
func fitting(s string, limit int) int {
	n := 0
	for i, r := range s {
		if n += columnsOf(r); n > limit {
			return i
		}
	}
	return len(s)
}

func padded(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columns(s))) }

// wrap breaks a line at spaces, or where there are none at the width. It gives
// at least one row; a width of less than 8 columns counts as 8.
func wrap(s string, limit int) (rows []string) {
	limit = max(limit, 8)
	for {
		at := fitting(s, limit)
		if at == len(s) {
			return append(rows, s)
		}
		if space := strings.LastIndexByte(s[:at+1], ' '); space > 0 && strings.TrimSpace(s[:space]) != "" {
			at = space
		}
		rows = append(rows, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
}

// folded breaks a line at the width alone, so that a row's beginning does not
// depend on what stands behind it.
func folded(s string, limit int) (rows []string) {
	limit = max(limit, 8)
	for columns(s) > limit {
		at := fitting(s, limit)
		rows, s = append(rows, s[:at]), s[at:]
	}
	return append(rows, s)
}
