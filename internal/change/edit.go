// Package edit applies a model's search and replace blocks to a text, or says which
// block does not apply and why.
//
// Nothing is guessed: the lines that a block looks for stand in the text exactly once, or
// it is refused. It holds pure functions. Start reading at Apply.
package edit

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

// Block replaces the lines Search by the lines Replace.
type Block struct {
	Search  string `json:"search"`
	Replace string `json:"replace"`
}

// Error says which block of a file does not apply. What and Near may quote untrusted text.
type Error struct {
	Block int    // from 1
	What  string // why, in our own words
	Near  string // the line of the text that is most like the first one looked for; may be empty
}

func (e *Error) Error() string {
	text := fmt.Sprintf("edit %d: %s", e.Block, e.What)
	if e.Near != "" {
		text += fmt.Sprintf("; the nearest line is %q", cut(e.Near))
	}
	return text
}

// cut bounds what an error quotes.
func cut(line string) string { return line[:min(len(line), 200)] }

// span is a stretch of a text, in bytes, and what comes in its place.
type span struct {
	block, from, to int
	with            string
}

// Apply returns the text with all blocks applied. Each is looked for in the text as it
// came, once as it is written and, where that finds nothing, without white space at line
// ends; they may not overlap. A text with CR LF keeps it. The error is an *Error.
func Apply(text string, blocks []Block) (string, error) {
	crlf := strings.Contains(text, "\r\n")
	spans := make([]span, 0, len(blocks))
	for i, b := range blocks {
		if crlf {
			b.Search, b.Replace = withCR(b.Search), withCR(b.Replace)
		}
		s, what := find(text, b)
		if what != "" {
			return "", &Error{i + 1, what, nearest(text, b.Search)}
		}
		s.block = i + 1
		spans = append(spans, s)
	}
	order.Stable(spans, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.from < at {
			return "", &Error{Block: s.block, What: "it changes lines that another edit changes"}
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

// find gives the one place of a block, or why there is none.
func find(text string, b Block) (s span, what string) {
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
