package render

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	proseRunes      = 10_000 // of a finding's text; a longer one is cut, with a count
	proseBytes      = 30_000 // the same after escaping
	suggestionBytes = 20_000
)

// plainWord matches a word of prose, rather than code, at the beginning of a title.
var plainWord = pattern.Lazy(`^\p{Ll}+(?:[ ,:;]|$)`)

// PlainTitle returns a finding's title, unescaped: without a full stop, and capitalized if it
// begins with a plain word.
func PlainTitle(f finding.Finding) string {
	t := strings.TrimSuffix(strings.TrimSpace(f.Title), ".")
	if plainWord().MatchString(t) {
		return wording.UpperFirst(t)
	}
	return t
}

// Title returns a finding's title on one line, as inert Markdown. Stars and underscores are kept
// as characters: in a title they are code without code marks more often than emphasis.
func Title(f finding.Finding) string {
	return guard.Literal(guard.Inline(PlainTitle(f), TitleRunes), "")
}

// sentence returns the title as a bold sentence.
func sentence(f finding.Finding) string {
	t := Title(f)
	if t == "" {
		return ""
	}
	if last, _ := utf8.DecodeLastRuneInString(t); last < unicode.MaxLatin1 && !strings.ContainsRune(".?!:", last) {
		t += "."
	}
	return "**" + t + "**"
}

// gradedTitle returns the title after its severity: "**Blocker: …**".
func gradedTitle(f finding.Finding) string {
	text := wording.UpperFirst(string(f.Severity))
	if t := Title(f); t != "" {
		text += ": " + t
	}
	return "**" + text + "**"
}

// prose returns a finding's text as inert Markdown of bounded length.
func prose(f finding.Finding) string { return Paragraphs(proseOf(f.Body), ruleNote(f)) }

// ruleNote returns what a rule or a linter also said, as a paragraph that nothing in the body can
// hide.
func ruleNote(f finding.Finding) string {
	said := f.AlsoSaid()
	if said == "" {
		return ""
	}
	return proseOf(said)
}

func proseOf(body string) string {
	body = strings.TrimSpace(body)
	for limit := proseRunes; ; limit /= 2 {
		kept, left := wording.Clip(body, limit)
		text := strings.Trim(guard.Markdown(kept), "\n")
		if len(text) > proseBytes {
			continue // escapes made it longer
		}
		if left > 0 {
			text += fmt.Sprintf("\n\n*Cut here: %s more characters.*", wording.Thousands(int64(left)))
		}
		return text
	}
}

// plainStart matches the beginning of text that stays a paragraph after other text; a list or a
// fence has to begin its own line.
var plainStart = pattern.Lazy("^(`[^`]|[\\p{L}\"'($]|[0-9]+[^0-9.)]|[0-9]+[.)][^ \t])")

// inParagraph joins a sentence and a text, in one paragraph if possible.
func inParagraph(head, body string) string {
	if head != "" && plainStart().MatchString(body) {
		return head + " " + body
	}
	return Paragraphs(head, body)
}

// canApply reports whether a comment can offer the finding's suggestion. A suggestion with
// hidden characters is shown but never offered: what a person sees would not be what they commit.
func canApply(f finding.Finding) bool {
	return ShowsSuggestion(f) && f.SuggestionProblem == "" && f.Side == finding.Right && f.Line > 0 &&
		guard.Visible(f.Suggestion) == f.Suggestion
}

// ShowsSuggestion reports whether a finding has a suggestion short enough to be shown.
func ShowsSuggestion(f finding.Finding) bool {
	return f.Suggestion != "" && len(guard.Visible(f.Suggestion)) <= suggestionBytes
}

// replacement returns a suggestion outside an inline comment, where GitHub cannot apply it.
func replacement(f finding.Finding) string {
	switch {
	case f.Suggestion == "":
		return ""
	case !ShowsSuggestion(f):
		return fmt.Sprintf("*A suggestion of %s bytes is left out for its length.*",
			wording.Thousands(int64(len(f.Suggestion))))
	}
	return "Suggested in place of " + cmp.Or(lines(f), "the lines") + ":\n\n" + guard.Fence(f.Suggestion, "")
}

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
