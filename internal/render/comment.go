package render

import (
	"cmp"
	"strings"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	commentLines   = 12  // visible lines of an inline comment, empty ones included
	commentColumns = 100 // at which a line of text is assumed to wrap
)

// Comment returns the text of one inline comment, with at most 12 lines outside folds. It
// contains a suggestion block only if GitHub can apply it.
func Comment(f finding.Finding) string {
	head, text, block := gradedTitle(f), prose(f), replacement(f)
	if canApply(f) {
		block = guard.Suggestion(f.Suggestion)
	}
	if height(Paragraphs(head, text, block)) <= commentLines {
		return Paragraphs(head, text, block)
	}
	room := commentLines - height(head) - 1
	if block != "" {
		n := len(strings.Split(strings.TrimSuffix(f.Suggestion, "\n"), "\n"))
		block = Details("Suggested change, "+wording.Count(n, "line"), block)
		room -= 2
	}
	if height(text) > room {
		if f.AlsoSaid() != "" {
			room -= height(ruleNote(f)) + 1
		}
		text = Paragraphs(foldedText(f.Body, room), ruleNote(f))
	}
	return Paragraphs(head, text, block)
}

// foldedText returns text with the first lines visible and the others in a fold.
func foldedText(body string, lines int) string {
	for n := lines - 2; n > 0; n-- {
		shown, rest := split(strings.TrimSpace(body), n)
		if open := proseOf(shown); height(open) <= lines-2 { // escapes made it no longer
			return Paragraphs(open, Details("More", proseOf(rest)))
		}
	}
	return Details("More", proseOf(body))
}

// height returns how many lines a text takes on a page, empty ones included.
func height(text string) (n int) {
	fenced := false
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		mark := fenceMark().MatchString(line)
		if mark {
			fenced = !fenced
		}
		if fenced || mark {
			n++ // code does not wrap
			continue
		}
		n += max(1, (column.Width(line)+commentColumns-1)/commentColumns)
	}
	return n
}

var fenceMark = pattern.Lazy("^ {0,3}(?:```|~~~)")

// split cuts text so that the first part takes at most limit lines. It cuts after a line
// outside a code block, or after a sentence of a line that is too long.
func split(text string, limit int) (shown, rest string) {
	end, at, used, fenced := 0, 0, 0, false
	for _, line := range strings.SplitAfter(text, "\n") {
		tall := height(line)
		if used+tall > limit {
			if !fenced && !fenceMark().MatchString(line) {
				end = at + sentenceEnd(line, (limit-used)*commentColumns)
			}
			break
		}
		used, at = used+tall, at+len(line)
		if fenceMark().MatchString(line) {
			fenced = !fenced
		}
		if !fenced {
			end = at
		}
	}
	return strings.TrimSpace(text[:end]), strings.TrimSpace(text[end:])
}

// sentenceEnd returns the offset after a line's last sentence that ends within width columns
// and outside a code span; without one, after the last word.
func sentenceEnd(line string, width int) int {
	head := column.Head(line, width)
	last := func(marks ...string) (end int) {
		for _, mark := range marks {
			for i := strings.LastIndex(head, mark); i >= 0; i = strings.LastIndex(head[:i], mark) {
				if strings.Count(head[:i], "`")%2 == 0 {
					end = max(end, i+len(strings.TrimSuffix(mark, " ")))
					break
				}
			}
		}
		return end
	}
	return cmp.Or(last(". ", "? ", "! ", "。"), last(" "))
}
