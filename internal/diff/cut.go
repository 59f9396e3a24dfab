package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Cut is the beginning of a patch in about limit bytes, as a patch of its own: the
// last hunk ends where the room does, with a header that counts what is left, and
// no line takes more than a quarter of the room. A patch that cannot be read, or
// that fits, comes back as it is.
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

// clip is the beginning of a text in at most limit bytes, whole characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
