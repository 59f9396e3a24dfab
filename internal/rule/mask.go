package rule

import (
	"strings"
)

// filler stands for the inside of strings in masked code.
const filler = '\x01'

// literal is a string literal: offsets of its first byte behind the opening
// quote and of its closing quote.
type literal struct {
	start, end int
	opening    int    // offset of the opening quote, or of the prefix before it
	prefix     string // "f" or "rb" in Python, the tag of a template
	quote      string
}

// closing is the offset behind the closing quote.
func (l literal) closing() int { return l.end + len(l.quote) }

// lexis is what is not code in a language: comments and strings. A quote that no
// other one closes is code, such as an apostrophe in text.
type lexis struct {
	slash, hash, blankHash bool   // comments: // and /* */; #; # behind a blank alone
	triple                 string // quotes that may be tripled
	long                   byte   // quote of strings over several lines
	raw, rawSingle         bool   // no escapes in long strings; none in single quotes
}

var lexes = map[language]lexis{
	golang:     {slash: true, long: '`', raw: true},
	typescript: {slash: true, long: '`'},
	python:     {hash: true, triple: `"'`},
	java:       {slash: true, triple: `"`},
	shell:      {blankHash: true, rawSingle: true},
}

// next is the first comment or string from an offset on; its end is 0 where there
// is none.
func (l lexis) next(text string, at int) (from, to int) {
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '"', '\'', '`':
			from, to = i, l.quoted(text, i)
		case '/', '*', '#':
			from, to = l.comment(text, at, i)
		default:
			continue
		}
		if to > 0 {
			return from, to
		}
	}
	return 0, 0
}

// comment is the comment that the sign at i begins. A line that begins with a star
// stands in a comment begun above the hunk.
func (l lexis) comment(text string, at, i int) (from, to int) {
	begin := strings.LastIndexByte(text[:i], '\n') + 1
	rest := text[i:]
	switch {
	case rest[0] == '#' && (l.hash || l.blankHash && i == begin):
		return i, lineEnd(text, i)
	case rest[0] == '#' && l.blankHash && i > at && strings.IndexByte(" \t", text[i-1]) >= 0:
		return i - 1, lineEnd(text, i)
	case !l.slash || rest[0] == '#':
		return 0, 0
	case strings.HasPrefix(rest, "//"):
		return i, lineEnd(text, i)
	case strings.HasPrefix(rest, "/*"):
		_, after, _ := strings.Cut(rest[2:], "*/")
		return i, len(text) - len(after)
	case rest[0] == '*' && begin >= at && strings.TrimLeft(text[begin:i], " \t") == "":
		if len(rest) == 1 || strings.IndexByte(" /*\n", rest[1]) >= 0 {
			return begin, lineEnd(text, i)
		}
	}
	return 0, 0
}

func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// quoted is the end of the string that the quote at i begins, or 0.
func (l lexis) quoted(text string, i int) int {
	quote := text[i : i+1]
	triple := strings.Repeat(quote, 3)
	if strings.Contains(l.triple, quote) && strings.HasPrefix(text[i:], triple) {
		if end := closed(text, i+3, triple, true, true); end > 0 {
			return end
		}
	}
	switch {
	case text[i] == l.long:
		return closed(text, i+1, quote, !l.raw, true)
	case text[i] == '`':
		return 0
	}
	return closed(text, i+1, quote, !l.rawSingle || quote == `"`, false)
}

// closed is the offset behind the mark that ends a string, or 0. A long one ends
// with the text at the latest, a short one with its line.
func closed(text string, i int, mark string, escapes, long bool) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && escapes:
			if i++; i >= len(text) {
				return 0
			}
		case c == '\n' && !long:
			return 0
		case c == mark[0] && strings.HasPrefix(text[i:], mark):
			return i + len(mark)
		}
	}
	if long {
		return len(text)
	}
	return 0
}

// mask returns text with comments blanked and strings filled, byte for byte as
// long, and the string literals that are complete. Text in no known language is
// all code, and so is the inside of a shell's double quotes.
func mask(text string, lang language) (string, []literal) {
	l, ok := lexes[lang]
	if !ok {
		return text, nil
	}
	var literals []literal
	out, begin := []byte(text), 0
	if lang == python {
		begin = openDocstring(text)
		fill(out[:begin], ' ')
	}
	for at := begin; ; {
		from, to := l.next(text, at)
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
		if lang != shell || quoted.quote == "'" {
			fill(out[quoted.start:quoted.end], filler)
		}
	}
}

// openDocstring is the length of text that ends a docstring begun above the
// hunk: an odd number of marks, the first alone on a line that nothing opens.
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

// newLiteral is the literal from one offset to another. Where the text ends
// before it does, so does what is inside.
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
