package render

import (
	"cmp"
	"strings"
	"unicode"
)

// wide reports a character that takes two columns: East Asian scripts with their
// punctuation, full-width forms and emoji (near enough to Unicode TR11).
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
		r >= 0x3000 && r <= 0x30ff || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case wide(r):
		return 2
	}
	return 1
}

// columns is the width of a text on a terminal.
func columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// cut shortens a line to width columns, with an ellipsis for what is missing.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	n := 0
	for i, r := range s {
		if n += runeColumns(r); n >= width {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks a line at spaces, or where a word or script has none, so that no
// row is wider than width. The result has at least one row.
func wrap(s string, width int) []string {
	width = max(width, 8)
	var rows []string
	for columns(s) > width {
		at := breakAt(s, width)
		rows = append(rows, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
	return append(rows, s)
}

func breakAt(s string, width int) int {
	n, at := 0, 0
	for i, r := range s {
		if r == ' ' {
			at = i
		}
		if n += runeColumns(r); n > width {
			return cmp.Or(at, i)
		}
		if wide(r) {
			at = i + len(string(r))
		}
	}
	return len(s)
}
