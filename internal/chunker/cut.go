package chunker

import (
	"slices"
	"strings"

	ts "github.com/odvcencio/gotreesitter"

	"github.com/org/pr-review-action/internal/chunk"
)

// maxDepth bounds the depth at which members are looked for; nested and wrapped may go twice as deep.
const maxDepth = 60

// smallest is the minimum number of lines of a nested definition at which a long one is cut.
const smallest = 8

// definition is a node that matches a rule.
type definition struct {
	rule
	node        *ts.Node
	inside      *ts.Node // holds its members; may be nil
	scope, name string   // its own; scope excludes the enclosing one
}

// owner is the definition whose members are being cut.
type owner struct {
	scope   string       // of its members
	piece   *chunk.Chunk // template for the lines between members; gapChunk changes it; nil at the top level
	methods bool         // functions in it are methods
}

// gapChunk returns a chunk for the lines between members, without the lines themselves. Only
// the first one of a definition carries its names and comment.
func (o owner) gapChunk() chunk.Chunk {
	if o.piece == nil {
		return chunk.Chunk{Kind: chunk.Constants, Scope: o.scope}
	}
	piece := *o.piece
	o.piece.Defines, o.piece.Doc = nil, ""
	if o.piece.Kind == chunk.Type {
		*o.piece = chunk.Chunk{Kind: chunk.Constants, Scope: o.scope}
	}
	return piece
}

// addMembers cuts the members of a node, and the lines up to end that are in no member; none if end is 0.
func (c *cutter) addMembers(n *ts.Node, o owner, end int) {
	c.descend(maxDepth, func() { c.addEachMember(n, o) })
	c.addGap(end, o)
}

// descend calls visit one level deeper, unless that is more than most.
func (c *cutter) descend(most int, visit func()) {
	if c.depth++; c.depth <= most {
		visit()
	}
	c.depth--
}

func (c *cutter) addEachMember(n *ts.Node, o owner) {
	var above comments
	for i := range n.ChildCount() {
		child := n.Child(i)
		if !child.IsNamed() {
			continue
		}
		from, to := span(child)
		d, ok := c.matchRule(child)
		switch {
		case ok && d.Role == lead:
			c.addNames(child, 0)
			above.add(from, to, d)
			continue
		case ok && d.Role == open:
			c.addScope(d, o)
		case ok:
			c.addDefinition(d, o, above.firstLineOf(from, d), to)
		default:
			c.addNames(child, 0)
		}
		above = comments{before: to}
	}
}

// comments is the range of comments, decorators and the like above a definition.
type comments struct {
	from, to int // 0 if there are none
	before   int // last line of the node before them
	overload string
}

// add adds a comment's lines. It ignores a comment that begins on a line with other code
// before it, and starts over if a comment does not directly follow the last one.
func (a *comments) add(from, to int, d definition) {
	if from == a.before {
		return
	}
	if a.from == 0 || from > a.to+1 {
		*a = comments{from: from, before: a.before}
	}
	a.to = to
	if d.Overload {
		a.overload = d.name
	}
}

// firstLineOf returns the first line of a definition, including the comments that belong to it.
func (a *comments) firstLineOf(from int, d definition) int {
	if a.from == 0 || a.to < from-1 || a.overload != "" && a.overload != d.name {
		return from
	}
	return min(a.from, from)
}

// addScope cuts the contents of a namespace or the like. Its own lines go to what surrounds
// it, or into chunks of its scope if it has one.
func (c *cutter) addScope(d definition, o owner) {
	if d.scope == "" {
		o.methods = o.methods || d.Methods
		c.addMembers(d.inside, o, 0)
		return
	}
	from, to := span(d.node)
	c.addGap(from-1, o)
	c.addMembers(d.inside, owner{scope: join(o.scope, d.scope), methods: d.Methods}, to)
}

func (c *cutter) addDefinition(d definition, o owner, from, to int) {
	from = max(from, c.next)
	if !c.startDefinition(from, to, o, d.name) {
		return
	}
	piece := c.newChunk(d, o, from)
	inner := owner{scope: join(piece.Scope, piece.Name), piece: &piece, methods: d.Role == chunk.Type}
	switch first := len(c.out); {
	case d.inside != nil:
		c.addMembers(d.inside, inner, to)
		if first < len(c.out) { // even if its members left no lines for its own chunk
			c.out[first].Define(d.name)
		}
	case to-from < maxLines:
		c.addNames(d.node, 0)
		c.add(piece, from, to)
	default:
		c.addNested(d.node, inner)
		c.addGap(to, inner)
	}
}

// addNested cuts a long definition at the definitions in it.
func (c *cutter) addNested(n *ts.Node, o owner) {
	c.descend(2*maxDepth, func() {
		for i := range n.ChildCount() {
			child := n.Child(i)
			from, to := span(child)
			if to-from+1 < smallest {
				continue
			}
			d, ok := c.matchRule(child)
			if ok && d.Role != lead && d.Role != open && d.Role != chunk.Constants {
				c.addDefinition(d, o, from, to)
				continue
			}
			c.addNested(child, o)
		}
	})
}

// newChunk returns the chunk for a definition, without its lines.
func (c *cutter) newChunk(d definition, o owner, from int) chunk.Chunk {
	first, _ := span(d.node)
	p := chunk.Chunk{Kind: d.Role, Scope: join(o.scope, d.scope), Name: d.name, Signature: c.signature(d),
		Doc: doc(c.lines(from, max(from, first)-1), c.docstring(d))}
	if d.Role == chunk.Function && (o.methods || d.scope != "" && d.NameAt != "left") {
		p.Kind = chunk.Method
	}
	if d.NameAt != "call" {
		p.Define(d.name)
	}
	return p
}

// matchRule returns what a node is according to the rules: a definition, a comment, or
// something that contains definitions. For a wrapper, it returns what is wrapped.
func (c *cutter) matchRule(n *ts.Node) (definition, bool) {
	from, to := span(n)
	for _, r := range c.rules[n.Type(c.grammar)] {
		if r.Role == name || to-from+1 < r.Min || !c.matchesField(n, r) {
			continue
		}
		if r.Role == look {
			return c.unwrap(n, r)
		}
		d := definition{rule: r, node: n, inside: c.field(n, r.In)}
		d.scope, d.name = c.symbol(n, r)
		if d.inside == nil && r.Role == open {
			d.inside = n
		}
		return d, true
	}
	return definition{}, false
}

// unwrap returns the definition in a wrapper: the last of its children that is one.
func (c *cutter) unwrap(n *ts.Node, r rule) (found definition, ok bool) {
	c.descend(2*maxDepth, func() {
		if r.Field != "" { // in x = y = function, both are names
			c.addFieldNames(n, r)
		}
		for i := range n.ChildCount() {
			if r.Field != "" && n.FieldNameForChild(i, c.grammar) != r.Field {
				continue
			}
			if d, is := c.matchRule(n.Child(i)); is && (d.Role != lead || d.Overload) {
				found, ok = d, true
			}
		}
	})
	return found, ok
}

// matchesField reports whether a node has the field, and the field the type, that a rule requires.
func (c *cutter) matchesField(n *ts.Node, r rule) bool {
	if r.Has == "" {
		return true
	}
	value := c.field(n, r.Has)
	return value != nil && (len(r.Types) == 0 || slices.Contains(r.Types, value.Type(c.grammar)))
}

// field follows a dotted path of fields. It returns nil if there is no such field or the path is empty.
func (c *cutter) field(n *ts.Node, path string) *ts.Node {
	for f := range strings.SplitSeq(path, ".") {
		if n != nil {
			n = n.ChildByFieldName(f, c.grammar)
		}
	}
	return n
}

// span returns the lines of a node, without a last line in which it has no character.
func span(n *ts.Node) (from, to int) {
	from, to = int(n.StartPoint().Row)+1, int(n.EndPoint().Row)+1
	if n.EndPoint().Column == 0 && to > from {
		to--
	}
	return from, to
}

func join(a, b string) string { return strings.Trim(a+"."+b, ".") }
