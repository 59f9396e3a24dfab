// Package guard is the border that untrusted text crosses on its way out: to a log, a terminal, a
// Markdown page or a prompt.
//
// Everything from a pull request, a model, an artifact or an input goes through here; no other
// package escapes text. It never decides whether a text is an attack, and never drops text: what
// could act becomes visible and inert. Start reading at Visible, which all others apply first;
// then Line and Text for terminals, Markdown and its relatives for pages, Boundary for prompts.
package guard

import (
	"strings"
	"unicode/utf8"

	"github.com/org/pr-review-action/internal/lang"
)

// Line returns one line for logs, annotations and the terminal: Visible, line breaks and tabs as spaces, cut
// after max runes with "…" (max 0: not cut). A runner finds no workflow command in it, at its start or later.
func Line(s string, max int) string {
	return breakCommands(Cut(oneLine(s), max))
}

// Text returns several lines for the terminal: Visible, and each line safe as in Line. Line feeds and tabs stay.
func Text(s string) string {
	lines := strings.Split(Visible(s), "\n")
	for i, line := range lines {
		lines[i] = breakCommands(line)
	}
	return strings.Join(lines, "\n")
}

func oneLine(s string) string {
	return breaks.Replace(strings.TrimRight(Visible(s), "\n"))
}

var breaks = strings.NewReplacer("\n", " ", "\t", " ")

// Cut cuts a text after max runes and adds "…". A max of 0 cuts nothing.
func Cut(s string, max int) string {
	if max <= 0 || utf8.RuneCountInString(s) <= max {
		return s
	}
	return string([]rune(s)[:max]) + "…"
}

// CutBytes cuts a text to at most max bytes. It leaves out invalid UTF-8, such as half a character at the cut.
func CutBytes(s string, max int) string { return strings.ToValidUTF8(s[:min(len(s), max)], "") }

// breakCommands breaks workflow commands with a visible backslash. The runner accepts :: only at
// the start of a line, after any white space, but ##[ anywhere.
func breakCommands(line string) string {
	line = strings.ReplaceAll(line, "##[", `##\[`)
	if strings.HasPrefix(strings.TrimSpace(line), "::") {
		return strings.Replace(line, "::", `\::`, 1)
	}
	return line
}

// Code returns one code span with s on one line.
func Code(s string) string {
	s = oneLine(s)
	if s == "" {
		return "` `"
	}
	marks := strings.Repeat("`", longestRun(s)+1)
	blank := strings.TrimSpace(s) == ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' && !blank {
		s = " " + s + " "
	}
	return marks + s + marks
}

// Fence returns a fenced code block whose fence is longer than any run of backticks inside. It begins at the start
// of a line and ends with a line feed. info is a language by one of its names; any other word is left out.
func Fence(s, info string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(info)), " ")
	if !lang.MarkdownWord(word) {
		word = ""
	}
	return fence(s, word)
}

// Suggestion returns the block that GitHub offers to apply to the lines of a comment. An
// empty text deletes them.
func Suggestion(s string) string {
	return fence(s, "suggestion")
}

func fence(s, info string) string {
	s = Visible(s)
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	marks := strings.Repeat("`", max(3, longestRun(s)+1))
	return marks + info + "\n" + s + marks + "\n"
}

// longestRun returns the length of the longest run of backticks.
func longestRun(s string) (longest int) {
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(run))
	}
	return longest
}
