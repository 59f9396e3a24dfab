// Package suggest decides whether a suggestion is one to apply.
//
// It applies it in memory, to the text that its file has at the head: the replaced lines must be shown by the diff, a
// file that parsed has to parse afterwards, and its encoding has to stay. It writes nothing and runs nothing. A
// suggestion that does not pass stays in its finding as code to read, with the reason. Start reading at File.Check.
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

// File is what the suggestions for one file are held against.
type File struct {
	language // the zero value where no parser is at hand, or the head itself does not parse
	shown    diff.Anchors
	head     []string // lines with their carriage returns; nil where the text is not at hand
	coded    bool     // the head is at hand, and not in UTF-8
	size     int      // of the head
	left     *int     // milliseconds for further looks at the whole file
}

// New takes a file's diff and its text at the head, which is nil where it is not
// at hand: then nothing is applied, and the lines of the diff alone are looked at.
func New(path string, shown diff.Anchors, head []byte) File {
	f := File{shown: shown}
	if head == nil {
		return f
	}
	f.head, f.coded = strings.Split(string(head), "\n"), !utf8.Valid(head)
	if p := languages[lang.Of(path).Name]; p.parses != nil && len(head) <= p.limit && p.parses(head) {
		left := maxWork - p.takes(len(head))
		f.language, f.size, f.left = p, len(head), &left
	}
	return f
}

// Check settles a finding's suggestion. One that changes nothing is taken away;
// one that cannot be applied gets the reason as SuggestionProblem; one that lacks the
// indentation of all lines in its place gets it. A reason that is there already stays.
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
		text := indented(f.Suggestion, old)
		if slices.Equal(split(text), old) {
			f.Suggestion = ""
			return f
		}
		if why = cmp.Or(s.spelled(f.Side, start, f.Line), s.fault(text, old, start, f.Line)); why == "" {
			f.Suggestion = text
		}
	}
	f.SuggestionProblem = why
	return f
}

// The reasons for which a suggestion is no more than code.
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

// affords counts a look at the file with a text in it, unless that would take longer
// than there is for the file: a head that was looked at left some.
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

// replaced are the lines that a suggestion takes the place of, without carriage returns, and why there are none.
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

// gap is what stands in the place of a credential, or of the middle of a long line, where a model is shown the code.
var gap = regexp.MustCompile(`<redacted [a-z0-9-]{1,60}>|<… \d+ bytes left out …>`)

// fault says why a suggestion is not one to apply; empty where it is.
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

// spelled says why the file's encoding might not outlast a suggestion; empty where it would. A comment is in UTF-8,
// and how a server writes its line ends into a file is not said anywhere.
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

// with is the head's text with the lines start to line replaced, for a parser: of
// the new lines' ends it takes no care.
func (s File) with(text string, start, line int) string {
	return strings.Join(slices.Concat(s.head[:start-1], split(text), s.head[line:]), "\n")
}

// indented is a suggestion as far to the right as what it replaces, where it begins at the left
// edge and no line in its place does.
func indented(text string, old []string) string {
	margin, lines := indent(old), split(text)
	left := func(line string) bool { return line != "" && !strings.HasPrefix(line, margin) }
	if margin == "" || indent(lines) != "" || strings.TrimSpace(text) == "" || slices.ContainsFunc(old, left) {
		return text
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, "\n")
}

// split are a suggestion's lines: a line feed at its end adds none.
func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// indent is the white space before the first line that is not blank.
func indent(lines []string) string {
	for _, l := range lines {
		if rest := strings.TrimLeft(l, " \t"); rest != "" {
			return l[:len(l)-len(rest)]
		}
	}
	return ""
}
