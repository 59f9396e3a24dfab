package prompt

import (
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// aboutCode returns a Markdown document for contributors without the sections that, by their headings, are about the
// project's issues, branches, installation or test runs and not about its code, and without the addresses of its links.
// What is below such a section goes with it, unless its own heading is about code. What is under a title, a
// heading of level 1, is kept.
func aboutCode(doc string) string {
	var kept strings.Builder
	fence, shown := "", true
	above := [maxLevel + 1]bool{} // by level: whether the section that a line is in is left out
	lines := append(strings.SplitAfter(doc, "\n"), "")
	for i, line := range lines[:len(lines)-1] {
		text := strings.TrimSpace(line)
		level := levelOf(text, strings.TrimSpace(lines[i+1]))
		switch {
		case fence != "" && strings.HasPrefix(text, fence):
			fence = ""
		case fence == "" && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")):
			fence = text[:3]
		case fence == "" && level > 0:
			title := otherTitles.Replace(strings.ToLower(text))
			project, code := projectWords().MatchString(title), codeWords().MatchString(title)
			shown = level == 1 || code && !project || !above[level-1] && (code || !project)
			for i := level; i <= maxLevel; i++ {
				above[i] = !shown
			}
		}
		if shown && (fence != "" || !address().MatchString(line)) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// levelOf returns the level of a heading, which the line below it may underline; 0 for other lines.
func levelOf(text, below string) int {
	level := len(text) - len(strings.TrimLeft(text, "#"))
	switch {
	case level > 0 && (level > maxLevel || !strings.HasPrefix(text[level:], " ")):
		return 0
	case level == 0 && text != "" && len(below) > 2 && strings.Trim(below, "=") == "":
		return 1
	case level == 0 && text != "" && len(below) > 2 && strings.Trim(below, "-") == "":
		return 2
	}
	return level
}

const maxLevel = 6 // of headings

// otherTitles removes words about code from titles that are not about it.
var otherTitles = strings.NewReplacer("code of conduct", "conduct",
	"running tests", "running", "running the tests", "running", "run tests", "running", "run the tests", "running")

var (
	address      = pattern.Lazy(`^ {0,3}\[[^\]]+\]:\s`) // of a link, named elsewhere
	projectWords = pattern.Lazy(`(?i)\b(?:issues?|bugs?|feature requests?|pull requests?|prs?|commits?|` +
		`branch(?:es|ing)?|fork\w*|git|github|patch(?:es)?|releas\w+|changelogs?|licen[cs]\w*|copyright|cla|dco|` +
		`sign[- ]?off|conduct|community|contact|chat|discord|e?mail|questions?|help|get\w* (?:started|involved)|` +
		`quick ?start|set-?up|install\w*|prerequisites|commands?|build\w*|running|triag\w+|contribut\w+|` +
		`translat\w+|sponsor\w*|maintainers?|roadmap|(?:table of )?contents|reproduc\w+|troubleshoot\w*|backport\w*|` +
		`certificate|bibliography|(?:further|more) reading)\b`)
	codeWords = pattern.Lazy(`(?i)\b(?:cod(?:e|ing)|styles?|conventions?|guidelines?|standards?|rules?|principles?|` +
		`patterns?|architectur\w+|design|errors?|security|test(?:s|ing)?|api|naming|invariants?|performance|` +
		`concurrency|logging|database|migrations?)\b`)
)
