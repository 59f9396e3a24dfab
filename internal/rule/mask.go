package rule

import (
	"strings"

	"github.com/org/pr-review-action/internal/lang"
)

// filler replaces the contents of strings in masked code.
const filler = '\x01'

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

// mask returns text with comments blanked and strings filled, at its original length in bytes. Text in an unknown
// language is all code, and so is the inside of a shell's double quotes.
func mask(text string, of language) string {
	if of == "" || of == anyLanguage {
		return text
	}
	l, stars := lang.Named(of), of == golang || of == typescript || of == java
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
			return string(out)
		}
		at = to
		if strings.IndexByte("\"'`", text[from]) < 0 {
			fill(out[from:to], ' ')
			continue
		}
		if start, end := contents(text, from, to); of != shell || text[from] == '\'' {
			fill(out[start:end], filler)
		}
	}
}

// contents returns where the contents of the literal text[from:to] begin and end. If the text ends before the literal
// does, so do they.
func contents(text string, from, to int) (start, end int) {
	quote := text[from : from+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[from:to], triple) {
		quote = triple
	}
	if start = from + len(quote); to-from >= 2*len(quote) && strings.HasSuffix(text[:to], quote) {
		return start, to - len(quote)
	}
	return start, to
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

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
