package markup

import (
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// line is what stands in a line.
func (r *renderer) line(nodes iter.Seq[node], depth int) string {
	var b strings.Builder
	for n := range nodes {
		b.WriteString(r.one(n, depth))
	}
	return b.String()
}

func (r *renderer) one(n node, depth int) string {
	switch n.kind() {
	case "hardBreak":
		return "\n"
	case "mention":
		if name := strings.TrimLeft(n.attr("text"), "@"); name != "" {
			return "@" + name
		}
		return "@user"
	case "emoji":
		if text := n.attr("text"); text != "" {
			return text
		}
		return n.attr("shortName")
	case "date":
		return date(n)
	case "status":
		return "[" + n.attr("text") + "]"
	case "placeholder":
		return ""
	case "inlineCard", "blockCard", "embedCard":
		return card(n)
	case "media", "mediaInline":
		return media(n)
	case "extension", "inlineExtension":
		return macro(n)
	}
	if text, ok := n["text"].(string); ok {
		return marked(Clean(text), n)
	}
	if n.kind() == "text" {
		return ""
	}
	if _, ok := n["content"].([]any); ok {
		return r.line(r.children(n, depth), depth+1)
	}
	return r.unknown(n, depth)
}

func date(n node) string {
	at, err := strconv.ParseInt(n.attr("timestamp"), 10, 64)
	if day := time.UnixMilli(at).UTC(); err == nil && day.Year() > 0 && day.Year() < 10_000 {
		return day.Format(time.DateOnly)
	}
	return "[date]"
}

func card(n node) string {
	data, _ := n.attrs()["data"].(map[string]any)
	inner, _ := data["url"].(string)
	for _, address := range []string{n.attr("url"), Clean(inner)} {
		if safeLink(address) {
			return address
		}
	}
	return "[card]"
}

func media(n node) string {
	if address := n.attr("url"); n.attr("type") == "external" && safeLink(address) {
		return "[attachment: " + address + "]"
	}
	if alt := strings.Join(strings.Fields(n.attr("alt")), " "); alt != "" {
		return "[attachment: " + alt + "]"
	}
	return "[attachment]"
}

var notInMacro = regexp.MustCompile(`[^A-Za-z0-9_.:-]`)

func macro(n node) string {
	key := notInMacro.ReplaceAllString(n.attr("extensionKey"), "")
	if key == "" {
		return "[macro]"
	}
	return "[macro: " + key[:min(len(key), 40)] + "]"
}

// marked puts a text between its marks. Blanks at its ends stay outside.
func marked(text string, n node) string {
	marks, _ := n["marks"].([]any)
	inner := strings.Trim(text, " \t\n")
	if len(marks) == 0 || inner == "" {
		return text
	}
	before, after, _ := strings.Cut(text, inner)
	has, href := map[string]bool{}, ""
	for _, m := range marks {
		mark, _ := m.(map[string]any)
		has[node(mark).kind()] = true
		if node(mark).kind() == "link" {
			href = node(mark).attr("href")
		}
	}
	if has["code"] {
		inner = span(inner)
	} else {
		for _, m := range []struct{ kind, mark string }{{"strong", "**"}, {"em", "*"}, {"strike", "~~"}} {
			if has[m.kind] {
				inner = m.mark + inner + m.mark
			}
		}
	}
	if safeLink(href) {
		inner = "[" + inner + "](" + href + ")"
	}
	return before + inner + after
}
