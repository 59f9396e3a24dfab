package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/org/pr-review-action/internal/problem"
)

// reader walks a parsed file and collects what is wrong with it.
type reader struct {
	file     string
	problems []*Error
	under    string // the name of the key whose value is read, with a dot; empty at the top
	lines    Lines
	halves   map[string]half // by model; of the file and of the defaults below

	defaults  Config   // that are below
	overruled []string // in words
}

// maxProblems is how many mistakes of one file are reported.
const maxProblems = 50

// fail notes a mistake at a node.
func (r *reader) fail(n ast.Node, format string, args ...any) *Error {
	e := &Error{File: r.file, Line: 1, Column: 1, What: fmt.Sprintf(format, args...)}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		e.Line, e.Column = tok.Position.Line, tok.Position.Column
	}
	r.problems = append(r.problems, e)
	return e
}

// all are the mistakes in the file's order, the last of them a count where there
// were more than are reported.
func (r *reader) all() []error {
	slices.SortStableFunc(r.problems, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(r.problems) - maxProblems; more > 0 {
		r.problems = r.problems[:maxProblems+1]
		r.problems[maxProblems].What, r.problems[maxProblems].Hint = fmt.Sprintf("from here on there are %d more "+
			"mistakes", more), ""
	}
	errs := make([]error, len(r.problems))
	for i, p := range r.problems {
		errs[i] = p
	}
	return errs
}

// mapping reads the values of known keys and returns the keys that were there.
func (r *reader) mapping(n ast.Node, known keys) (seen []string) {
	for _, v := range r.entries(n) {
		name := keyName(v.Key)
		at := slices.IndexFunc(known, func(k key) bool { return k.name == name })
		if at < 0 {
			r.fail(v.Key, "unknown key %.60q", name).Hint = problem.Nearest(name, known.names())
			continue
		}
		seen = append(seen, name)
		if r.overrules(v.Key, r.under+name) {
			continue
		}
		r.inside(v.Key, func() { known[at].read(r, v.Value) })
	}
	return seen
}

// inside notes where a key stood and reads its value.
func (r *reader) inside(key ast.MapKeyNode, read func()) {
	outer := r.under
	name := outer + keyName(key)
	r.lines[name] = fmt.Sprintf("%s:%d", r.file, key.GetToken().Position.Line)
	r.under = name + "."
	read()
	r.under = outer
}

// entries are the keys and values of a mapping, without those that are no plain
// key or stand a second time.
func (r *reader) entries(n ast.Node) []*ast.MappingValueNode {
	var all []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		all = slices.Clone(m.Values)
	case *ast.MappingValueNode:
		all = append(all, m)
	case *ast.NullNode:
	default:
		r.fail(n, "expected keys with values, got %s", kind(n))
	}
	first := map[string]int{}
	return slices.DeleteFunc(all, func(v *ast.MappingValueNode) bool {
		name := keyName(v.Key)
		switch line := first[name]; {
		case v.Key.IsMergeKey():
			r.fail(v.Key, "keys are not merged with <<; write them out")
		case v.Key.Type() == ast.MappingKeyType:
			r.fail(v.Key, "a key stands without a question mark")
		case line > 0:
			r.fail(v.Key, "the key %.60q stands twice, first in line %d", name, line)
		default:
			first[name] = v.Key.GetToken().Position.Line
			return false
		}
		return true
	})
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

// texts reads a list of texts, those that are good.
func (r *reader) texts(n ast.Node, good func(ast.Node, string) bool) (all []string) {
	for _, item := range r.list(n) {
		var s string
		if r.text(item, &s) && good(item, s) {
			all = append(all, s)
		}
	}
	return all
}

// by is good where a rule says of a text that nothing is wrong; else that is its mistake.
func (r *reader) by(wrong func(string) string) func(ast.Node, string) bool {
	return func(n ast.Node, s string) bool {
		what := wrong(s)
		if what != "" {
			r.fail(n, "%s", what)
		}
		return what == ""
	}
}

// among is good where a text is one of those that are known.
func (r *reader) among(known []string) func(ast.Node, string) bool {
	return func(n ast.Node, s string) bool {
		if slices.Contains(known, s) {
			return true
		}
		r.fail(n, "%.60q is none of %s", s, strings.Join(known, ", ")).Hint = problem.Nearest(s, known)
		return false
	}
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
	case *ast.AliasNode:
		return "an alias, since it begins with *: text that does stands in quotes"
	case *ast.AnchorNode:
		return "an anchor, since it begins with &: text that does stands in quotes"
	case *ast.TagNode:
		return "a tag, since it begins with !: text that does stands in quotes"
	case *ast.DirectiveNode:
		return "a directive, since it begins with %"
	}
	return "something else"
}

// Lines has the file and line of every key that is set, by the names of Config.Values.
type Lines map[string]string
