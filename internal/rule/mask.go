package rule

import (
	"strings"

	"github.com/org/pr-review-action/internal/lang"
)

// filler replaces the contents of strings in masked code.
const filler = '\x01'

// literal is a string literal: the offset of its first byte after the opening quote, and that of its closing quote.
type literal struct {
	start, end int
	opening    int    // offset of the opening quote, or of the prefix before it
	prefix     string // "f" or "rb" in Python, the tag of a template
	quote      string
}

// closing returns the offset after the closing quote.
func (l literal) closing() int { return l.end + len(l.quote) }

// starLine returns the first line in text[at:end] that begins with a star: it is inside a
// comment that began above the hunk. to is 0 if there is none.
func starLine(text string, at, end int) (from, to int) {
	for i := at; i < end; {
		n := strings.IndexByte(text[i:end], '*')
		if n < 0 {
			return 0, 0
		}
		i += n + 1
		begin := strings.LastIndexByte(text[:i-1], '\n') + 1
		if begin >= at && strings.TrimLeft(text[begin:i-1], " \t") == "" &&
			(i == len(text) || strings.IndexByte(" /*\n", text[i]) >= 0) {
			line, _, _ := strings.Cut(text[begin:], "\n")
			return begin, begin + len(line)
		}
	}
	return 0, 0
}

// mask returns text with comments blanked and strings filled, at its original length in bytes, and the complete
// string literals. Text in an unknown language is all code, and so is the inside of a shell's double quotes.
func mask(text string, of language) (string, []literal) {
	if of == "" || of == anyLanguage {
		return text, nil
	}
	l, stars := lang.Named(of), of == golang || of == typescript || of == java
	var literals []literal
	out, begin := []byte(text), 0
	if of == python {
		begin = openDocstring(text)
		fill(out[:begin], ' ')
	}
	for at := begin; ; {
		from, to := l.NotCode(text, at)
		if stars {
			end := len(text)
			if to > 0 {
				end = from
			}
			if starFrom, starTo := starLine(text, at, end); starTo > 0 {
				from, to = starFrom, starTo
			}
		}
		if to == 0 {
			return string(out), literals
		}
		at = to
		if strings.IndexByte("\"'`", text[from]) < 0 {
			fill(out[from:to], ' ')
			continue
		}
		quoted := newLiteral(text, from, to)
		if quoted.closing() <= to {
			literals = append(literals, quoted)
		}
		if of != shell || quoted.quote == "'" {
			fill(out[quoted.start:quoted.end], filler)
		}
	}
}

// openDocstring returns the length of the text that ends a docstring begun above the hunk:
// an odd number of marks, the first alone on a line without an opener.
func openDocstring(text string) int {
	const mark = `"""`
	before, after, _ := strings.Cut(text, mark)
	opener := strings.TrimSpace(before)
	alone := strings.HasSuffix(strings.TrimRight(before, " \t"), "\n") && strings.HasPrefix(after, "\n")
	if strings.Count(text, mark)%2 == 0 || !alone || opener == "" || strings.HasSuffix(opener, ":") {
		return 0
	}
	return len(before) + len(mark)
}

// fill overwrites everything but line breaks.
func fill(out []byte, with byte) {
	for i := range out {
		if out[i] != '\n' {
			out[i] = with
		}
	}
}

// newLiteral returns the literal in text[from:to]. If the text ends before the literal does, so do its contents.
func newLiteral(text string, from, to int) literal {
	l := literal{opening: from, quote: text[from : from+1]}
	if triple := strings.Repeat(l.quote, 3); strings.HasPrefix(text[from:to], triple) {
		l.quote = triple
	}
	l.start, l.end = from+len(l.quote), to
	if to-from >= 2*len(l.quote) && strings.HasSuffix(text[:to], l.quote) {
		l.end -= len(l.quote)
	}
	for l.opening > max(0, from-40) && isWord(text[l.opening-1]) {
		l.opening--
	}
	l.prefix = text[l.opening:from]
	return l
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
