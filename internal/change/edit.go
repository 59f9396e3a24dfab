package change

import (
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/order"
)

// Edit replaces the lines Search with the lines Replace.
type Edit struct {
	Search  string `json:"search"`
	Replace string `json:"replace"`
}

// span is a range of bytes in a text and the text that replaces it.
type span struct {
	edit, from, to int
	with           string
}

// Apply returns text with all edits applied. The error names and quotes the edit that does not
// apply, and says why. Nothing is guessed: each edit is looked for in the original text, whatever
// the line ends of either, and must occur there exactly once and not within a word, and edits must
// not overlap. What an edit writes has the line ends of where it stands, and a byte order mark stays.
func Apply(text string, edits []Edit) (string, error) {
	lines := withLineEnds(text, "\n")
	spans := make([]span, 0, len(edits))
	for i, e := range edits {
		search := withLineEnds(e.Search, "\n")
		found, what := find(lines, search)
		if what != "" {
			return "", fmt.Errorf("edit %d: %s", i+1, what)
		}
		at := offset(text, found)
		end := offset(text, found+len(search))
		spans = append(spans, span{i + 1, at, end, withLineEnds(e.Replace, lineEndAt(text, at))})
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
	return withByteOrderMark(text, out.String()), nil
}

// Like returns a whole new text of a file with the line ends and the byte order mark of the one
// before; if that is empty, as it is.
func Like(before, after string) string {
	if before == "" {
		return after
	}
	return withByteOrderMark(before, withLineEnds(after, lineEndAt(before, 0)))
}

// withByteOrderMark returns a text with a byte order mark if the one before has one.
func withByteOrderMark(before, after string) string {
	const mark = "\ufeff"
	if strings.HasPrefix(before, mark) {
		return mark + strings.TrimPrefix(after, mark)
	}
	return after
}

// withLineEnds returns a text whose lines all have one end.
func withLineEnds(text, end string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", end)
}

// lineEndAt returns the end of the line at an offset, or of the line before if it has none.
func lineEndAt(text string, at int) string {
	at += max(0, strings.IndexByte(text[at:], '\n'))
	if i := strings.LastIndexByte(text[:min(at+1, len(text))], '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// offset returns where in a text an offset stands that was counted without the carriage returns
// at its lines' ends.
func offset(text string, lines int) (at int) {
	for ; lines > 0; lines-- {
		if strings.HasPrefix(text[at:], "\r\n") {
			at++
		}
		at++
	}
	return at
}

// find returns the offset of the only match, or why there is none or several, overlaps included,
// with the first line, or the first that is not there.
func find(text, search string) (at int, what string) {
	at = strings.Index(text, search)
	switch first, _, _ := strings.Cut(strings.TrimSpace(search), "\n"); {
	case first == "":
		return 0, "it looks for nothing"
	case at < 0:
		return 0, describeMissing(text, search)
	case at != strings.LastIndex(text, search):
		return 0, fmt.Sprintf("what it looks for is there more than once; more lines around it tell them apart: %.100q",
			first)
	case cutsWord(text, at) || cutsWord(text, at+len(search)):
		return 0, fmt.Sprintf("what it looks for is there only as a part of longer words: %.100q", first)
	}
	return at, ""
}

// cutsWord reports whether an offset stands within a name or a number: n = 1 is not n = 10. Some scripts have no spaces
// between words, and what ends with \n or %d is no part of the word behind it.
func cutsWord(text string, at int) bool {
	word := func(r rune, _ int) bool {
		return r == '_' || unicode.IsDigit(r) ||
			unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	}
	escape := at > 1 && (text[at-2] == '\\' || text[at-2] == '%')
	return !escape && word(utf8.DecodeLastRuneInString(text[:at])) && word(utf8.DecodeRuneInString(text[at:]))
}

// describeMissing says from which line on a search is not in a text.
func describeMissing(text, search string) string {
	n, at := 0, 0
	for line := range strings.Lines(search) {
		n, at = n+1, at+len(line)
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.Contains(text, search[:at]):
		case n == 1:
			return fmt.Sprintf("what it looks for is not there: %.100q", line)
		default:
			return fmt.Sprintf("what it looks for is not there from its line %d on: %.100q", n, line)
		}
	}
	return ""
}

// Settle formats a changed text and returns an error if it does not parse. It knows only Go,
// which it formats if the text before was formatted or empty; other files it returns unchanged.
func Settle(name, before, after string) (string, error) {
	if path.Ext(name) != ".go" {
		return after, nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), path.Base(name), after, parser.SkipObjectResolution); err != nil {
		return "", fmt.Errorf("it does not parse afterwards: %w", err)
	}
	if was, err := format.Source([]byte(before)); before == "" || err == nil && string(was) == before {
		if formatted, err := format.Source([]byte(after)); err == nil { // it parsed, so only the formatter can fail
			return string(formatted), nil
		}
	}
	return after, nil
}
