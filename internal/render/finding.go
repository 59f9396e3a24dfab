package render

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/wording"
)

const (
	proseRunes      = 10_000 // of a finding's text; what is longer is cut, with a count
	proseBytes      = 30_000 // the same once it is inert
	suggestionBytes = 20_000
)

// plainWord is a word of prose, not of code, at the beginning of a title.
var plainWord = pattern.Lazy(`^\p{Ll}+(?:[ ,:;]|$)`)

// PlainTitle is a finding's title, raw: without a full stop, and with a capital
// letter where it begins with a plain word.
func PlainTitle(f finding.Finding) string {
	t := strings.TrimSuffix(strings.TrimSpace(f.Title), ".")
	if plainWord().MatchString(t) {
		return wording.UpperFirst(t)
	}
	return t
}

// Title is a finding's title on one line, inert. Its stars and underscores are characters:
// in a title they are code without marks around it more often than emphasis.
func Title(f finding.Finding) string {
	return guard.Literal(guard.Inline(PlainTitle(f), TitleRunes), "")
}

// sentence is the title as a bold sentence of its own.
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

// graded is the title behind its severity: "**Blocker: …**".
func graded(f finding.Finding) string {
	text := wording.UpperFirst(string(f.Severity))
	if t := Title(f); t != "" {
		text += ": " + t
	}
	return "**" + text + "**"
}

// prose is a finding's text as inert Markdown of bounded length.
func prose(f finding.Finding) string { return Paragraphs(proseOf(f.Body), ruled(f)) }

// ruled is what a rule or a linter says of it too, a paragraph that nothing in the body can hide.
func ruled(f finding.Finding) string {
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

// plainStart is the beginning of text that stays a paragraph behind other text;
// a list or a fence has to begin its own line.
var plainStart = pattern.Lazy("^(`[^`]|[\\p{L}\"'($]|[0-9]+[^0-9.)]|[0-9]+[.)][^ \t])")

// inParagraph is a sentence and text, in one paragraph where that is possible.
func inParagraph(head, body string) string {
	if head != "" && plainStart().MatchString(body) {
		return head + " " + body
	}
	return Paragraphs(head, body)
}

// offers reports whether the finding carries a suggestion to apply.
// One with hidden characters is shown, and never offered: what a person sees
// would not be what they commit.
func offers(f finding.Finding) bool {
	return ShowsSuggestion(f) && f.SuggestionProblem == "" && f.Side == finding.Right && f.Line > 0 &&
		guard.Visible(f.Suggestion) == f.Suggestion
}

// ShowsSuggestion reports whether a finding has a suggestion short enough to be shown.
func ShowsSuggestion(f finding.Finding) bool {
	return f.Suggestion != "" && len(guard.Visible(f.Suggestion)) <= suggestionBytes
}

// replacement is a suggestion outside of an inline comment, where GitHub cannot
// apply it.
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
