package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml/ast"
)

// reader walks a parsed file and collects what is wrong with it.
type reader struct {
	file     string
	problems []error
}

func (r *reader) fail(n ast.Node, format string, args ...any) *Error {
	e := &Error{File: r.file, Line: 1, Column: 1, What: fmt.Sprintf(format, args...)}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		e.Line, e.Column = tok.Position.Line, tok.Position.Column
	}
	r.problems = append(r.problems, e)
	return e
}

// mapping reads the values of known keys and returns the keys that were there.
func (r *reader) mapping(n ast.Node, known keys) (seen []string) {
	for _, v := range r.entries(n) {
		name := keyName(v.Key)
		read, ok := known[name]
		if !ok {
			e := r.fail(v.Key, "unknown key %q", name)
			e.Hint = Nearest(name, sortedNames(known))
			continue
		}
		seen = append(seen, name)
		read(r, v.Value)
	}
	return seen
}

func (r *reader) entries(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	case *ast.NullNode:
		return nil
	}
	r.fail(n, "expected keys with values, got %s", kind(n))
	return nil
}

// keyName is a key without its quotes.
func keyName(key ast.MapKeyNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	return key.String()
}

func (r *reader) text(n ast.Node, into *string) bool {
	switch s := n.(type) {
	case *ast.StringNode:
		*into = s.Value
		return true
	case *ast.LiteralNode:
		*into = s.Value.Value
		return true
	}
	r.fail(n, "expected text, got %s", kind(n))
	return false
}

func (r *reader) boolean(n ast.Node, into *bool) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.fail(n, "expected true or false, got %s", kind(n))
		return
	}
	*into = b.Value
}

func (r *reader) policy(n ast.Node, into *Policy) {
	var s string
	if !r.text(n, &s) {
		return
	}
	if p := Policy(s); p != Skip && p != Review {
		r.fail(n, "%q is none of skip, review", s)
		return
	}
	*into = Policy(s)
}

func (r *reader) list(n ast.Node) []ast.Node {
	switch s := n.(type) {
	case *ast.SequenceNode:
		return s.Values
	case *ast.NullNode:
		return nil
	}
	r.fail(n, "expected a list, got %s", kind(n))
	return nil
}

func (r *reader) globs(n ast.Node) []string {
	var globs []string
	for _, item := range r.list(n) {
		var glob string
		if !r.text(item, &glob) {
			continue
		}
		if glob == "" || !doublestar.ValidatePattern(glob) {
			r.fail(item, "%q is not a glob", glob)
			continue
		}
		globs = append(globs, glob)
	}
	return globs
}

func (r *reader) associations(n ast.Node) []string {
	items := []ast.Node{n}
	if s, single := n.(*ast.StringNode); !single || s == nil {
		items = r.list(n)
	}
	var names []string
	for _, item := range items {
		var name string
		if !r.text(item, &name) {
			continue
		}
		name = strings.ToLower(name)
		if !slices.Contains(Associations(), name) {
			e := r.fail(item, "%q is none of %s", name, strings.Join(Associations(), ", "))
			e.Hint = Nearest(name, Associations())
			continue
		}
		names = append(names, name)
	}
	return names
}

func sortedNames(known keys) []string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys with values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.NullNode:
		return "nothing"
	}
	return "something else"
}
