package render

import (
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

// foldedText returns text with the first paragraphs visible, as many as fit, and the others in a fold.
func foldedText(body string, lines int) string {
	paragraphs := strings.Split(strings.TrimSpace(body), "\n\n")
	for n := len(paragraphs) - 1; n > 0; n-- {
		shown := strings.Join(paragraphs[:n], "\n\n")
		fences := len(fenceMark().FindAllString(shown, -1))
		if open := proseOf(shown); fences%2 == 0 && height(open) <= lines-2 {
			return Paragraphs(open, Details("More", proseOf(strings.Join(paragraphs[n:], "\n\n"))))
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

var fenceMark = pattern.Lazy("(?m)^ {0,3}(?:```|~~~)")
