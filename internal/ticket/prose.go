package ticket

import (
	"regexp"
	"strings"
)

// part is a link, or the text between two of them.
type part struct {
	text string
	link bool
}

var link = regexp.MustCompile(`(?i)https?://[^\s<>"']+`)

// parts splits a text at its links.
func parts(text string) (all []part) {
	from := 0
	for _, m := range link.FindAllStringIndex(text, -1) {
		all = append(all, part{text[from:m[0]], false}, part{text[m[0]:m[1]], true})
		from = m[1]
	}
	return append(all, part{text[from:], false})
}

// prose is Markdown with its HTML comments and fenced code blanked out, also
// those that never end. Lines stay where they are.
func prose(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(withoutComments(text)) {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark == "":
			b.WriteString(line)
			continue
		case fence == "":
			fence = mark
		case strings.HasPrefix(mark, fence) && strings.TrimLeft(strings.TrimSpace(line), fence[:1]) == "":
			fence = ""
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fenceOf is the row of backticks or tildes that a line begins with: three or more.
func fenceOf(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(trimmed, mark)
		if n := len(trimmed) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return strings.Repeat(mark, n)
		}
	}
	return ""
}

func withoutComments(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		comment, after, closed := strings.Cut(rest, "-->")
		b.WriteString(" " + strings.Repeat("\n", strings.Count(comment, "\n")))
		if !closed {
			return b.String()
		}
		text = after
	}
}

var codeSpan = regexp.MustCompile("`+[^`\n]+`+")
