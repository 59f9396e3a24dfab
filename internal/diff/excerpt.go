package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Excerpt returns the rows of the hunk that show lines first to last of a side, "LEFT" or "RIGHT",
// with up to around lines of that side, and at most most rows, of context before and after. at and
// end are the indexes of first and last in rows. If no hunk has both lines, rows is nil.
func Excerpt(hunks []Hunk, side string, first, last, around, most int) (rows []Line, at, end int) {
	for _, h := range hunks {
		from := -1
		for i, l := range h.Lines {
			number := l.On(side)
			if number == first && number > 0 {
				from = i
			}
			if number != last || from < 0 {
				continue
			}
			start, stop := from, i+1
			for n := around; start > 0 && from-start < most && n > 0; start-- {
				n -= min(h.Lines[start-1].On(side), 1)
			}
			for n := around; stop < len(h.Lines) && stop-i <= most && n > 0; stop++ {
				n -= min(h.Lines[stop].On(side), 1)
			}
			return h.Lines[start:stop], from - start, i - start
		}
	}
	return nil, 0, 0
}

// On returns the line's number on a side, "LEFT" or "RIGHT", or 0 if it is not on that side.
func (l Line) On(side string) int {
	switch {
	case side == "LEFT" && l.Op != Add:
		return l.Old
	case side == "RIGHT" && l.Op != Delete:
		return l.New
	}
	return 0
}

// Cut truncates a patch to about limit bytes and returns a valid patch; no line takes more than a
// quarter of the limit. A patch that fits or that does not parse is returned unchanged.
func Cut(patch string, limit int) string {
	hunks, err := Hunks(patch)
	if err != nil || len(patch) <= limit {
		return patch
	}
	var b strings.Builder
	for _, h := range hunks {
		text, lines, old, new := "", 0, 0, 0
		for _, l := range h.Lines {
			line := string(rune(l.Op)) + clip(l.Text, limit/4) + "\n"
			if b.Len()+len(text)+len(line) > limit {
				break
			}
			text, lines = text+line, lines+1
			if l.Op != Add {
				old++
			}
			if l.Op != Delete {
				new++
			}
		}
		if lines > 0 {
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", h.OldStart, old, h.NewStart, new, text)
		}
		if lines < len(h.Lines) {
			break
		}
	}
	return trimPatch(b.String())
}

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
