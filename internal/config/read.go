package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/org/pr-review-action/internal/problem"
)

// reader walks a parsed file and collects its mistakes.
type reader struct {
	file      string
	problems  []*Error
	prefix    string // name of the key being read, with a dot after it; empty at the top
	lines     Lines
	halves    map[string]half // by model, of the file and of the defaults
	locked    []string        // keys that the file cannot set
	overruled []string        // see Config.Overruled
}

// half is a price without output, and who read it where.
type half struct {
	*reader
	key ast.MapKeyNode
}

// Lines maps every key that is set, by its name in Config.Values, to its file and line.
type Lines map[string]string

// maxProblems is the most mistakes of one file that are reported.
const maxProblems = 50

// fail records a mistake at a node and returns it.
func (r *reader) fail(n ast.Node, format string, args ...any) *Error {
	e := &Error{File: r.file, Line: 1, Column: 1, What: fmt.Sprintf(format, args...)}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		e.Line, e.Column = tok.Position.Line, tok.Position.Column
	}
	r.problems = append(r.problems, e)
	return e
}

// sortedErrors returns the mistakes in the file's order. If there are more than maxProblems, the
// last one is a count of the rest.
func (r *reader) sortedErrors() []error {
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

// readKey records where a key is set and reads its value.
func (r *reader) readKey(key ast.MapKeyNode, read func()) {
	outer := r.prefix
	name := outer + keyName(key)
	r.lines[name] = fmt.Sprintf("%s:%d", r.file, key.GetToken().Position.Line)
	r.prefix = name + "."
	read()
	r.prefix = outer
}

// isLocked reports whether a key of the file is locked, and records then that it has no effect.
func (r *reader) isLocked(key ast.MapKeyNode, name string) bool {
	if !locks(r.locked, name) {
		return false
	}
	r.overruled = append(r.overruled, fmt.Sprintf("%s:%d: %s has no effect here, since the defaults lock it", r.file,
		key.GetToken().Position.Line, name))
	return true
}

// locks reports whether a key, or one above it, is in a list of locked keys.
func locks(locked []string, key string) bool {
	return slices.ContainsFunc(locked, func(l string) bool { return key == l || strings.HasPrefix(key, l+".") })
}

// mappingPairs returns the keys and values of a mapping as written, or nil for any other node.
func mappingPairs(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return slices.Clone(m.Values)
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// entries returns the keys and values of a mapping. It reports and leaves out keys that are
// not plain or that occur again.
func (r *reader) entries(n ast.Node) []*ast.MappingValueNode {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode, *ast.NullNode:
	default:
		r.fail(n, "expected keys with values, got %s", kind(n))
	}
	first := map[string]int{}
	return slices.DeleteFunc(mappingPairs(n), func(v *ast.MappingValueNode) bool {
		name := keyName(v.Key)
		switch line := first[name]; {
		case v.Key.IsMergeKey():
			r.fail(v.Key, "keys are not merged with <<; write them out")
		case v.Key.Type() == ast.MappingKeyType:
			r.fail(v.Key, "a key takes no question mark")
		case line > 0:
			r.fail(v.Key, "the key %.60q appears twice, first in line %d", name, line)
		default:
			first[name] = v.Key.GetToken().Position.Line
			return false
		}
		return true
	})
}

// keyName returns a key without its quotes.
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

// acceptedText reads a text into *into if is accepts it.
func (r *reader) acceptedText(n ast.Node, is func(ast.Node, string) bool, into *string) {
	var s string
	if r.text(n, &s) && is(n, s) {
		*into = s
	}
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

// texts reads a list of texts and returns the ones that good accepts.
func (r *reader) texts(n ast.Node, good func(ast.Node, string) bool) (all []string) {
	for _, item := range r.list(n) {
		var s string
		if r.text(item, &s) && good(item, s) {
			all = append(all, s)
		}
	}
	return all
}

// check turns a rule into a check that records what the rule finds wrong.
func (r *reader) check(wrong func(string) string) func(ast.Node, string) bool {
	return func(n ast.Node, s string) bool {
		what := wrong(s)
		if what != "" {
			r.fail(n, "%s", what)
		}
		return what == ""
	}
}

// oneOf returns a check that a text is one of the known ones.
func (r *reader) oneOf(known []string) func(ast.Node, string) bool {
	return func(n ast.Node, s string) bool {
		if slices.Contains(known, s) {
			return true
		}
		r.fail(n, "%.60q is not one of %s", s, strings.Join(known, ", ")).Hint = problem.Nearest(s, known)
		return false
	}
}

// kind describes the kind of a value, for a mistake.
func kind(n ast.Node) string {
	const quoted = ": put such text in quotes"
	kinds := map[ast.NodeType]string{
		ast.MappingType: "keys with values", ast.MappingValueType: "keys with values", ast.SequenceType: "a list",
		ast.StringType: "text", ast.LiteralType: "text", ast.BoolType: "true or false", ast.IntegerType: "a number",
		ast.FloatType: "a number", ast.NullType: "nothing", ast.AliasType: "an alias, since it begins with *" + quoted,
		ast.AnchorType:    "an anchor, since it begins with &" + quoted,
		ast.TagType:       "a tag, since it begins with !" + quoted,
		ast.DirectiveType: "a directive, since it begins with %",
	}
	return cmp.Or(kinds[n.Type()], "something else")
}
