// Package column measures, cuts and wraps text by the columns that it takes on a terminal,
// with wide and combining characters as terminals draw them.
//
// It does not make text safe: its input has passed through guard, and contains no line
// feed. Start reading at Width.
package column

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many columns a text takes.
func Width(s string) int { return ansi.StringWidth(s) }

// Pad appends spaces to a text that takes less than width columns.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// Head returns the longest beginning of a text that fits into width columns.
func Head(s string, width int) string {
	used := 0
	for at := 0; at < len(s); {
		size, wide := first(s[at:])
		if used += wide; used > width {
			return s[:at]
		}
		at += size
	}
	return s
}

// first returns the bytes and columns of a text's first character, including what combines
// with it. A letter with many vowel signs is split: as one character it could be wider than
// any row.
func first(s string) (size, width int) {
	_, width, size, _ = ansi.DecodeSequence(s, ansi.NormalState, nil)
	if width <= 2 {
		return max(size, 1), width
	}
	_, size = utf8.DecodeRuneInString(s)
	return size, Width(s[:size])
}

// Cut shortens a text to width columns, with an ellipsis for what is missing.
func Cut(s string, width int) string {
	switch {
	case width < 1:
		return ""
	case len(Head(s, width)) == len(s):
		return s
	}
	return Head(s, width-1) + "…"
}

// CutFront is like Cut, but cuts the front, since the end of a path tells it from others.
func CutFront(s string, width int) string {
	left := Width(s)
	switch {
	case width < 1:
		return ""
	case left <= width:
		return s
	}
	for left >= width && s != "" {
		size, wide := first(s)
		left, s = left-wide, s[size:]
	}
	return "…" + s
}

// least is the minimum width at which text is wrapped.
const least = 8

// Wrap breaks a line into rows no wider than width: at spaces, between characters of
// scripts written without them, or else within a word. It returns at least one row. A width
// under 8 counts as 8.
func Wrap(s string, width int) (rows []string) {
	for {
		at := breakAt(s, max(width, least))
		if at == len(s) {
			return append(rows, s)
		}
		rows = append(rows, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
}

func breakAt(s string, width int) int {
	end, at, blank := len(Head(s, width)), 0, true
	if end == len(s) {
		return end
	}
	for i, r := range s[:end+1] {
		switch {
		case r == ' ' && !blank:
			at = i
		case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) && i+len(string(r)) <= end:
			at = i + len(string(r))
		}
		blank = blank && r == ' '
	}
	if at == 0 {
		return end
	}
	return at
}

// Fold breaks a line only by width, so that where a row begins does not depend on what
// follows it. It returns at least one row.
func Fold(s string, width int) (rows []string) {
	for {
		row := Head(s, max(width, least))
		rows, s = append(rows, row), s[len(row):]
		if s == "" {
			return rows
		}
	}
}
