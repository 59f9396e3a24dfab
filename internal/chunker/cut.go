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
	node   *ts.Node
	inside *ts.Node // holds its members; may be nil
	symbol          // its own name; the scope without what encloses it
}

// symbol is a name and its scope.
type symbol struct{ scope, name string }

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
	if c.depth++; c.depth <= maxDepth {
		c.eachMember(n, o)
	}
	c.depth--
	if end > 0 {
		c.between(end, o.form)
	}
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
	inner := owner{scope: o.scope, piece: o.piece, methods: o.methods || d.methods}
	if d.scope != "" {
		inner = owner{scope: join(o.scope, d.scope), methods: d.methods}
		from, to := span(d.node)
		c.between(from-1, o.form)
		c.members(d.inside, inner, to)
		return
	}
	c.members(d.inside, inner, 0)
}

// definition makes chunks of a definition whose lines are these.
func (c *cutter) definition(d definition, o owner, from, to int) {
	if from = max(from, c.next); from > to { // it begins and ends in the last chunk's last line
		if last := len(c.out) - 1; last >= 0 && d.name != "" {
			c.out[last].Defines = append(c.out[last].Defines, d.name)
		}
		return
	}
	c.between(from-1, o.form)
	piece := c.piece(d, o, from)
	inner := owner{scope: join(piece.Scope, piece.Name), piece: &piece, methods: d.kind() == chunk.Type}
	switch first := len(c.out); {
	case d.holds() && d.inside != nil:
		c.members(d.inside, inner, to)
		c.named(d, first)
	case to-from < maxLines:
		c.names(d.node, 0)
		c.add(piece, from, to)
	default:
		c.nested(d.node, inner)
		c.between(to, inner.form)
	}
}

// named has the first chunk of a definition define it, where no line was left for a
// chunk of its own.
func (c *cutter) named(d definition, first int) {
	if first < len(c.out) && d.name != "" && !slices.Contains(c.out[first].Defines, d.name) {
		c.out[first].Defines = append(c.out[first].Defines, d.name)
	}
}

// nested cuts a long definition at those in it.
func (c *cutter) nested(n *ts.Node, o owner) {
	if c.depth++; c.depth > 2*maxDepth {
		c.depth--
		return
	}
	defer func() { c.depth-- }()
	for i := range n.ChildCount() {
		child := n.Child(i)
		from, to := span(child)
		if to-from+1 < smallest {
			continue
		}
		d, ok := c.define(child)
		if ok && d.role != lead && d.role != open && d.role != role(chunk.Constants) {
			c.definition(d, o, from, to)
			continue
		}
		c.nested(child, o)
	}
}

// piece is the chunk that a definition is, without its lines.
func (c *cutter) piece(d definition, o owner, from int) chunk.Chunk {
	at := symbol{join(o.scope, d.scope), d.name}
	kind := d.kind()
	if kind == chunk.Function && (o.methods || d.scope != "" && d.nameAt != "left") {
		kind = chunk.Method
	}
	first, _ := span(d.node)
	p := chunk.Chunk{Kind: kind, Scope: at.scope, Name: at.name, Signature: c.signature(d),
		Doc: doc(c.lines(from, max(from, first-1)), first > from, c.docstring(d))}
	if d.name != "" && d.node.Type(c.grammar) != "call_expression" && d.node.Type(c.grammar) != "call" {
		p.Defines = []string{d.name}
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
		d := definition{rule: r, node: n, symbol: c.symbol(n, r)}
		d.inside = c.field(n, r.in)
		if d.inside == nil && r.role == open {
			d.inside = n
		}
		return d, true
	}
	return definition{}, false
}

// wrapped is the definition in a wrapper: that of its last child which is one.
func (c *cutter) wrapped(n *ts.Node, r rule) (found definition, ok bool) {
	if c.depth++; c.depth > 2*maxDepth {
		c.depth--
		return found, false
	}
	defer func() { c.depth-- }()
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
	return found, ok
}

// fits reports whether a node has the field that a rule asks for.
func (c *cutter) fits(n *ts.Node, r rule) bool {
	if r.has == "" {
		return true
	}
	value := n.ChildByFieldName(r.has, c.grammar)
	return value != nil && (r.types == nil || slices.Contains(r.types, value.Type(c.grammar)))
}

// field follows a path of fields.
func (c *cutter) field(n *ts.Node, path []string) *ts.Node {
	for _, f := range path {
		if n == nil {
			return nil
		}
		n = n.ChildByFieldName(f, c.grammar)
	}
	if len(path) == 0 {
		return nil
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
