package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// form describes how a language writes comments and strings. A quote without a closing one is code; the end of the
// text also closes what may span lines.
type form struct {
	slash, dash bool   // comments // and /* */; --
	hash        string // bytes after which # begins a comment, besides the start of a line; * for any
	triple      string // quotes that may be tripled
	single      quote
	long        quote // for `
}

// quote is the kind of content between quotes.
type quote int

const (
	notQuoted    quote = iota
	escaped            // a backslash escapes the next byte
	plain              // no escapes
	oneCharacter       // one character, or an escape
)

const blankOrEnd = " \t;"

var (
	goText     = form{slash: true, single: oneCharacter, long: plain}
	slashText  = form{slash: true, triple: `"`, single: oneCharacter}
	scriptText = form{slash: true, single: escaped, long: escaped}
	phpText    = form{slash: true, hash: blankOrEnd, single: escaped}
	pythonText = form{hash: "*", triple: `"'`, single: escaped}
	hashText   = form{hash: blankOrEnd, single: escaped}
	shellText  = form{hash: blankOrEnd, single: plain}
	dashText   = form{dash: true, single: escaped}
)

// NotCode returns the range of the first comment or string in a text from at on; to is 0 if there is none.
func (l Language) NotCode(text string, at int) (from, to int) {
	f := l.notCode
	if f == (form{}) {
		return 0, 0
	}
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '"', '\'', '`':
			from, to = i, f.quoteEnd(text, i)
		case '/', '-', '#':
			from, to = f.commentRange(text, at, i)
		default:
			continue
		}
		if to > 0 {
			return from, to
		}
	}
	return 0, 0
}

// commentRange returns the range of the comment that begins with the sign at i, or 0, 0.
func (f form) commentRange(text string, at, i int) (from, to int) {
	rest := text[i:]
	switch {
	case f.slash && strings.HasPrefix(rest, "//"), f.dash && strings.HasPrefix(rest, "--"):
		return i, lineEnd(text, i)
	case f.slash && strings.HasPrefix(rest, "/*"):
		_, after, _ := strings.Cut(rest[2:], "*/")
		return i, len(text) - len(after)
	case rest[0] != '#' || f.hash == "":
		return 0, 0
	case f.hash == "*" || i == 0 || text[i-1] == '\n':
		return i, lineEnd(text, i)
	case i > at && strings.IndexByte(f.hash, text[i-1]) >= 0:
		return i - 1, lineEnd(text, i)
	}
	return 0, 0
}

func lineEnd(text string, i int) int {
	line, _, _ := strings.Cut(text[i:], "\n")
	return i + len(line)
}

// quoteEnd returns the end of the string that begins with the quote at i, or 0.
func (f form) quoteEnd(text string, i int) int {
	mark, kind := text[i:i+1], escaped
	if strings.Contains(f.triple, mark) && strings.HasPrefix(text[i+1:], mark+mark) {
		if end := stringEnd(text, i+3, mark+mark+mark, escaped, true); end > 0 {
			return end
		}
	}
	switch mark {
	case "'":
		kind = f.single
	case "`":
		kind = f.long
	}
	switch kind {
	case notQuoted:
		return 0
	case oneCharacter:
		return characterEnd(text, i+1)
	}
	return stringEnd(text, i+1, mark, kind, mark == "`")
}

// stringEnd returns the offset after the mark that closes a string, or 0. A long string ends at the end of the text at
// the latest, a short one must end on its line.
func stringEnd(text string, i int, mark string, kind quote, long bool) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && kind == escaped:
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

const longestEscape = 10 // characters after the backslash

// characterEnd returns the offset after the quote that closes one character, or 0.
func characterEnd(text string, i int) int {
	most := 1
	if strings.HasPrefix(text[i:], `\`) {
		i, most = i+1, longestEscape
	}
	for n := range most {
		_, size := utf8.DecodeRuneInString(text[i:])
		if size == 0 || text[i] == '\n' || most == 1 && n == 0 && text[i] == '\'' {
			return 0
		}
		if i += size; i < len(text) && text[i] == '\'' {
			return i + 1
		}
	}
	return 0
}

// Blank overwrites comments and strings with spaces, keeping line breaks and the length in bytes. A string with a
// brace or a dollar stays, because it may contain code.
func (l Language) Blank(text string) string {
	out := []byte(text)
	for from, to := l.NotCode(text, 0); to > 0; from, to = l.NotCode(text, to) {
		part := text[from:to]
		if strings.IndexByte("\"'`", part[0]) >= 0 && strings.ContainsAny(part, "{$") {
			continue
		}
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return string(out)
}

// WordAt returns the offset of the first place at which a text holds a name as a whole word, or -1.
func WordAt(text, name string) int {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			break
		}
		at := from + i
		from = at + len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[from:])
		if !inWord(before) && !inWord(after) {
			return at
		}
	}
	return -1
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
