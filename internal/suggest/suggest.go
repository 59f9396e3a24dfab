// Package suggest decides whether a suggestion can be applied.
//
// It applies it in memory, to the file's text at the head: the diff must show the replaced lines, a file that parsed
// must parse afterwards, and its encoding must stay. It writes nothing and runs nothing. A suggestion that fails
// remains in its finding as code to read, with the reason. Start reading at File.Check.
package suggest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/lang"
)

// File is what the suggestions for one file are checked against.
type File struct {
	language // zero if there is no parser, or if the head does not parse
	written  lang.Language
	shown    diff.Anchors
	head     []string // lines with their carriage returns; nil if the text is unavailable
	coded    bool     // the head is available, and not in UTF-8
	size     int      // of the head
	left     *int     // milliseconds left for parsing the whole file
}

// New returns a File for a file's diff and its text at the head. If head is nil, nothing is applied, and only the
// lines of the diff are checked.
func New(path string, shown diff.Anchors, head []byte) File {
	f := File{written: lang.Of(path), shown: shown}
	if head == nil {
		return f
	}
	f.head, f.coded = strings.Split(string(head), "\n"), !utf8.Valid(head)
	if p := languages[f.written.Name]; p.parses != nil && len(head) <= p.limit && p.parses(head) {
		left := maxWork - p.takes(len(head))
		f.language, f.size, f.left = p, len(head), &left
	}
	return f
}

// Check settles a finding's suggestion. It removes one that changes nothing, sets SuggestionProblem if one cannot be
// applied, and indents one that lacks the indentation common to all lines it replaces. An existing SuggestionProblem
// is kept.
func (s File) Check(f finding.Finding) finding.Finding {
	if f.Suggestion == "" || f.SuggestionProblem != "" {
		return f
	}
	start := cmp.Or(f.StartLine, f.Line)
	f.Suggestion = strings.ReplaceAll(f.Suggestion, "\r\n", "\n")
	old, why := s.replaced(f.Side, start, f.Line)
	if why == "" && !s.affords(f.Suggestion) {
		why = untried
	}
	if why == "" {
		text := s.indented(f.Suggestion, old)
		if slices.Equal(split(text), old) {
			if text = f.Suggestion; !s.ends(split(text), old, f.Line) {
				f.Suggestion = ""
				return f
			}
		}
		if why = cmp.Or(s.spelled(f.Side, start, f.Line), s.fault(text, old, start, f.Line)); why == "" {
			f.Suggestion = text
		}
	}
	f.SuggestionProblem = why
	return f
}

// The reasons why a suggestion is only shown as code.
const (
	deleted  = "lines that the change deletes take none"
	offDiff  = "not all of its lines are in the diff"
	unseen   = "it, or what it replaces, contains invisible characters"
	unlike   = "its lines are not shown as the file has them"
	omitted  = "it, or what it replaces, was not shown in full"
	unparsed = "the file would not parse with it"
	untried  = "its file is too large to try so many"
	mingled  = "it mixes tabs and spaces with the lines around it"
	returned = "its lines end in CRLF, which applying it may not keep"
	encoded  = "its file is not in UTF-8"
)

// affords accounts for parsing the file with a text in it, unless that would exceed the time left for the file.
// Parsing the head left some.
func (s File) affords(text string) bool {
	if s.parses == nil {
		return true
	}
	took := s.takes(s.size + len(text))
	if took > *s.left {
		return false
	}
	*s.left -= took
	return true
}

// replaced returns the lines that a suggestion replaces, without carriage returns, or why there are none.
func (s File) replaced(side finding.Side, start, line int) (old []string, why string) {
	if side == finding.Left {
		return nil, deleted
	}
	if !s.shown.Admit(string(side), start, line) {
		return nil, offDiff
	}
	for n := start; n <= line; n++ {
		text, _ := s.shown.Text(string(side), n)
		if s.head != nil && (n > len(s.head) || s.head[n-1] != text) {
			return nil, unlike
		}
		old = append(old, strings.TrimSuffix(text, "\r"))
	}
	return old, ""
}

// gap matches what replaces a credential, or the middle of a long line, when a model is shown the code.
var gap = regexp.MustCompile(`<redacted [a-z0-9-]{1,60}>|<… \d+ bytes left out …>`)

// fault returns why a suggestion cannot be applied, or "".
func (s File) fault(text string, old []string, start, line int) string {
	now, was := indent(split(text)), indent(old)
	both := text + "\n" + strings.Join(old, "\n")
	switch {
	case guard.Visible(both) != both:
		return unseen
	case gap.MatchString(both):
		return omitted
	case now != "" && was != "" && now[0] != was[0]:
		return mingled
	case s.parses != nil && !s.parses([]byte(s.with(text, start, line))):
		return unparsed
	}
	return ""
}

// spelled returns why the file's encoding might not survive a suggestion, or "". A comment is in UTF-8, and how a
// server writes line ends into a file is not documented.
func (s File) spelled(side finding.Side, start, line int) string {
	for n := start; n <= line; n++ {
		switch text, _ := s.shown.Text(string(side), n); {
		case strings.HasSuffix(text, "\r"):
			return returned
		case s.coded || !utf8.ValidString(text):
			return encoded
		}
	}
	return ""
}

// with returns the head's text with lines start to line replaced, for a parser: it ignores the new lines' line ends.
func (s File) with(text string, start, line int) string {
	return strings.Join(slices.Concat(s.head[:start-1], split(text), s.head[line:]), "\n")
}

// indented indents a suggestion like the lines that it replaces, if it begins at the left edge and none of those
// does. If all further lines already have that indentation and are not inside what the first one opens, only the
// first line is indented.
func (s File) indented(text string, old []string) string {
	margin, lines := indent(old), split(text)
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	left := func(line string) bool { return !blank(line) && !strings.HasPrefix(line, margin) }
	at := slices.IndexFunc(lines, func(line string) bool { return !blank(line) })
	if margin == "" || indent(lines) != "" || at < 0 || slices.ContainsFunc(old, left) {
		return text
	}
	statements := strings.Split(s.joined(strings.Join(lines[at:], "\n")), "\n")
	first, further := strings.TrimRight(statements[0], " \t"), statements[1:]
	within := indent(further) == margin && (strings.HasPrefix(first, "- ") || opening.MatchString(first))
	lines[at] = margin + lines[at]
	if within || slices.ContainsFunc(further, left) {
		for i, line := range lines[at+1:] {
			if line != "" {
				lines[at+1+i] = margin + line
			}
		}
	}
	return strings.Join(lines, "\n")
}

// opening matches a line that is not a complete statement, such as one that ends in a colon, a bracket or a comma.
var opening = regexp.MustCompile("[^\\w)\\]}\"'`;.]$")

// joined returns a text without comments and with each string on one line.
func (s File) joined(text string) string {
	var b strings.Builder
	for at := 0; ; {
		from, to := s.written.NotCode(text, at)
		if to == 0 {
			return b.String() + text[at:]
		}
		b.WriteString(text[at:from])
		if strings.IndexByte("\"'`", text[from]) >= 0 {
			b.WriteString(strings.ReplaceAll(text[from:to], "\n", " "))
		}
		at = to
	}
}

// ends reports whether lines that differ only in indentation end a block, in a language where indentation does: the
// code below is at the left edge, like them.
func (s File) ends(lines, old []string, line int) bool {
	return s.written.Name == "python" && s.head != nil && indent(s.head[line:]) == "" &&
		lines[len(lines)-1] != old[len(old)-1]
}

// split returns a suggestion's lines; a final line feed adds none.
func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// indent returns the white space before the first line that is not blank.
func indent(lines []string) string {
	for _, l := range lines {
		if rest := strings.TrimLeft(l, " \t"); rest != "" {
			return l[:len(l)-len(rest)]
		}
	}
	return ""
}
