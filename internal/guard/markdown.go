package guard

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/pattern"
)

// Markdown makes a model's prose safe for a GitHub page. Paragraphs, emphasis, lists, inline code and
// fenced code stay. Everything else becomes inert text: HTML, links, images, headings, quotes, tables
// and rules by a backslash; addresses, mentions, references, commits and leading slash commands by a
// code span, since GitHub links them after Markdown has removed the backslashes. The result has no line
// feed at its end, every fence in it is closed, and a second pass leaves it unchanged.
func Markdown(s string) string {
	w := writer{lines: strings.Split(Visible(s), "\n")}
	w.rest = len(w.lines)
	for len(w.lines) > 0 {
		w.block()
	}
	return strings.TrimRight(w.out.String(), "\n")
}

// Inline is Markdown for one line, such as a title: Line and the rules of Markdown. Inline code and
// emphasis stay, a list marker does not. max counts the runes of the input, not the added backslashes.
func Inline(s string, max int) string {
	s = strings.TrimSpace(Cut(oneLine(s), max))
	in, marker := newInline(s), listMarker().FindString(s)
	if marker == "" {
		return in.line(s)
	}
	at := strings.IndexAny(marker, "-*+.)")
	out := escaper{}
	out.WriteString(marker[:at])
	out.char(marker[at], true)
	in.text(&out, s[at+1:])
	return out.String()
}

// Literal escapes the stars, underscores and further characters in a result of Inline: in a
// title they are more often code without backticks than emphasis.
func Literal(text, further string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; {
		case c == '\\':
			n = min(2, len(text)-i)
		case c == '`':
			n = cmp.Or(spanLength(text[i:], backtickRun(text[i:])), backtickRun(text[i:]))
		case c == '*', c == '_' && !isInsideWord(text, i), strings.IndexByte(further, c) >= 0:
			b.WriteByte('\\')
		}
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

// isInsideWord reports whether a byte is between letters or digits, where an underscore does not emphasise.
func isInsideWord(text string, i int) bool {
	word := func(c byte) bool { return c >= utf8.RuneSelf || c > ' ' && c < 0x7f && !isPunctuation(c) }
	return i > 0 && i+1 < len(text) && word(text[i-1]) && word(text[i+1])
}

// writer consumes lines from the front and writes blocks.
type writer struct {
	lines  []string
	out    strings.Builder
	inline inline
	list   bool // inside a list, where indented lines belong to an item
	text   bool // after a line of a paragraph
	rest   int  // lines left at the blank line that paragraph last looked ahead to
}

var (
	// listMarker excludes numbers of seven digits, which may name a commit.
	listMarker = pattern.Lazy(`^(?:[-*+]|[0-9]{1,6}[.)])(?:[ \t]+|$)`)
	fenceOpen  = pattern.Lazy("^(?:(`{3,})([^`]*)|(~{3,})(.*))$")
)

func (w *writer) block() {
	line := w.lines[0]
	body := strings.TrimLeft(line, " \t")
	indent := width(line[:len(line)-len(body)])
	switch {
	case body == "":
		w.lines, w.text = w.lines[1:], false
		w.out.WriteByte('\n')
	case indent >= 4 && !w.list && !w.text:
		w.indented()
	default:
		w.lines = w.lines[1:]
		w.line(body, indent)
	}
}

// line writes a line of text after its list markers, or the fenced block that it opens.
func (w *writer) line(body string, indent int) {
	markers := ""
	for !isRule(body) {
		m := listMarker().FindString(body)
		if m == "" {
			break
		}
		markers, body = markers+m, body[len(m):]
	}
	if m := fenceOpen().FindStringSubmatch(body); m != nil {
		w.fenced(m[1]+m[3], m[2]+m[4], indent+len(markers))
		return
	}
	w.list = markers != "" || w.list && (indent > 0 || w.text)
	w.paragraph(body)
	if !w.list {
		indent = min(indent, 3)
	}
	w.out.WriteString(strings.Repeat(" ", indent) + markers)
	if markers != "" && strings.HasPrefix(body, "[") {
		w.out.WriteByte('\\') // a task list's box
	}
	w.out.WriteString(w.inline.line(body) + "\n")
}

// paragraph sets inline for the lines up to the next blank one, once for all paragraphs before it.
func (w *writer) paragraph(body string) {
	w.text = true
	if len(w.lines) >= w.rest {
		return
	}
	n := 0
	for n < len(w.lines) && strings.TrimSpace(w.lines[n]) != "" {
		n++
	}
	w.rest = len(w.lines) - n
	w.inline = newInline(body + strings.Join(w.lines[:n], "\n"))
}

// fenced copies a code block up to its closing fence, or to the end of the text, with our
// own fence at the left margin.
func (w *writer) fenced(open, info string, indent int) {
	n := 0
	for n < len(w.lines) && !closesFence(w.lines[n], open) {
		n++
	}
	w.code(w.lines[:n], info, indent)
	w.lines = w.lines[min(n+1, len(w.lines)):]
}

func closesFence(line, open string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(open) && strings.Trim(line, open[:1]) == ""
}

// indented copies a code block that is indented by four spaces.
func (w *writer) indented() {
	n := 0
	for n < len(w.lines) && (strings.HasPrefix(w.lines[n], "    ") || strings.HasPrefix(w.lines[n], "\t")) {
		n++
	}
	n = max(n, 1)
	w.code(w.lines[:n], "", 4)
	w.lines = w.lines[n:]
}

func (w *writer) code(lines []string, info string, indent int) {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(dedent(line, indent) + "\n")
	}
	w.out.WriteString(Fence(b.String(), info))
	w.list, w.text = false, false
}

// dedent removes up to n columns of leading white space.
func dedent(line string, n int) string {
	for n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		n -= width(line[:1])
		line = line[1:]
	}
	return line
}

// width counts columns; a tab is four.
func width(space string) int { return len(space) + 3*strings.Count(space, "\t") }
