package prompt

import (
	"strings"

	"github.com/org/pr-review-action/internal/pattern"
)

// aboutCode returns a Markdown document for contributors without the sections that, by their headings, are about the
// project's issues, branches or installation and not about its code. What stands below such a section goes with it,
// unless its own heading is about code. What stands under a title, a heading of level 1, is kept.
func aboutCode(doc string) string {
	var kept strings.Builder
	fence, shown := "", true
	above := [maxLevel + 1]bool{} // by level: whether the section that a line is in is left out
	for line := range strings.Lines(doc) {
		text := strings.TrimSpace(line)
		level := len(text) - len(strings.TrimLeft(text, "#"))
		switch {
		case fence != "" && strings.HasPrefix(text, fence):
			fence = ""
		case fence == "" && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")):
			fence = text[:3]
		case fence == "" && 0 < level && level <= maxLevel && strings.HasPrefix(text[level:], " "):
			title := strings.ReplaceAll(strings.ToLower(text), "code of conduct", "conduct")
			project, code := projectWords().MatchString(title), codeWords().MatchString(title)
			shown = level == 1 || code && !project || !above[level-1] && (code || !project)
			for i := level; i <= maxLevel; i++ {
				above[i] = !shown
			}
		}
		if shown {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

const maxLevel = 6 // of headings

var (
	projectWords = pattern.Lazy(`(?i)\b(?:issues?|bugs?|feature requests?|pull requests?|prs?|commits?|` +
		`branch(?:es|ing)?|fork\w*|git|github|patch(?:es)?|releas\w+|changelogs?|licen[cs]\w*|copyright|cla|dco|` +
		`sign[- ]?off|conduct|community|contact|chat|discord|e?mail|questions?|help|get\w* (?:started|involved)|` +
		`quick ?start|set-?up|install\w*|prerequisites|commands?|build\w*|running|triag\w+|contribut\w+|` +
		`translat\w+|sponsor\w*|maintainers?|roadmap|(?:table of )?contents)\b`)
	codeWords = pattern.Lazy(`(?i)\b(?:cod(?:e|ing)|styles?|conventions?|guidelines?|standards?|rules?|principles?|` +
		`patterns?|architectur\w+|design|errors?|security|test(?:s|ing)?|api|naming|invariants?|performance|` +
		`concurrency|logging|database|migrations?)\b`)
)
