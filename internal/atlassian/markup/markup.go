// Package markup turns the formats in which Jira and Confluence keep texts into
// Markdown for a model: ADF, storage format and wiki markup.
//
// What it reads is untrusted, and what it writes is still: it bounds depth, size
// and columns, drops what no reader sees, and escapes nothing. Start at ADF,
// Storage and Wiki.
package markup

import (
	"strings"
	"unicode/utf8"
)

// The bounds of a text.
const (
	maxDepth      = 40 // of nodes; the document is 0
	maxNodes      = 5000
	maxColumns    = 50
	maxCharacters = 20_000
)

const truncated = "\n[truncated]"

// Clean is a text without control characters, except tab and newline, and without
// those that change how others are shown and are not seen. The joiner of emoji stays.
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

// OneLine is a short text as one line of at most 300 characters, cleaned.
func OneLine(s string) string {
	s = strings.Join(strings.Fields(Clean(s)), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}

// capped ends a text at the most characters that one has.
func capped(s string, cut bool) string {
	if utf8.RuneCountInString(s) > maxCharacters {
		s, cut = string([]rune(s)[:maxCharacters]), true
	}
	if cut {
		s += truncated
	}
	return s
}

// fenced is a block of code, behind a fence that the code cannot end.
func fenced(code, language string) string {
	fence := strings.Repeat("`", max(3, longestRun(code)+1))
	return fence + language + "\n" + code + "\n" + fence
}

// span is code within a line.
func span(code string) string {
	if code == "" {
		return ""
	}
	mark := strings.Repeat("`", longestRun(code)+1)
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return mark + code + mark
}

// longestRun counts the backticks of the longest run of them.
func longestRun(s string) (longest int) {
	run := 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// item is an entry of a list: a marker, and what stands in it, indented behind the
// marker's bullet or number. A task's state is part of the text.
func item(marker, text string) string {
	indent := strings.Repeat(" ", strings.IndexByte(marker, ' ')+1)
	return strings.TrimRight(marker+indented(text, indent), " ")
}

// indented puts an indent before every line but the first and empty ones.
func indented(text, indent string) string {
	lines := strings.Split(text, "\n")
	for i := range lines[1:] {
		if lines[i+1] != "" {
			lines[i+1] = indent + lines[i+1]
		}
	}
	return strings.Join(lines, "\n")
}

// quoted puts a text into a quote; nothing stays nothing.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return strings.Join(lines, "\n")
}

// table writes rows of cells; the first one is the header.
func table(rows [][]string) string {
	columns := 0
	for _, row := range rows {
		columns = max(columns, min(len(row), maxColumns))
	}
	if columns == 0 {
		return ""
	}
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("|")
		for c := range columns {
			if c < len(row) && row[c] != "" {
				b.WriteString(" " + cellText(row[c]))
			}
			b.WriteString(" |")
		}
		if i == 0 {
			b.WriteString("\n|" + strings.Repeat("---|", columns))
		}
	}
	return b.String()
}

var inCell = strings.NewReplacer("|", `\|`, "\n", "<br>")

func cellText(s string) string { return inCell.Replace(s) }

// safeLink reports whether an address may stand in a link.
func safeLink(href string) bool {
	lower := strings.ToLower(href)
	scheme := strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") ||
		strings.HasPrefix(lower, "mailto:")
	return scheme && !strings.ContainsAny(href, " \t\n\r\"<>()")
}

// compact joins the texts that are not empty.
func compact(texts []string, between string) string {
	var kept []string
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, between)
}
