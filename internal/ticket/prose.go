package ticket

import (
	"regexp"
	"strings"
)

var (
	link     = regexp.MustCompile(`(?i)https?://[^\s<>"']+`)
	codeSpan = regexp.MustCompile("`+[^`\n]+`+")
)

// parts splits a text at its links, which have the odd places.
func parts(text string) (all []string) {
	from := 0
	for _, m := range link.FindAllStringIndex(text, -1) {
		all = append(all, text[from:m[0]], text[m[0]:m[1]])
		from = m[1]
	}
	return append(all, text[from:])
}

// prose is Markdown with its HTML comments and fenced code blanked out, also
// those that never end. Lines stay where they are.
func prose(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(withoutComments(text)) {
		before := fence
		if fence = fenceBehind(fence, line); before != "" || fence != "" {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// fenceBehind is the fence of code that is open behind a line, where one was before it.
func fenceBehind(fence, line string) string {
	mark := fenceOf(line)
	switch {
	case fence == "":
		return mark
	case strings.HasPrefix(mark, fence) && strings.TrimLeft(strings.TrimSpace(line), fence[:1]) == "":
		return ""
	}
	return fence
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
