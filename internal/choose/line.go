package choose

import (
	"slices"
	"strings"
	"unicode"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/guard"
)

const maxTyped = 16_000 // bytes of a line; a decision has at most 64 KiB

// line is one line of text being edited. at is the cursor, before the rune at that index.
type line struct {
	runes []rune
	at    int
}

func newLine(s string) line {
	runes := []rune(oneLine(s))
	return line{runes, len(runes)}
}

// oneLine returns text as it can be edited and sent: on one line, with invisible characters
// made visible, so that what is shown is what is decided.
func oneLine(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "\t", " ").Replace(guard.Visible(s)))
}

// text returns what was typed, for a command.
func (l line) text() string { return oneLine(string(l.runes)) }

// insert inserts text at the cursor, unless the line would exceed its limit.
func (l line) insert(s string) line {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(string(l.runes))+len(s) > maxTyped {
		return l
	}
	more := []rune(s)
	return line{slices.Insert(slices.Clone(l.runes), l.at, more...), l.at + len(more)}
}

// key moves the cursor or deletes.
func (l line) key(name string) line {
	switch name {
	case "left":
		return line{l.runes, max(0, l.at-1)}
	case "right":
		return line{l.runes, min(len(l.runes), l.at+1)}
	case "home", "ctrl+a":
		return line{l.runes, 0}
	case "end", "ctrl+e":
		return line{l.runes, len(l.runes)}
	case "backspace", "ctrl+h":
		return l.cut(max(0, l.at-1), l.at)
	case "delete":
		return l.cut(l.at, min(len(l.runes), l.at+1))
	case "ctrl+u":
		return l.cut(0, l.at)
	}
	return l
}

func (l line) cut(from, to int) line {
	return line{slices.Delete(slices.Clone(l.runes), from, to), from}
}

// rows draws the line with its cursor, in at most most rows around the cursor.
func (l line) rows(limit, most int) []string {
	before := guard.Line(string(l.runes[:l.at]), 0) + "█"
	all := column.Fold(before+guard.Line(string(l.runes[l.at:]), 0), limit)
	at := len(column.Fold(before, limit)) - 1
	from := max(0, min(at-most/2, len(all)-most))
	return guardRows(all[from:min(len(all), from+most)], limit)
}

// guardRows guards and cuts each row: a row that begins within a text may begin with what acts
// at the start of a line.
func guardRows(rows []string, limit int) []string {
	safe := make([]string, 0, len(rows))
	for _, row := range rows {
		safe = append(safe, column.Cut(guard.Text(row), limit))
	}
	return safe
}
