package chunker

import (
	"cmp"
	"strings"

	ts "github.com/odvcencio/gotreesitter"

	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
)

const (
	maxName    = 120 // bytes of a name or a scope
	maxAbout   = 300 // bytes of a signature or a comment's paragraph
	nameLevels = 5   // how deep in a node names of constants and fields are looked for
)

// symbol returns a node's name, and the scope written with it. The name of a call is that
// of the called function.
func (c *cutter) symbol(n *ts.Node, r rule) (scope, name string) {
	text := func(field string) string { return c.textOf(c.field(n, field)) }
	field, innermost := strings.CutSuffix(cmp.Or(r.NameAt, "name"), "*")
	switch {
	case r.Role == open:
		return dotted.Replace(plainName(text(r.ScopeAt))), ""
	case innermost:
		return splitQualified(c.textOf(c.innermost(n, field)))
	case field == "left":
		return splitQualified(text(field))
	case field == "call":
		return "", plainName(cmp.Or(text("function"), text("method")))
	default:
		return "", plainName(text(field))
	}
}

// innermost follows a field repeatedly to the innermost node, such as a C declarator
// within pointers and parameters.
func (c *cutter) innermost(n *ts.Node, field string) *ts.Node {
	for range nameLevels * 2 {
		next := c.field(n, field)
		if next == nil {
			for i := range n.ChildCount() { // reference_declarator and the like have no field
				if strings.HasSuffix(n.Child(i).Type(c.grammar), "_declarator") {
					next = n.Child(i)
				}
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func (c *cutter) textOf(n *ts.Node) string {
	if n == nil {
		return ""
	}
	return c.text[n.StartByte():n.EndByte()]
}

// addNames records the names that constants, fields and the like in a node define.
func (c *cutter) addNames(n *ts.Node, depth int) {
	for _, r := range c.rules[n.Type(c.grammar)] {
		if r.Role == name {
			c.addFieldNames(n, r)
		}
	}
	if depth >= nameLevels {
		return
	}
	for i := range n.ChildCount() {
		if child := n.Child(i); child.IsNamed() {
			c.addNames(child, depth+1)
		}
	}
}

func (c *cutter) addFieldNames(n *ts.Node, r rule) {
	line, _ := span(n)
	note := func(name string) {
		if identifier().MatchString(name) {
			c.found = append(c.found, site{line, name})
		}
	}
	if r.NameAt != "" {
		_, name := c.symbol(n, r)
		note(name)
		return
	}
	for i := range n.ChildCount() { // there may be several
		if n.FieldNameForChild(i, c.grammar) == "name" {
			note(plainName(c.textOf(n.Child(i))))
		}
	}
}

// dotted writes the scopes of all languages with dots.
var dotted = strings.NewReplacer("::", ".", `\`, ".")

var identifier = pattern.Lazy(`^[\p{L}_$][\p{L}\p{N}_$]*[?!]?$`)

// plainName returns a name as one line, without type parameters, arguments, quotes and sigils.
func plainName(text string) string {
	if at := strings.IndexAny(text, "<[({\n"); at > 0 && !strings.HasPrefix(text, "operator") {
		text = text[:at]
	}
	return guard.CutBytes(strings.Trim(oneLine(text), `"'`+"`#@ "), maxName)
}

// splitQualified splits a name at its last double colon, or else at its last dot.
func splitQualified(text string) (scope, name string) {
	text = plainName(text)
	if at := strings.LastIndex(text, "::"); at >= 0 && !strings.HasPrefix(text, "operator") {
		return dotted.Replace(text[:at]), text[at+2:]
	}
	at := strings.LastIndexByte(text, '.')
	if at <= 0 || at == len(text)-1 {
		return "", text
	}
	if scope = text[:at]; scope == "module.exports" {
		scope = "exports"
	}
	return strings.TrimSuffix(scope, ".prototype"), text[at+1:]
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// signature returns a definition up to its body, as one line of at most maxAbout bytes.
func (c *cutter) signature(d definition) string {
	from, to := int(d.node.StartByte()), int(d.node.EndByte())
	if before := c.text[strings.LastIndexByte(c.text[:from], '\n')+1 : from]; c.language == "cpp" &&
		specifiers().MatchString(before) { // smoothCPP hid them
		from -= len(before)
	}
	body := d.inside
	for _, path := range []string{"body", "value.body", "right.body", "right.right.body", "block", "type.body",
		"arguments"} {
		if body == nil {
			body = c.field(d.node, path)
		}
	}
	if body != nil {
		to = int(body.StartByte())
	}
	return c.about(from, to)
}

// about returns a part of the text as one line of at most maxAbout bytes.
func (c *cutter) about(from, to int) string {
	return guard.CutBytes(oneLine(c.text[from:max(from, min(to, from+4*maxAbout))]), maxAbout)
}

var docstrings = pattern.Lazy(`^[rRbBuU]*(?:"""((?s:.*?))"""|'''((?s:.*?))'''|"([^"\n]*)"|'([^'\n]*)')`)

// docstring returns the string at the beginning of a Python body, without its quotes; otherwise empty.
func (c *cutter) docstring(d definition) string {
	m := docstrings().FindStringSubmatch(c.textOf(c.field(d.node, "body")))
	if c.language != "python" || m == nil {
		return ""
	}
	return cmp.Or(m[1:]...)
}

// marks matches the beginnings and ends of comments, and the tags of XML comments.
var marks = pattern.Lazy(`(?m)^\s*(?:/\*+!?|//+!?|#+|\*+/|\*)|\*+/\s*$|</?\w+[^>\n]*>`)

// doc returns the first paragraph of a docstring, or if there is none, of the comment above
// a definition. It leaves out decorators and attributes.
func doc(above, docstring string) string {
	text := strings.TrimSpace(docstring)
	if text == "" {
		var kept []string
		for line := range strings.Lines(above) {
			trimmed := strings.TrimSpace(line)
			if !strings.HasPrefix(trimmed, "@") && !strings.HasPrefix(trimmed, "#[") {
				kept = append(kept, strings.TrimSpace(marks().ReplaceAllString(line, "")))
			}
		}
		text = strings.TrimSpace(strings.Join(kept, "\n"))
	}
	paragraph, _, _ := strings.Cut(strings.ReplaceAll(text, "\r", ""), "\n\n")
	return guard.CutBytes(oneLine(paragraph), maxAbout)
}
