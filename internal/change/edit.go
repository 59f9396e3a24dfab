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
// in words that quote it. Nothing is guessed: each is looked for in the text as it
// came, once as it is written and, where that finds nothing, without white space at line
// ends; it stands there exactly once, and no two overlap. A text with CR LF keeps it.
func Apply(text string, edits []Edit) (string, error) {
	crlf := strings.Contains(text, "\r\n")
	spans := make([]span, 0, len(edits))
	for i, e := range edits {
		if crlf {
			e.Search, e.Replace = withCR(e.Search), withCR(e.Replace)
		}
		s, what := find(text, e)
		if what != "" {
			first, _, _ := strings.Cut(strings.TrimSpace(e.Search), "\n")
			return "", fmt.Errorf("edit %d: %s: %.100q", i+1, what, first)
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
func find(text string, e Edit) (s span, what string) {
	if strings.TrimSpace(e.Search) == "" {
		return s, "it looks for nothing"
	}
	found, loose := exactly(text, e.Search), false
	if len(found) == 0 {
		found, loose = loosely(text, e.Search), true
	}
	switch n := len(found); {
	case n == 0:
		return s, "what it looks for does not stand there"
	case n > 1:
		return s, fmt.Sprintf("what it looks for stands there %d times; more lines around it tell them apart", n)
	}
	s = found[0]
	s.with = e.Replace
	was := text[s.from:s.to]
	if loose && strings.HasSuffix(was, "\n") && s.with != "" && !strings.HasSuffix(s.with, "\n") {
		s.with += was[len(strings.TrimSuffix(strings.TrimSuffix(was, "\n"), "\r")):]
	}
	return s, ""
}

// mostPlaces bounds the places of an edit that are counted.
const mostPlaces = 99

// exactly finds a text as it is written, where places overlap too.
func exactly(text, search string) (found []span) {
	for at := 0; len(found) < mostPlaces; at++ {
		i := strings.Index(text[at:], search)
		if i < 0 {
			break
		}
		at += i
		found = append(found, span{from: at, to: at + len(search)})
	}
	return found
}

// loosely finds whole lines that differ in white space at their ends alone.
func loosely(text, search string) (found []span) {
	lines, wanted := strings.SplitAfter(text, "\n"), strings.Split(strings.TrimRight(search, "\r\n"), "\n")
	starts := make([]int, len(lines)+1)
	for i, line := range lines {
		starts[i+1] = starts[i] + len(line)
	}
	for i := 0; i+len(wanted) <= len(lines) && len(found) < mostPlaces; i++ {
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
