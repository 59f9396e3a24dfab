package guard

import (
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// inline escapes the text of one line. Characters that act in pairs, such as the dollars of
// a formula, are escaped only if the paragraph has a pair.
type inline struct{ pairs string }

func newInline(paragraph string) inline {
	in := inline{}
	for _, c := range []string{"$", "~"} {
		if strings.Count(paragraph, c) > 1 {
			in.pairs += c
		}
	}
	return in
}

// line escapes a line from its first character that is not white space, where Markdown recognizes blocks.
func (in inline) line(s string) string {
	var out escaper
	switch m := slash().FindStringSubmatch(s); {
	case m != nil:
		out.span(Code(m[1]))
		s = s[len(m[0]):]
	case lead().MatchString(s) || isRule(s):
		out.char(s[0], true)
		s = s[1:]
	}
	in.text(&out, s)
	return out.String()
}

var (
	// slash matches a command to a bot, escaped or not.
	slash = pattern.Lazy("^\\\\?(/\\w[^\\s`\\\\]*)")
	// lead matches the beginning of a heading, a quote or a workflow command.
	lead = pattern.Lazy(`^(?:#{1,6}(?:\s|$)|##\[|>|::)`)
)

// text writes inline text: code spans unchanged, the rest escaped by stretch. A span ends on its
// line, so that every line of the result has its backticks in pairs, in whatever block it is. The
// last span is empty if the text does not end with one.
func (in inline) text(out *escaper, s string) {
	for s != "" {
		start, end := codeSpan(s)
		in.stretch(out, s[:start])
		out.span(s[start:end])
		s = s[end:]
	}
}

// codeSpan returns the offsets of the first code span of s, or len(s) twice if there is none.
func codeSpan(s string) (start, end int) {
	for i := 0; i < len(s); {
		switch {
		case startsEscape(s[i:]):
			i += 2
		case s[i] == '`':
			n := backtickRun(s[i:])
			if length := spanLength(s[i:], n); length > 0 {
				return i, i + length
			}
			i += n
		default:
			i++
		}
	}
	return len(s), len(s)
}

// spanLength returns the length of the code span that the n backticks at the start of s
// open, or 0 if they are never closed.
func spanLength(s string, n int) int {
	for i := n; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		m := backtickRun(s[i:])
		i += m
		if m == n {
			return i
		}
	}
	return 0
}

func backtickRun(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// startsEscape reports whether s starts with a backslash escape.
func startsEscape(s string) bool { return len(s) > 1 && s[0] == '\\' && isPunctuation(s[1]) }

func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
}

// live matches what GitHub turns into a link or a notification: addresses, anything with
// @name, #1, GH-1, entities (which may represent any of the others) and commits.
var live = pattern.Lazy(`[A-Za-z0-9+.-]*://[^\s]*|\w*[wW]{3}\.[^\s]*|[\w.+/:%~-]*@[A-Za-z0-9_][\w./:@-]*` +
	`|[\w./-]*#[0-9]\w*|\b_*[gG][hH]-[0-9]\w*|&#?[A-Za-z0-9]+;|\b_*[0-9a-fA-F]{7,40}_*\b`)

// mayBeLive reports whether live can match in a text: every match contains one of these.
// This check takes a fiftieth of the expression's time.
func mayBeLive(s string) bool {
	digits := 0 // consecutive hex digits
	for i := range len(s) {
		switch c := s[i]; {
		case c == '@' || c == '#' || c == '&':
			return true
		case c == '.' && i > 0 && s[i-1]|0x20 == 'w', c == '-' && i > 0 && s[i-1]|0x20 == 'h',
			c == ':' && strings.HasPrefix(s[i:], "://"):
			return true
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f':
			if digits++; digits == 7 {
				return true
			}
		default:
			digits = 0
		}
	}
	return false
}

// stretch escapes text without code spans.
func (in inline) stretch(out *escaper, s string) {
	plain, literal := unescape(s)
	if !mayBeLive(plain) {
		in.write(out, plain, literal, 0, len(plain))
		return
	}
	at := 0
	for _, m := range live().FindAllStringIndex(plain, -1) {
		token := plain[m[0]:m[1]]
		if token[0] != '&' {
			token = strings.TrimRight(token, ".,;:!?*_~)]}'\"")
		}
		emphasis := len(token) - len(strings.TrimLeft(token, "_~"))
		in.write(out, plain, literal, at, m[0]+emphasis)
		out.span(Code(token[emphasis:]))
		at = m[0] + len(token)
	}
	in.write(out, plain, literal, at, len(plain))
}

// unescape removes the backslashes of escapes; literal marks the bytes that had one.
func unescape(s string) (plain string, literal []bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		escaped := startsEscape(s[i:])
		if escaped {
			i++
		}
		b.WriteByte(s[i])
		literal = append(literal, escaped)
	}
	return b.String(), literal
}

// write writes plain[from:to] with a backslash before each character that had one or would act.
func (in inline) write(out *escaper, plain string, literal []bool, from, to int) {
	for i := from; i < to; i++ {
		out.char(plain[i], literal[i] || in.isActive(plain[i], plain[i+1:]))
	}
}

// isActive reports whether a character before rest would do anything but appear as itself or emphasise.
func (in inline) isActive(c byte, rest string) bool {
	next := byte(0)
	if rest != "" {
		next = rest[0]
	}
	switch c {
	case '`':
		return true
	case '<':
		return next == '/' || next == '!' || next == '?' || next >= 'A' && next <= 'Z' || next >= 'a' && next <= 'z'
	case '[':
		return next == '^' // GitHub shows the source of a footnote that is not defined, code spans undone
	case ']':
		return next == '(' || next == ':'
	}
	return strings.IndexByte(in.pairs, c) >= 0
}

// escaper writes characters. A lone backslash, which no punctuation follows in the text, is doubled before a code span
// and at the end, since what comes there is not of the text.
type escaper struct {
	strings.Builder
	dangling bool // the last character is a lone backslash
}

func (e *escaper) char(c byte, escaped bool) {
	if escaped {
		e.WriteByte('\\')
	}
	e.WriteByte(c)
	e.dangling = c == '\\' && !escaped
}

// close makes the text so far safe to be followed by anything.
func (e *escaper) close() {
	if e.dangling {
		e.WriteByte('\\')
	}
	e.dangling = false
}

// span writes a code span.
func (e *escaper) span(span string) {
	e.close()
	if span != "" && needsSpace(e.String(), span) {
		e.WriteByte(' ')
	}
	e.WriteString(span)
}

// needsSpace reports whether a space is needed between a text and a code span: two runs of backticks
// would merge, and some parsers read letters, a backtick and an @ as a mail address.
func needsSpace(before, span string) bool {
	if strings.HasSuffix(before, "`") {
		return true
	}
	_, domain, mail := strings.Cut(span, "@")
	if !mail || !strings.Contains(domain, ".") {
		return false
	}
	before = strings.TrimRight(before, ".!#$%&'*+/=?^_`{|}~-")
	if before == "" {
		return false
	}
	last := before[len(before)-1]
	return last < 0x80 && last > ' ' && !isPunctuation(last)
}

// isRule reports whether a line consists only of the marks of rules, heading underlines and table rows.
func isRule(line string) bool {
	return strings.Trim(line, "-=*_|: \t") == "" && strings.ContainsAny(line, "-=*_")
}
