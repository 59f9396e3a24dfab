package markup

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNotADF is a value that is no document.
var ErrNotADF = errors.New("not an ADF document")

// ADF turns a document of the Atlassian Document Format into Markdown, at most
// 20,000 characters of it. null is "", and a text (REST v2) is itself, cleaned.
// Unknown nodes give what they hold. The error is ErrNotADF, or that of JSON.
func ADF(doc []byte) (string, error) {
	var root any
	if err := json.Unmarshal(doc, &root); err != nil {
		if strings.Contains(err.Error(), "max depth") {
			return "", fmt.Errorf("%w: it is nested too deep", ErrNotADF)
		}
		return "", fmt.Errorf("%w: %w", ErrNotADF, err)
	}
	return ADFValue(root)
}

// ADFValue is ADF of what JSON was decoded to already.
func ADFValue(root any) (string, error) {
	switch v := root.(type) {
	case nil:
		return "", nil
	case string:
		return capped(Clean(v), false), nil
	case map[string]any:
		if node(v).kind() == "doc" {
			r := &renderer{}
			text := r.blocks(node(v), 0, "\n\n")
			return capped(text, r.cut), nil
		}
	}
	return "", ErrNotADF
}

// node is a node of a document. What has the wrong type counts as absent.
type node map[string]any

func (n node) kind() string { s, _ := n["type"].(string); return s }

func (n node) attrs() map[string]any { m, _ := n["attrs"].(map[string]any); return m }

func (n node) attr(name string) string { s, _ := n.attrs()[name].(string); return Clean(s) }

// whole is an attribute that is a whole number; ok is false for all else.
func (n node) whole(name string) (v int, ok bool) {
	f, ok := n.attrs()[name].(float64)
	v = int(min(max(f, -1e6), 1e6))
	return v, ok && (float64(v) == f || f > 1e6)
}

// renderer writes one document.
type renderer struct {
	nodes int
	cut   bool
}

// children are the nodes below one, which stands at a depth; each is counted as it comes up.
func (r *renderer) children(n node, depth int) iter.Seq[node] {
	content, _ := n["content"].([]any)
	if depth >= maxDepth && len(content) > 0 {
		content = []any{map[string]any{"type": "text", "text": "[...]"}}
	}
	return func(yield func(node) bool) {
		for _, c := range content {
			child, ok := c.(map[string]any)
			if !ok {
				continue
			}
			if r.nodes++; r.nodes > maxNodes {
				r.cut = true
				return
			}
			if !yield(child) {
				return
			}
		}
	}
}

// inline reports whether a node stands in a line.
func (n node) inline() bool {
	switch n.kind() {
	case "text", "hardBreak", "mention", "emoji", "date", "status", "inlineCard", "inlineExtension", "placeholder",
		"mediaInline":
		return true
	}
	_, text := n["text"].(string)
	return text && n["content"] == nil
}

// blocks are what stands in a node, joined; inline nodes among them are a paragraph.
func (r *renderer) blocks(n node, depth int, between string) string {
	var all []string
	var line []node
	flush := func() {
		all = append(all, paragraph(r.line(slices.Values(line), depth+1)))
		line = nil
	}
	for child := range r.children(n, depth) {
		if child.inline() {
			line = append(line, child)
			continue
		}
		flush()
		all = append(all, r.block(child, depth+1))
	}
	flush()
	return compact(all, between)
}

// paragraph is a text whose lines end in no blanks.
func paragraph(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

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
	notInName  = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	notInMacro = regexp.MustCompile(`[^A-Za-z0-9_.:-]`)
	language   = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,32}$`)
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
		items = append(items, hanging(marker, r.blocks(child, depth+1, "\n")))
	}
	return strings.Join(items, "\n")
}

// hanging is an item whose further lines stand behind the marker's first two
// characters where more of it belongs to the text, as a task's state does.
func hanging(marker, text string) string {
	if strings.HasPrefix(marker, "- ") {
		return strings.TrimRight(marker+indented(text, "  "), " ")
	}
	return item(marker, text)
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
