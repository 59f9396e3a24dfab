package render

import (
	"html"
	"strings"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

// Paragraphs joins blocks with an empty line between them, leaving out empty blocks.
func Paragraphs(blocks ...string) string {
	var kept []string
	for _, b := range blocks {
		if b = strings.Trim(b, "\n"); b != "" {
			kept = append(kept, b)
		}
	}
	return strings.Join(kept, "\n\n")
}

// Details returns a folded block, or "" without a text. The summary is HTML, the text Markdown.
func Details(summary, text string) string {
	if text == "" {
		return ""
	}
	return "<details><summary>" + summary + "</summary>\n\n" + strings.Trim(text, "\n") + "\n</details>"
}

// codeLike matches what becomes code in a folded block's summary: code spans, and what GitHub
// makes live in any text outside code, Markdown or not: mentions, references, addresses,
// emoji names and commit hashes.
var codeLike = pattern.Lazy("`[^`]+`" + `|\S*[@#/]\S*|\S*:\S+:\S*|(?i)gh-[0-9]+|www\.\S+|[0-9a-f]{7,40}`)

// InlineHTML returns untrusted text as one line of HTML for a summary, where Markdown is not
// parsed but GitHub's own filters still apply.
func InlineHTML(s string, limit int) string {
	s = guard.Line(s, limit)
	var b strings.Builder
	last := 0
	for _, at := range codeLike().FindAllStringIndex(s, -1) {
		b.WriteString(html.EscapeString(s[last:at[0]]))
		b.WriteString(CodeHTML(strings.Trim(s[at[0]:at[1]], "`")))
		last = at[1]
	}
	return b.String() + html.EscapeString(s[last:])
}

// CodeHTML returns untrusted text as code in HTML for a summary; "" for "".
func CodeHTML(s string) string {
	if s == "" {
		return ""
	}
	return "<code>" + html.EscapeString(s) + "</code>"
}
