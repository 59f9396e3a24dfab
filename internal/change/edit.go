package change

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"strings"

	"github.com/org/pr-review-action/internal/order"
)

// Edit replaces the lines Search by the lines Replace.
type Edit struct {
	Search  string `json:"search"`
	Replace string `json:"replace"`
}

// span is a stretch of a text, in bytes, and what comes in its place.
type span struct {
	edit, from, to int
	with           string
}

// Apply returns a text with all edits applied, or says which of them does not apply and why,
// in words that may quote the text. Nothing is guessed: each is looked for in the text as it
// came, once as it is written and, where that finds nothing, without white space at line
// ends; it stands there exactly once, and no two overlap. A text with CR LF keeps it.
func Apply(text string, edits []Edit) (string, error) {
	crlf := strings.Contains(text, "\r\n")
	spans := make([]span, 0, len(edits))
	for i, b := range edits {
		if crlf {
			b.Search, b.Replace = withCR(b.Search), withCR(b.Replace)
		}
		s, what := find(text, b)
		if what != "" {
			if near := nearest(text, b.Search); near != "" {
				what += fmt.Sprintf("; the nearest line is %q", near[:min(len(near), 200)])
			}
			return "", fmt.Errorf("edit %d: %s", i+1, what)
		}
		s.edit = i + 1
		spans = append(spans, s)
	}
	order.Stable(spans, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.from < at {
			return "", fmt.Errorf("edit %d: it changes lines that another edit changes", s.edit)
		}
		out.WriteString(text[at:s.from])
		out.WriteString(s.with)
		at = s.to
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

func withCR(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// find gives the one place of an edit, or why there is none.
func find(text string, b Edit) (s span, what string) {
	if strings.TrimSpace(b.Search) == "" {
		return s, "it looks for nothing"
	}
	if n := count(text, b.Search); n > 1 {
		return s, fmt.Sprintf("what it looks for stands there %d times; more lines around it tell them apart", n)
	} else if n == 1 {
		from := strings.Index(text, b.Search)
		return span{from: from, to: from + len(b.Search), with: b.Replace}, ""
	}
	found := loosely(text, b.Search)
	switch len(found) {
	case 0:
		return s, "what it looks for does not stand there"
	case 1:
		s = found[0]
		s.with = b.Replace
		if strings.HasSuffix(text[s.from:s.to], "\n") && b.Replace != "" && !strings.HasSuffix(b.Replace, "\n") {
			s.with += text[s.to-lineEnd(text[:s.to]) : s.to]
		}
		return s, ""
	}
	return s, fmt.Sprintf("what it looks for stands there %d times; more lines around it tell them apart", len(found))
}

// count is how often a part stands in a text, overlapping ones too, up to 99.
func count(text, part string) (n int) {
	for n < 99 {
		at := strings.Index(text, part)
		if at < 0 {
			return n
		}
		n++
		text = text[at+1:]
	}
	return n
}

// lineEnd is the length of the line end that a text has at its end.
func lineEnd(text string) int {
	if strings.HasSuffix(text, "\r\n") {
		return 2
	}
	return 1
}

// loosely finds whole lines that differ in white space at their ends alone.
func loosely(text, search string) (found []span) {
	lines, wanted := strings.SplitAfter(text, "\n"), strings.Split(strings.TrimRight(search, "\r\n"), "\n")
	starts := make([]int, len(lines)+1)
	for i, line := range lines {
		starts[i+1] = starts[i] + len(line)
	}
	for i := 0; i+len(wanted) <= len(lines) && len(found) < 99; i++ {
		same := true
		for j := 0; same && j < len(wanted); j++ {
			same = strings.TrimRight(lines[i+j], " \t\r\n") == strings.TrimRight(wanted[j], " \t\r\n")
		}
		if same {
			found = append(found, span{from: starts[i], to: starts[i+len(wanted)]})
		}
	}
	return found
}

// nearest is the line that shares most words with the first one looked for.
func nearest(text, search string) (best string) {
	first, _, _ := strings.Cut(strings.TrimSpace(search), "\n")
	words, most := strings.Fields(first), 0
	for line := range strings.Lines(text) {
		shared := 0
		for _, w := range words {
			if strings.Contains(line, w) {
				shared++
			}
		}
		if shared > most {
			best, most = strings.TrimSpace(line), shared
		}
	}
	return best
}

// Settle returns a changed text as its language's formatter would have it, and refuses one
// that does not parse. Of Go it parses and, where the text before was formatted too or
// there was none, formats; of other languages it knows nothing.
func Settle(name, before, after string) (string, error) {
	if path.Ext(name) != ".go" {
		return after, nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), path.Base(name), after, parser.SkipObjectResolution); err != nil {
		return "", fmt.Errorf("it does not parse afterwards: %w", err)
	}
	if was, err := format.Source([]byte(before)); before != "" && (err != nil || !bytes.Equal(was, []byte(before))) {
		return after, nil
	}
	formatted, err := format.Source([]byte(after))
	if err != nil {
		return after, nil // it parsed: what is left is the formatter's
	}
	return string(formatted), nil
}
