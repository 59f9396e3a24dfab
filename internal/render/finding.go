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
	return literal(guard.Inline(PlainTitle(f), TitleRunes), "")
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

// literal is inert text whose stars, underscores and further characters stand for themselves.
func literal(text, further string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; {
		case c == '\\':
			n = min(2, len(text)-i)
		case c == '`':
			n = span(text[i:])
		case c == '*', c == '_' && !within(text, i), strings.IndexByte(further, c) >= 0:
			b.WriteByte('\\')
		}
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

// within reports whether a byte stands between letters or digits, where an
// underscore is no emphasis.
func within(text string, i int) bool {
	word := func(c byte) bool {
		return c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	return i > 0 && i+1 < len(text) && word(text[i-1]) && word(text[i+1])
}

// span is the length of the code span at the start of inert text, or of its
// backticks where they open none.
func span(s string) int {
	marks := s[:len(s)-len(strings.TrimLeft(s, "`"))]
	for at := len(marks); ; {
		i := strings.Index(s[at:], marks)
		if i < 0 {
			return len(marks)
		}
		at += i
		rest := strings.TrimLeft(s[at:], "`")
		if run := len(s) - at - len(rest); run == len(marks) {
			return at + run
		}
		at = len(s) - len(rest)
	}
}

// prose is a finding's text as inert Markdown of bounded length.
func prose(f finding.Finding) string { return Paragraphs(proseOf(f.Body), ruled(f)) }

// ruled is what a rule says of it too, or which linter does: a paragraph of its own,
// which nothing in the body can end, fold or hide.
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
