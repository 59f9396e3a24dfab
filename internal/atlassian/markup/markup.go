// Package markup converts the text formats of Jira and Confluence to Markdown for a model: ADF, storage format and
// wiki markup.
//
// Its input is untrusted, and so is its output: it bounds depth, size and columns, drops what no reader sees, and
// escapes nothing. Start at ADF, Storage and Wiki.
package markup

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/pattern"
)

// The bounds of a text.
const (
	maxDepth      = 40 // of nodes; the document is 0
	maxNodes      = 5000
	maxColumns    = 50
	maxCharacters = 20_000
)

// Clean removes control characters, except tab and newline, and invisible characters that change how others are
// shown. The joiner of emoji stays.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < 0x20, r == 0x7f, r == 0x200b, r == 0x200c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e,
			r >= 0x2060 && r <= 0x2064, r >= 0x2066 && r <= 0x2069, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
			return -1
		}
		return r
	}, s)
}

// OneLine returns a text as one line of at most 300 characters, cleaned.
func OneLine(s string) string {
	s = strings.Join(strings.Fields(Clean(s)), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}

var (
	wikiStart = pattern.Lazy(`^(?:h([1-6])\.|([*#]+|-))[ \t]+`)
	wikiFence = pattern.Lazy(`^[ \t]*\{(?:code|noformat)(?::[^}]*)?\}`)
	wikiTag   = pattern.Lazy(`\{(?:color|panel|quote|anchor)(?::[^}]*)?\}`)
)

// Wiki converts the headings, lists and code blocks of wiki markup, the format of Jira Data Center and REST v2, to
// Markdown, where its numbered items would otherwise be headings. The rest stays as it is.
func Wiki(text string) string {
	const mark = "```"
	var out []string
	code := false
	for line := range strings.SplitSeq(strings.ReplaceAll(Clean(text), "\r\n", "\n"), "\n") {
		switch {
		case wikiFence().MatchString(line):
			line, code = mark, !code
		case code:
			line = strings.ReplaceAll(line, mark, "'''")
		default:
			line = wikiStart().ReplaceAllStringFunc(wikiTag().ReplaceAllString(line, ""), wikiPrefix)
		}
		out = append(out, line)
	}
	if code {
		out = append(out, mark)
	}
	return truncate(strings.TrimSpace(strings.Join(out, "\n")), false)
}

// wikiPrefix returns the Markdown start of a heading or item.
func wikiPrefix(start string) string {
	m := wikiStart().FindStringSubmatch(start)
	switch indent := strings.Repeat("  ", max(len(m[2])-1, 0)); {
	case m[1] != "":
		return strings.Repeat("#", int(m[1][0]-'0')) + " "
	case strings.HasSuffix(m[2], "#"):
		return indent + "1. "
	default:
		return indent + "- "
	}
}

// truncate cuts a text to maxCharacters.
func truncate(s string, cut bool) string {
	if utf8.RuneCountInString(s) > maxCharacters {
		s, cut = string([]rune(s)[:maxCharacters]), true
	}
	if cut {
		s += "\n[truncated]"
	}
	return s
}

var backticks = pattern.Lazy("`+")

// fence returns a row of backticks, at least that many, which code cannot end.
func fence(code string, least int) string {
	for _, run := range backticks().FindAllString(code, -1) {
		least = max(least, len(run)+1)
	}
	return strings.Repeat("`", least)
}

// codeSpan returns code within a line.
func codeSpan(code string) string {
	mark := fence(code, 1)
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return mark + code + mark
}

// prefixLines puts first before a text's first line and others before the next ones.
func prefixLines(text, first, others string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(first+line, " ")
		first = others
	}
	return strings.Join(lines, "\n")
}

// safeAddress matches an address that may be in a link.
var safeAddress = pattern.Lazy(`(?i)^(?:https?://|mailto:)[^ \t\n\r"<>()]*$`)

// compact joins the texts that are not empty.
func compact(texts []string, between string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }), between)
}
