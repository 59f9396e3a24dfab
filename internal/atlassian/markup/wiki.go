package markup

import (
	"regexp"
	"strings"
)

var (
	wikiHeading = regexp.MustCompile(`^h([1-6])\.\s+(.*)$`)
	wikiItem    = regexp.MustCompile(`^([*#-]+)\s+(.*)$`)
	wikiFence   = regexp.MustCompile(`^\{(?:code|noformat)(?::([A-Za-z0-9_+#.-]{1,32})?[^}]*)?\}`)
	wikiTag     = regexp.MustCompile(`\{(?:color|panel|quote|anchor)(?::[^}]*)?\}`)
	wikiLink    = regexp.MustCompile(`\[([^\]|\n]+)\|((?:https?://|mailto:)[^\]|\s]+)[^\]\n]*\]`)
	wikiBold    = regexp.MustCompile(`(^|[\s(])\*([^*\s](?:[^*\n]*[^*\s])?)\*`)
	wikiCode    = regexp.MustCompile(`\{\{([^}\n]+)\}\}`)
)

// Wiki turns the wiki markup in which Jira Data Center and REST v2 keep texts into
// Markdown: headings, lists, code, links and bold text. The rest stays as it is.
func Wiki(text string) string {
	var out []string
	fence := ""
	for text := range strings.Lines(Clean(strings.ReplaceAll(text, "\r\n", "\n"))) {
		text = strings.TrimRight(text, "\n")
		m := wikiFence.FindStringSubmatch(strings.TrimSpace(text))
		switch {
		case m != nil && fence == "":
			fence = "```"
			out = append(out, fence+m[1])
		case m != nil:
			fence = ""
			out = append(out, "```")
		case fence != "":
			out = append(out, strings.ReplaceAll(text, "```", "'''"))
		default:
			out = append(out, wikiLine(text))
		}
	}
	if fence != "" {
		out = append(out, fence)
	}
	return capped(strings.TrimSpace(strings.Join(out, "\n")), false)
}

func wikiLine(text string) string {
	text = wikiTag.ReplaceAllString(text, "")
	prefix := ""
	if m := wikiHeading.FindStringSubmatch(text); m != nil {
		prefix, text = strings.Repeat("#", int(m[1][0]-'0'))+" ", m[2]
	} else if m := wikiItem.FindStringSubmatch(text); m != nil && m[1] != "--" && m[1] != "---" {
		prefix, text = strings.Repeat("  ", len(m[1])-1)+"- ", m[2]
		if strings.HasSuffix(m[1], "#") {
			prefix = strings.Repeat("  ", len(m[1])-1) + "1. "
		}
	} else if rest, ok := strings.CutPrefix(text, "bq. "); ok {
		prefix, text = "> ", rest
	}
	text = wikiLink.ReplaceAllString(text, "[$1]($2)")
	text = wikiBold.ReplaceAllString(text, "$1**$2**")
	return prefix + wikiCode.ReplaceAllString(text, "`$1`")
}
