package injection

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// sentence is the unit that is judged: tokens that belong together.
type sentence struct {
	tokens []token
	starts bool // a new block, unrelated to what precedes it
}

const maxSentence = 60 // words; bounds the time to judge one

var item = pattern.Lazy(`^[+\- ]?\s*(//+|#|\*)?\s*([-*•+] |\d+[.)] |#+ |@|\|)`)

const blanks = " \t\n\f\r"

var commentMarks = []string{"//", "/*", "*", "#", "<!--", "--", ";", "%", `"""`, "'''", ">"}

// isComment reports whether a line begins like a comment, with or without a diff's sign.
func isComment(line string) bool {
	first := strings.TrimLeft(line, blanks)
	for range 2 {
		if slices.ContainsFunc(commentMarks, func(mark string) bool { return strings.HasPrefix(first, mark) }) {
			return true
		}
		if rest, is := strings.CutPrefix(first, "rem"); is && (rest == "" || !wordByte(rest[0])) {
			return true
		}
		if line == "" || strings.IndexByte("+-", line[0]) < 0 {
			return false
		}
		first = strings.TrimLeft(line[1:], blanks)
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// shape describes a line, to decide whether it continues the one before.
type shape struct{ comment, prose, item, blank, ended bool }

func shapeOf(line string) shape {
	body, first := strings.TrimLeft(line, "+-/*#<!>%;\"' \t"), strings.TrimLeft(line, blanks)
	// most lines begin differently, and matching each one takes an eighth of a scan's time
	may := first != "" && strings.IndexByte("-*+0123456789#@|/\xe2", first[0]) >= 0
	return shape{
		comment: isComment(line), item: may && item().MatchString(line),
		prose: isProse(line), blank: body == "", ended: endsSentence(line),
	}
}

// isProse reports whether a line has several words, and few of the signs common in code.
func isProse(line string) bool {
	if strings.Count(strings.TrimSpace(line), " ") < 3 && guard.Plain(line) {
		return false
	}
	signs := 0
	for i := range len(line) {
		if isSign[line[i]] {
			signs++
		}
	}
	return signs*20 <= len(line)
}

var isSign = bytesOf("(){}[];=<>_&|\\")

// endsSentence reports whether a line ends a sentence.
func endsSentence(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(line, " \t*/>-\"'"))
	return strings.ContainsRune(".!?。！？؟।", last)
}

// hasNoWords reports whether a line is code without a comment or string, which tells a reader nothing.
func hasNoWords(line string) bool {
	return anyOf(line, "={(;") && !anyOf(line, "\"'`#@%<") && !strings.Contains(line, "//") &&
		!strings.Contains(line, "/*") && !strings.Contains(line, "--") && !isProse(line) && guard.Plain(line)
}

// anyOf reports whether a line contains one of a few bytes. For short lines it is faster
// than strings.ContainsAny, which builds a set first.
func anyOf(line, few string) bool {
	for i := range len(few) {
		if strings.IndexByte(line, few[i]) >= 0 {
			return true
		}
	}
	return false
}

func (s shape) follows(before shape) bool {
	switch {
	case s.blank || before.blank || before.ended || s.item:
		return false
	case s.comment != before.comment:
		return before.comment && s.prose // the inside of a block comment
	}
	return s.comment || s.prose && before.prose
}

// sentences splits tokens at the ends of sentences and blocks.
func sentences(tokens []token, shapes []shape) []sentence {
	var list []sentence
	start := 0
	for i := range tokens {
		if i == start {
			continue
		}
		t, before := tokens[i], tokens[i-1]
		newLine := t.line != before.line
		broken := newLine && !(t.line == before.line+1 && shapes[t.line].follows(shapes[before.line]))
		if broken || t.sep == '.' || i-start >= maxSentence {
			list = append(list, sentence{tokens: tokens[start:i]})
			start = i
		}
	}
	if start < len(tokens) {
		list = append(list, sentence{tokens: tokens[start:]})
	}
	for i := range list {
		list[i].starts = i == 0 || areApart(list[i-1], list[i], shapes)
	}
	return list
}

// areApart reports whether a blank line or code separates two sentences. A heading belongs to what follows it.
func areApart(a, b sentence, shapes []shape) bool {
	last, first := a.tokens[len(a.tokens)-1].line, b.tokens[0].line
	if heading := shapes[last].item && shapes[last].comment; heading && first <= last+2 {
		return false
	}
	return first > last+1 || first != last && shapes[first].comment != shapes[last].comment && !shapes[first].prose
}
