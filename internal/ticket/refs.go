package ticket

import (
	"regexp"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/order"
	"github.com/org/pr-review-action/internal/pattern"
)

var (
	closing = pattern.Lazy(`(?i)(?:^|[^\p{L}\p{N}_-])(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?[ \t]+` +
		reference)
	mention = pattern.Lazy(`(?i)(?:^|[^\p{L}\p{N}_./-])` + reference)
	page    = pattern.Lazy(`(?i)(?:/pages/|[?&]pageid=)([1-9][0-9]{0,18})(?:[^0-9]|$)`)
	onHost  = pattern.Lazy(`(?i)^https?://([^/?#@\\]+)(?:[/?#]|$)`)
)

// reference is #12, GH-12, owner/repo#12, or the address of an issue: its server, repository and number.
const reference = `(?:(?:#|gh-)([1-9][0-9]{0,9})|([a-z0-9][a-z0-9-]*/[\w.-]+)#([1-9][0-9]{0,9})|` +
	`https?://([^/\s]+)/([a-z0-9][a-z0-9-]*/[\w.-]+)/issues/([1-9][0-9]{0,9}))`

// Issues returns the GitHub issues that a Markdown text closes by GitHub's keywords, as owner/repo#12, in order and
// each once. repo is the repository that the text belongs to, and host its server.
func Issues(text, host, repo string, where Where) []Key {
	return references(closing(), text, host, repo, where)
}

// Mentions is like Issues, but returns every GitHub issue that the text names.
func Mentions(text, host, repo string, where Where) []Key {
	return references(mention(), text, host, repo, where)
}

func references(re *regexp.Regexp, text, host, repo string, where Where) []Key {
	text = codeSpan().ReplaceAllString(prose(text), " ")
	var all []Key
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		k := Key{From: where}
		switch number := group(1) + group(3) + group(6); {
		case group(1) != "":
			k.Key = repo + "#" + number
		case group(3) != "":
			k.Key = group(2) + "#" + number
		case strings.EqualFold(group(4), host):
			k.Key = group(5) + "#" + number
		}
		if k.Key != "" && !continuesWord(text[m[1]:]) {
			all = append(all, k)
		}
	}
	return Merge(nil, all...)
}

// PageIDs returns the Confluence pages that a text links to, each once.
func PageIDs(text string, where Where) []PageID {
	var all []PageID
	if where == Body {
		text = prose(text)
	}
	for i, p := range parts(text) {
		host, id := onHost().FindStringSubmatch(p), page().FindStringSubmatch(p)
		if i%2 == 1 && host != nil && id != nil {
			all = append(all, PageID{ID: id[1], From: where, Host: strings.ToLower(host[1])})
		}
	}
	return MergePages(nil, all...)
}

// MergePages appends more to all and keeps each page of a host once, where it was found first.
func MergePages(all []PageID, more ...PageID) []PageID {
	return order.Unique(slices.Concat(all, more), func(p PageID) string { return p.Host + " " + p.ID })
}

var (
	link     = pattern.Lazy(`(?i)https?://[^\s<>"']+`)
	codeSpan = pattern.Lazy("`+[^`\n]+`+")
)

// parts splits a text into links, at the odd indexes, and the text between them.
func parts(text string) (all []string) {
	from := 0
	for _, m := range link().FindAllStringIndex(text, -1) {
		all = append(all, text[from:m[0]], text[m[0]:m[1]])
		from = m[1]
	}
	return append(all, text[from:])
}

// prose returns Markdown with HTML comments and fenced code blanked out, even unclosed ones.
// Line numbers stay the same.
func prose(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(withoutComments(text)) {
		before := fence
		if fence = fenceBehind(fence, line); before != "" || fence != "" {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// fenceBehind returns the code fence that is open after a line, given the one open before it.
func fenceBehind(fence, line string) string {
	mark := fenceOf(line)
	switch {
	case fence == "":
		return mark
	case strings.HasPrefix(mark, fence) && strings.TrimLeft(strings.TrimSpace(line), fence[:1]) == "":
		return ""
	}
	return fence
}

// fenceOf returns the three or more backticks or tildes that a line begins with, or "".
func fenceOf(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(trimmed, mark)
		if n := len(trimmed) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return strings.Repeat(mark, n)
		}
	}
	return ""
}

func withoutComments(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		comment, after, closed := strings.Cut(rest, "-->")
		b.WriteString(" " + strings.Repeat("\n", strings.Count(comment, "\n")))
		if !closed {
			return b.String()
		}
		text = after
	}
}
