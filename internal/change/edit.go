package change

import (
	"bytes"
	"errors"
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

// wholeLines returns the span that is meant by a model that wrote the first line's indentation in replace alone, or the
// last line feed in search alone: no line is indented twice or joined with the next, and a removed line leaves no empty
// one.
func (s span) wholeLines(text string) span {
	begin := strings.LastIndexByte(text[:s.from], '\n') + 1
	feed, next := text[s.to-1] == '\n', strings.HasPrefix(text[s.to:], "\n")
	indent, gone := text[begin:s.from], s.with == "" && (feed || next)
	bare := text[s.from] > ' ' // search has none of the indentation
	whole := strings.TrimSpace(indent) == "" && (gone || bare && strings.HasPrefix(s.with, indent))
	if whole {
		s.from = begin
	}
	switch {
	case whole && gone && !feed:
		s.to++
	case feed && s.to < len(text) && !(whole && gone) && !strings.HasSuffix(s.with, "\n"):
		s.with += "\n"
	}
	return s
}

// maxWrong is the number of edits that an error of Apply names at most.
const maxWrong = 5

// Apply returns text with all edits applied. The error names and quotes the first edits that do not
// apply, and says why, and what the text has instead. Nothing is guessed: each edit is looked for in the
// original text, must occur there exactly once and not within a word, and edits must not overlap. Line
// ends, if all are the same, and a byte order mark stay, whatever those of the edits.
func Apply(text string, edits []Edit) (string, error) {
	text, restored := plain(text)
	spans := make([]span, 0, len(edits))
	var wrong []string
	for i, e := range edits {
		search := strings.TrimPrefix(e.Search, "\ufeff")
		if !strings.Contains(text, search) { // if lines end in both ways, it is there only as it stands
			search, _ = plain(search)
		}
		at, what := find(text, search)
		if what != "" {
			if wrong = append(wrong, fmt.Sprintf("edit %d: %s", i+1, what)); len(wrong) == maxWrong {
				break
			}
			continue
		}
		spans = append(spans, span{i + 1, at, at + len(search), e.Replace}.wholeLines(text))
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
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
	return restored(out.String() + text[at:]), nil
}

// Like returns a whole new text of a file with the line ends and the byte order mark of the one
// before; if that is empty, as it is.
func Like(before, after string) string {
	if before == "" {
		return after
	}
	_, restored := plain(before)
	return restored(after)
}

// plain returns a text without byte order mark whose lines end in \n, and a function that gives another text the form
// of this one. If lines end in both ways, they stay as they are.
func plain(text string) (lines string, restored func(string) string) {
	const mark = "\ufeff"
	lines = strings.TrimPrefix(text, mark)
	begin, end, ends := text[:len(text)-len(lines)], "\n", strings.Count(lines, "\r\n")
	if ends > 0 && ends == strings.Count(lines, "\n") {
		end, lines = "\r\n", strings.ReplaceAll(lines, "\r\n", "\n")
	}
	return lines, func(s string) string {
		s = strings.TrimPrefix(s, mark)
		if ends == 0 || end == "\r\n" {
			s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", end)
		}
		return begin + s
	}
}

// find returns the offset of the only match, or why there is none or several, overlaps included.
func find(text, search string) (at int, what string) {
	at = strings.Index(text, search)
	switch {
	case strings.TrimSpace(search) == "":
		return 0, "it looks for nothing"
	case at < 0:
		return 0, fmt.Sprintf("what it looks for is not there: %.300q%s", search, instead(text, search))
	case at != strings.LastIndex(text, search):
		what = "what it looks for is there more than once; more lines around it tell them apart"
	case cutsWord(text, at) || cutsWord(text, at+len(search)):
		what = "what it looks for is there only as a part of longer words"
	default:
		return at, ""
	}
	return 0, fmt.Sprintf("%s: %.300q", what, search)
}

// instead says what a text has in place of a search that it lacks: lines that differ in white space alone, or not the
// first of its lines that is nowhere.
func instead(text, search string) string {
	all, offsets := solid(text)
	want, _ := solid(search)
	if i := bytes.Index(all, want); i >= 0 {
		if i != bytes.LastIndex(all, want) {
			return "; it is there more than once, with other white space"
		}
		from, last := strings.LastIndexByte(text[:offsets[i]], '\n')+1, offsets[i+len(want)-1]
		line, _, _ := strings.Cut(text[last:], "\n")
		return fmt.Sprintf(", but this, with other white space: %.300q", text[from:last+len(line)])
	}
	for line := range strings.Lines(search) {
		if line = strings.TrimSpace(line); !strings.Contains(text, line) {
			return fmt.Sprintf("; this line of it is nowhere in the file: %.300q", line)
		}
	}
	return "; the file has its lines, but not one after the other"
}

// solid returns a text without its white space, and for each byte the offset of its character.
func solid(text string) (out []byte, offsets []int) {
	for i, r := range text {
		if !unicode.IsSpace(r) {
			out = utf8.AppendRune(out, r)
		}
		for len(offsets) < len(out) {
			offsets = append(offsets, i)
		}
	}
	return out, offsets
}

// cutsWord reports whether an offset is within a name or a number: n = 1 is not n = 10. Some scripts have no spaces
// between words, and what ends with \n or %d is not part of the word after it.
func cutsWord(text string, at int) bool {
	word := func(r rune, _ int) bool {
		return r == '_' || unicode.IsDigit(r) ||
			unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	}
	escape := at > 1 && (text[at-2] == '\\' || text[at-2] == '%')
	return !escape && word(utf8.DecodeLastRuneInString(text[:at])) && word(utf8.DecodeRuneInString(text[at:]))
}

// Format formats a changed text and returns an error if it does not parse. It knows only Go,
// which it formats if the text before was formatted or empty; other files it returns unchanged.
func Format(name, before, after string) (string, error) {
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
