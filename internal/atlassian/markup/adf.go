package markup

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
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

// inline reports whether a node stands in a line.
func (n node) inline() bool {
	_, text := n["text"].(string)
	return n.kind() == "text" || inLine[n.kind()] != nil || text && n["content"] == nil
}

// paragraph is a text whose lines end in no blanks.
func paragraph(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
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
	text, written := n["text"].(string)
	_, holds := n["content"].([]any)
	switch {
	case inLine[n.kind()] != nil:
		return inLine[n.kind()](n)
	case alone[n.kind()] != nil:
		return alone[n.kind()](n)
	case written:
		return marked(Clean(text), n)
	case n.kind() == "text":
		return ""
	case holds:
		return r.line(r.children(n, depth), depth+1)
	}
	return unknown(n)
}

// unknown is the name of a node that holds nothing and is of no known kind.
func unknown(n node) string {
	kind := notInName.ReplaceAllString(n.kind(), "")
	if kind == "" || slices.Contains(holders, n.kind()) {
		return ""
	}
	return "[unsupported: " + kind[:min(len(kind), 40)] + "]"
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]`)
