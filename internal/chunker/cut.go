package chunker

import (
	"slices"
	"strings"

	ts "github.com/odvcencio/gotreesitter"

	"github.com/org/pr-review-action/internal/chunk"
)

// maxDepth bounds how deep definitions are looked for in each other.
const maxDepth = 60

// smallest is how many lines a definition has that a longer one is cut at.
const smallest = 8

// tree is what a parser said of a text, and the rules to read it by.
type tree struct {
	rules   map[string][]rule
	grammar *ts.Language
	depth   int
}

// definition is a node that a rule calls one.
type definition struct {
	rule
	node        *ts.Node
	inside      *ts.Node // holds its members; may be nil
	scope, name string   // its own; the scope without what encloses it
}

// owner is the definition whose members are being cut.
type owner struct {
	scope   string       // of its members
	piece   *chunk.Chunk // what lines between members are, and which of it comes first; nil at the top
	methods bool         // functions in it are methods
}

// form is what a piece between members is. The first one of a definition is what
// defines it.
func (o owner) form() chunk.Chunk {
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

// members cuts what is in a node; the lines up to end that are in no member too,
// where end is not 0.
func (c *cutter) members(n *ts.Node, o owner, end int) {
	c.deeper(maxDepth, func() { c.eachMember(n, o) })
	if end > 0 {
		c.between(end, o.form)
	}
}

// deeper goes on within a node, if not too deep.
func (c *cutter) deeper(most int, visit func()) {
	if c.depth++; c.depth <= most {
		visit()
	}
	c.depth--
}

func (c *cutter) eachMember(n *ts.Node, o owner) {
	var above comments
	for i := range n.ChildCount() {
		child := n.Child(i)
		if !child.IsNamed() {
			continue
		}
		from, to := span(child)
		d, ok := c.define(child)
		switch {
		case ok && d.role == lead:
			c.names(child, 0)
			above.add(from, to, d)
			continue
		case ok && d.role == open:
			c.open(d, o)
		case ok:
			c.definition(d, o, above.top(from, d), to)
		default:
			c.names(child, 0)
		}
		above = comments{before: to}
	}
}

// comments are the lines of comments, decorators and the like above a definition.
type comments struct {
	from, to int // 0: none
	before   int // last line of the node before them
	overload string
}

// add takes a comment's lines in: of one that begins behind other code none, and of
// one that does not follow the last one only its own.
func (a *comments) add(from, to int, d definition) {
	if from == a.before {
		return
	}
	if a.from == 0 || from > a.to+1 {
		*a = comments{from: from, before: a.before}
	}
	a.to = to
	if d.overload {
		a.overload = d.name
	}
}

// top is the first line of a definition, with what goes with it.
func (a *comments) top(from int, d definition) int {
	if a.from == 0 || a.to < from-1 || a.overload != "" && a.overload != d.name {
		return from
	}
	return min(a.from, from)
}

// open cuts what a namespace or the like holds. Its own lines belong to what is
// around them.
func (c *cutter) open(d definition, o owner) {
	if d.scope == "" {
		o.methods = o.methods || d.methods
		c.members(d.inside, o, 0)
		return
	}
	from, to := span(d.node)
	c.between(from-1, o.form)
	c.members(d.inside, owner{scope: join(o.scope, d.scope), methods: d.methods}, to)
}

// definition makes chunks of a definition whose lines are these.
func (c *cutter) definition(d definition, o owner, from, to int) {
	from = max(from, c.next)
	if !c.place(from, to, o, d.name) {
		return
	}
	piece := c.piece(d, o, from)
	inner := owner{scope: join(piece.Scope, piece.Name), piece: &piece, methods: d.role == chunk.Type}
	switch first := len(c.out); {
	case d.inside != nil:
		c.members(d.inside, inner, to)
		if first < len(c.out) { // no line may have been left for a chunk of its own
			c.out[first].Define(d.name)
		}
	case to-from < maxLines:
		c.names(d.node, 0)
		c.add(piece, from, to)
	default:
		c.nested(d.node, inner)
		c.between(to, inner.form)
	}
}

// nested cuts a long definition at those in it.
func (c *cutter) nested(n *ts.Node, o owner) {
	c.deeper(2*maxDepth, func() {
		for i := range n.ChildCount() {
			child := n.Child(i)
			from, to := span(child)
			if to-from+1 < smallest {
				continue
			}
			d, ok := c.define(child)
			if ok && d.role != lead && d.role != open && d.role != chunk.Constants {
				c.definition(d, o, from, to)
				continue
			}
			c.nested(child, o)
		}
	})
}

// piece is the chunk that a definition is, without its lines.
func (c *cutter) piece(d definition, o owner, from int) chunk.Chunk {
	first, _ := span(d.node)
	p := chunk.Chunk{Kind: d.role, Scope: join(o.scope, d.scope), Name: d.name, Signature: c.signature(d),
		Doc: doc(c.lines(from, max(from, first)-1), c.docstring(d))}
	if d.role == chunk.Function && (o.methods || d.scope != "" && d.nameAt != "left") {
		p.Kind = chunk.Method
	}
	if d.nameAt != "call" {
		p.Define(d.name)
	}
	return p
}

// define says what a node is by the rules: a definition, a comment, something that
// holds definitions; wrappers are looked through.
func (c *cutter) define(n *ts.Node) (definition, bool) {
	from, to := span(n)
	for _, r := range c.rules[n.Type(c.grammar)] {
		if r.role == name || to-from+1 < r.min || !c.fits(n, r) {
			continue
		}
		if r.role == look {
			return c.wrapped(n, r)
		}
		d := definition{rule: r, node: n, inside: c.field(n, r.in)}
		d.scope, d.name = c.symbol(n, r)
		if d.inside == nil && r.role == open {
			d.inside = n
		}
		return d, true
	}
	return definition{}, false
}

// wrapped is the definition in a wrapper: that of its last child which is one.
func (c *cutter) wrapped(n *ts.Node, r rule) (found definition, ok bool) {
	c.deeper(2*maxDepth, func() {
		if r.field != "" { // of x = y = function, both are names
			c.noteNames(n, r)
		}
		for i := range n.ChildCount() {
			if r.field != "" && n.FieldNameForChild(i, c.grammar) != r.field {
				continue
			}
			if d, is := c.define(n.Child(i)); is && (d.role != lead || d.overload) {
				found, ok = d, true
			}
		}
	})
	return found, ok
}

// fits reports whether a node has the field that a rule asks for.
func (c *cutter) fits(n *ts.Node, r rule) bool {
	if r.has == "" {
		return true
	}
	value := c.field(n, r.has)
	return value != nil && (len(r.types) == 0 || slices.Contains(r.types, value.Type(c.grammar)))
}

// field follows a path of fields, with dots between; of an empty one there is none.
func (c *cutter) field(n *ts.Node, path string) *ts.Node {
	for f := range strings.SplitSeq(path, ".") {
		if n != nil {
			n = n.ChildByFieldName(f, c.grammar)
		}
	}
	return n
}

// span is the lines of a node, without a last one of which nothing is in it.
func span(n *ts.Node) (from, to int) {
	from, to = int(n.StartPoint().Row)+1, int(n.EndPoint().Row)+1
	if n.EndPoint().Column == 0 && to > from {
		to--
	}
	return from, to
}

func join(a, b string) string { return strings.Trim(a+"."+b, ".") }
