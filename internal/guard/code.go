package guard

import (
	"strings"

	"github.com/org/pr-review-action/internal/lang"
)

// Code makes one code span that holds s on one line.
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

// Fence makes a fenced code block, with a fence longer than any run of
// backticks inside. It begins at the start of a line and ends with a line
// feed. info is a language by one of its names; another word is left out.
func Fence(s, info string) string {
	return fence(s, language(info))
}

// Suggestion makes the block that GitHub offers to apply to the lines that a
// comment stands on. An empty text deletes them.
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

func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// language keeps the first word of an info string where it is a language.
func language(info string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(info)), " ")
	if lang.MarkdownWord(word) {
		return word
	}
	return ""
}
