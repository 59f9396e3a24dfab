package markup

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// holders are kinds that are nothing but what they hold.
var holders = []string{"layoutSection", "layoutColumn", "bodiedExtension", "bodiedSyncBlock", "listItem", "taskItem",
	"blockTaskItem", "decisionItem", "tableRow", "tableCell", "tableHeader"}

// inLine writes the kinds that stand in a line, alone those that are no text and stand in a
// line or for themselves.
var (
	inLine = map[string]func(node) string{
		"hardBreak":       func(node) string { return "\n" },
		"mention":         func(n node) string { return "@" + cmp.Or(strings.TrimLeft(n.attr("text"), "@"), "user") },
		"emoji":           func(n node) string { return cmp.Or(n.attr("text"), n.attr("shortName")) },
		"date":            date,
		"status":          func(n node) string { return "[" + n.attr("text") + "]" },
		"placeholder":     func(node) string { return "" },
		"inlineCard":      card,
		"mediaInline":     media,
		"inlineExtension": macro,
	}
	alone = map[string]func(node) string{"blockCard": card, "embedCard": card, "media": media, "extension": macro}
)

// block is a node that stands for itself, with what is in it.
func (r *renderer) block(n node, depth int) string {
	if write := alone[n.kind()]; write != nil {
		return write(n)
	}
	switch n.kind() {
	case "paragraph", "caption":
		return paragraph(r.line(r.children(n, depth), depth+1))
	case "heading":
		return r.heading(n, depth)
	case "rule":
		return "---"
	case "bulletList", "orderedList", "taskList", "decisionList":
		return r.list(n, depth)
	case "blockquote":
		return quoted(r.blocks(n, depth, "\n\n"))
	case "panel":
		kind := n.attr("panelType")
		if !slices.Contains([]string{"info", "note", "warning", "success", "error", "tip"}, kind) {
			kind = "note"
		}
		return quoted(strings.TrimRight("["+kind+"]\n"+r.blocks(n, depth, "\n\n"), "\n"))
	case "expand", "nestedExpand":
		title := strings.TrimSpace(n.attr("title"))
		if title != "" {
			title = "**" + title + "**"
		}
		return compact([]string{title, r.blocks(n, depth, "\n\n")}, "\n\n")
	case "codeBlock":
		return r.code(n, depth)
	case "table":
		return r.table(n, depth)
	case "mediaSingle", "mediaGroup":
		return r.blocks(n, depth, "\n")
	}
	if content, ok := n["content"].([]any); ok && len(content) > 0 {
		return r.blocks(n, depth, "\n\n")
	}
	return unknown(n)
}

func (r *renderer) heading(n node, depth int) string {
	level, ok := n.whole("level")
	if !ok {
		level = 1
	}
	text := strings.Join(strings.Fields(r.line(r.children(n, depth), depth+1)), " ")
	if text == "" {
		return ""
	}
	return strings.Repeat("#", min(max(level, 1), 6)) + " " + text
}

func (r *renderer) list(n node, depth int) string {
	number, ok := n.whole("order")
	if !ok || number < 0 || number > 999_999 {
		number = 1
	}
	var items []string
	for child := range r.children(n, depth) {
		marker := "- "
		switch {
		case child.kind() == n.kind(): // a list of tasks below one
			if nested := r.block(child, depth+1); nested != "" {
				items = append(items, "  "+indented(nested, "  "))
			}
			continue
		case child.inline(): // the mark of what is too deep
			items = append(items, item(marker, r.one(child, depth+1)))
			continue
		case n.kind() == "orderedList":
			marker = strconv.Itoa(number) + ". "
			number++
		case n.kind() == "taskList" && child.attr("state") == "DONE":
			marker = "- [x] "
		case n.kind() == "taskList":
			marker = "- [ ] "
		case n.kind() == "decisionList":
			marker = "- Decision: "
		}
		items = append(items, item(marker, r.blocks(child, depth+1, "\n")))
	}
	return strings.Join(items, "\n")
}

var language = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,32}$`)

func (r *renderer) code(n node, depth int) string {
	var b strings.Builder
	for child := range r.children(n, depth) {
		text, _ := child["text"].(string)
		b.WriteString(Clean(text))
	}
	name := n.attr("language")
	if !language.MatchString(name) {
		name = ""
	}
	return fenced(b.String(), name)
}

func (r *renderer) table(n node, depth int) string {
	var rows [][]string
	for row := range r.children(n, depth) {
		var cells []string
		for cell := range r.children(row, depth+1) {
			cells = append(cells, r.blocks(cell, depth+2, "\n"))
			if span, ok := cell.whole("colspan"); ok {
				cells = append(cells, make([]string, min(max(span-1, 0), maxColumns))...)
			}
		}
		rows = append(rows, cells)
	}
	return table(rows)
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
