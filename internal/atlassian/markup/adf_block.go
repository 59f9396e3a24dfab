package markup

import (
	"regexp"
	"strconv"
	"strings"
)

// block is a node that stands for itself, with what is in it.
func (r *renderer) block(n node, depth int) string {
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
		return quotedUnlessEmpty(r.blocks(n, depth, "\n\n"))
	case "panel":
		return r.panel(n, depth)
	case "expand", "nestedExpand":
		return compact([]string{strongUnlessEmpty(n.attr("title")), r.blocks(n, depth, "\n\n")}, "\n\n")
	case "codeBlock":
		return r.code(n, depth)
	case "table":
		return r.table(n, depth)
	case "mediaSingle", "mediaGroup":
		return r.blocks(n, depth, "\n")
	case "media":
		return media(n)
	case "blockCard", "embedCard":
		return card(n)
	case "extension":
		return macro(n)
	}
	return r.unknown(n, depth)
}

// unknown is what stands in a node of no known kind, or its kind's name.
func (r *renderer) unknown(n node, depth int) string {
	if content, ok := n["content"].([]any); ok && len(content) > 0 {
		return r.blocks(n, depth, "\n\n")
	}
	switch kind := notInName.ReplaceAllString(n.kind(), ""); {
	case kind == "", known(n.kind()):
		return ""
	default:
		return "[unsupported: " + kind[:min(len(kind), 40)] + "]"
	}
}

// known reports whether an empty node of this kind is nothing.
func known(kind string) bool {
	switch kind {
	case "layoutSection", "layoutColumn", "bodiedExtension", "bodiedSyncBlock", "listItem", "taskItem", "blockTaskItem",
		"decisionItem", "tableRow", "tableCell", "tableHeader":
		return true
	}
	return false
}

var (
	notInName = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	language  = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,32}$`)
)

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

func (r *renderer) panel(n node, depth int) string {
	kind := n.attr("panelType")
	switch kind {
	case "info", "note", "warning", "success", "error", "tip":
	default:
		kind = "note"
	}
	text := r.blocks(n, depth, "\n\n")
	return quoted(strings.TrimRight("["+kind+"]\n"+text, "\n"))
}

func quotedUnlessEmpty(text string) string {
	if text == "" {
		return ""
	}
	return quoted(text)
}

func strongUnlessEmpty(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return "**" + text + "**"
}

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
