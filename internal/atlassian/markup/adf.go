package markup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/pattern"
)

// ErrNotADF reports a value that is not a document.
var ErrNotADF = errors.New("not an ADF document")

// ADF converts a document of the Atlassian Document Format to Markdown, at most 20,000
// characters of it. null gives "", and a string (REST v2) itself, cleaned. Unknown nodes give
// their content. The error is ErrNotADF, with that of JSON.
func ADF(doc []byte) (string, error) {
	var root any
	if err := json.Unmarshal(doc, &root); err != nil {
		return "", fmt.Errorf("%w, or one that is nested too deep: %w", ErrNotADF, err)
	}
	switch v := root.(type) {
	case nil:
		return "", nil
	case string:
		return truncate(Clean(v), false), nil
	case map[string]any:
		if node(v).kind() == "doc" {
			r := &renderer{}
			text := r.blocks(v, 0, "\n\n")
			return truncate(text, r.cut), nil
		}
	}
	return "", ErrNotADF
}

// node is a node of a document. Values of the wrong type count as absent.
type node map[string]any

func (n node) kind() string { s, _ := n["type"].(string); return s }

func (n node) attrs() map[string]any { m, _ := n["attrs"].(map[string]any); return m }

func (n node) attr(name string) string { s, _ := n.attrs()[name].(string); return Clean(s) }

// integer returns an attribute that is a whole number, at most a million; otherwise 1.
func (n node) integer(name string) int {
	if f, ok := n.attrs()[name].(float64); ok && f == math.Trunc(f) {
		return int(min(max(f, -1e6), 1e6))
	}
	return 1
}

// renderer writes one document.
type renderer struct {
	nodes int
	cut   bool
}

// children returns the nodes below a node at a depth, and counts each as it is reached.
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

// blocks returns the content of a node, joined; consecutive inline nodes form a paragraph.
func (r *renderer) blocks(n node, depth int, between string) string {
	var all, line []string
	flush := func() {
		var text []string
		for written := range strings.SplitSeq(strings.Join(line, ""), "\n") {
			text = append(text, strings.TrimRight(written, " \t"))
		}
		all, line = append(all, strings.Trim(strings.Join(text, "\n"), "\n")), nil
	}
	for child := range r.children(n, depth) {
		if text, inline := child.inline(); inline {
			line = append(line, text)
			continue
		}
		flush()
		all = append(all, r.block(child, depth+1))
	}
	flush()
	return compact(all, between)
}

// inline returns the text of an inline node; ok is false for all others.
func (n node) inline() (text string, ok bool) {
	switch n.kind() {
	case "hardBreak":
		return "\n", true
	case "mention":
		return "@" + cmp.Or(strings.TrimLeft(n.attr("text"), "@"), "user"), true
	case "emoji":
		return cmp.Or(n.attr("text"), n.attr("shortName")), true
	case "date":
		at, err := strconv.ParseInt(n.attr("timestamp"), 10, 64)
		if day := time.UnixMilli(at).UTC(); err == nil && day.Year() > 0 && day.Year() < 10_000 {
			return day.Format(time.DateOnly), true
		}
		return "[date]", true
	case "status":
		return "[" + n.attr("text") + "]", true
	case "placeholder":
		return "", true
	case "inlineCard":
		return n.card(), true
	case "mediaInline":
		return n.media(), true
	case "inlineExtension":
		return n.macro(), true
	}
	text, ok = n["text"].(string)
	return n.withMarks(Clean(text)), n.kind() == "text" || ok && n["content"] == nil
}

var panels = []string{"info", "note", "warning", "success", "error", "tip"}

// block returns a block node with its content.
func (r *renderer) block(n node, depth int) string {
	switch n.kind() {
	case "blockCard", "embedCard":
		return n.card()
	case "media":
		return n.media()
	case "extension":
		return n.macro()
	case "rule":
		return "---"
	case "bulletList", "orderedList", "taskList", "decisionList":
		return r.list(n, depth)
	case "codeBlock":
		return r.code(n, depth)
	case "table":
		return r.table(n, depth)
	case "mediaSingle", "mediaGroup":
		return r.blocks(n, depth, "\n")
	}
	return n.wrapInner(r.blocks(n, depth, "\n\n"))
}

// wrapInner adds to the inner blocks what their node puts around them.
func (n node) wrapInner(inner string) string {
	switch n.kind() {
	case "paragraph", "caption", "layoutSection", "layoutColumn", "listItem", "taskItem", "tableRow", "tableCell":
		return inner
	case "heading":
		level := strings.Repeat("#", min(max(n.integer("level"), 1), 6)) + " "
		return strings.TrimSuffix(level+strings.Join(strings.Fields(inner), " "), level)
	case "panel":
		kind := n.attr("panelType")
		if !slices.Contains(panels, kind) {
			kind = "note"
		}
		return prefixLines(strings.TrimRight("["+kind+"]\n"+inner, "\n"), "> ", "> ")
	case "blockquote":
		if inner != "" {
			inner = prefixLines(inner, "> ", "> ")
		}
		return inner
	case "expand", "nestedExpand":
		if title := strings.TrimSpace(n.attr("title")); title != "" {
			return compact([]string{"**" + title + "**", inner}, "\n\n")
		}
		return inner
	}
	if kind := shortName(notInName(), n.kind()); kind != "" && n["content"] == nil {
		return bracketed("unsupported", kind)
	}
	return inner
}

var (
	notInName  = pattern.Lazy(`[^A-Za-z0-9_-]`)
	notInMacro = pattern.Lazy(`[^A-Za-z0-9_.:-]`)
	language   = pattern.Lazy(`^[A-Za-z0-9_+#.-]{1,32}$`)
	inCell     = strings.NewReplacer("|", `\|`, "\n", "<br>")
)

func (r *renderer) list(n node, depth int) string {
	number := n.integer("order")
	if number < 0 || number > 999_999 {
		number = 1
	}
	var items []string
	for child := range r.children(n, depth) {
		marker := "- "
		switch {
		case child.kind() == n.kind(): // a nested list of tasks
			if nested := r.block(child, depth+1); nested != "" {
				items = append(items, prefixLines(nested, "  ", "  "))
			}
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
		text, inline := child.inline() // the mark for what is too deep
		if !inline {
			text = r.blocks(child, depth+1, "\n")
		}
		items = append(items, prefixLines(text, marker, strings.Repeat(" ", strings.IndexByte(marker, ' ')+1)))
	}
	return strings.Join(items, "\n")
}

func (r *renderer) code(n node, depth int) string {
	var b strings.Builder
	for child := range r.children(n, depth) {
		text, _ := child["text"].(string)
		b.WriteString(Clean(text))
	}
	name := n.attr("language")
	if !language().MatchString(name) {
		name = ""
	}
	mark := fence(b.String(), 3)
	return mark + name + "\n" + b.String() + "\n" + mark
}

// table writes rows of cells; the first one is the header.
func (r *renderer) table(n node, depth int) string {
	var rows [][]string
	columns := 0
	for row := range r.children(n, depth) {
		var cells []string
		for cell := range r.children(row, depth+1) {
			cells = append(cells, inCell.Replace(r.blocks(cell, depth+2, "\n")))
			cells = append(cells, make([]string, min(max(cell.integer("colspan")-1, 0), maxColumns))...)
		}
		rows, columns = append(rows, cells), max(columns, min(len(cells), maxColumns))
	}
	var lines []string
	for _, row := range rows {
		line := ""
		for _, cell := range append(row, make([]string, columns)...)[:columns] {
			line += strings.TrimRight("| "+cell, " ") + " "
		}
		lines = append(lines, line+"|")
	}
	if columns == 0 {
		return ""
	}
	return strings.Join(slices.Insert(lines, 1, strings.Repeat("|---", columns)+"|"), "\n")
}

func (n node) card() string {
	data, _ := n.attrs()["data"].(map[string]any)
	inner, _ := data["url"].(string)
	for _, address := range []string{n.attr("url"), Clean(inner)} {
		if safeAddress().MatchString(address) {
			return address
		}
	}
	return "[card]"
}

func (n node) media() string {
	name := strings.Join(strings.Fields(n.attr("alt")), " ")
	if address := n.attr("url"); n.attr("type") == "external" && safeAddress().MatchString(address) {
		name = address
	}
	return bracketed("attachment", name)
}

func (n node) macro() string {
	return bracketed("macro", shortName(notInMacro(), n.attr("extensionKey")))
}

// bracketed is a placeholder for what is not text, with its name if it has one.
func bracketed(what, name string) string { return strings.TrimSuffix("["+what+": "+name, ": ") + "]" }

// shortName returns the beginning of a name, without the characters that match not.
func shortName(not *regexp.Regexp, name string) string {
	name = not.ReplaceAllString(name, "")
	return name[:min(len(name), 40)]
}

// withMarks puts a node's marks around its text. Blanks at its ends stay outside.
func (n node) withMarks(text string) string {
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
		href = cmp.Or(node(mark).attr("href"), href)
	}
	for _, m := range []struct{ kind, mark string }{{"strong", "**"}, {"em", "*"}, {"strike", "~~"}} {
		if has[m.kind] && !has["code"] {
			inner = m.mark + inner + m.mark
		}
	}
	if has["code"] {
		inner = codeSpan(inner)
	}
	if safeAddress().MatchString(href) {
		inner = "[" + inner + "](" + href + ")"
	}
	return before + inner + after
}
