package judge

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/prompt"
)

// The bounds of a hunk: its lines, and the characters of each.
const (
	maxLines = 200
	maxWidth = 400
)

// Hunk gives what the judge sees of a patch: the hunk at the line of the new side, or the
// nearest one, numbered as in a review, with a mark where something was left out; empty for
// a patch without readable hunks.
func Hunk(patch string, line int) string {
	hunks, err := diff.Hunks(patch)
	if err != nil || len(hunks) == 0 {
		return ""
	}
	h := hunks[0]
	for _, other := range hunks[1:] {
		if distance(other, line) < distance(h, line) {
			h = other
		}
	}
	first, all := window(h, line), len(h.Lines)
	h.Lines = slices.Clone(h.Lines[first:min(first+maxLines, all)])
	for i, l := range h.Lines {
		h.Lines[i].Text = narrow(l.Text)
	}
	head, body, _ := strings.Cut(prompt.NumberHunks([]diff.Hunk{h}), "\n")
	return head + leftOut(first) + "\n" + body + leftOut(all-first-len(h.Lines))
}

func distance(h diff.Hunk, line int) int {
	last := h.NewStart + max(h.NewLines, 1) - 1
	return max(h.NewStart-line, line-last, 0)
}

// window is the index of the first line that is shown.
func window(h diff.Hunk, line int) int {
	at := 0
	for i, l := range h.Lines {
		if l.New != 0 && l.New <= line {
			at = i
		}
	}
	return max(0, min(at-maxLines/2, len(h.Lines)-maxLines))
}

func narrow(text string) string {
	if utf8.RuneCountInString(text) <= maxWidth {
		return text
	}
	return string([]rune(text)[:maxWidth]) + " …"
}

func leftOut(lines int) string {
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf("\n… %d lines of the hunk left out", lines)
}
