package internal_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// messages are those of all packages but tests', in the order of their texts.
func messages(t *testing.T) (list []message) {
	t.Helper()
	all, letters := map[message]bool{}, regexp.MustCompile(`\pL`)
	var sources []*source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if room := filepath.ToSlash(path); err == nil && d.IsDir() && floors[room] != testFloor && room != "problem" {
			sources = append(sources, readSource(t, path))
		}
		return err
	})
	require.NoError(t, err)
	exported := map[string]*maker{}
	for _, s := range sources {
		maps.Copy(exported, s.makers)
	}
	tell := func(m message) {
		if len(letters.FindAllString(m.what, -1)) > 8 {
			all[m] = true
		}
	}
	for _, s := range sources {
		s.messages(exported, tell)
	}
	for _, s := range sources {
		for _, m := range s.makers {
			if !m.used {
				tell(messageOf(m.call, m.kind, m.known))
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b message) int {
		return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.next, b.next),
			cmp.Compare(a.kind+a.check, b.kind+b.check))
	})
}

// source is a folder's code: its functions, the values of its names, and those of its functions that make a
// message of their arguments.
type source struct {
	dir    string
	decls  []ast.Decl
	known  map[string]ast.Expr
	makers map[string]*maker
}

// maker makes the message of a call, whose texts have the parameters in them.
type maker struct {
	params []string
	call   *ast.CallExpr
	kind   string
	known  map[string]ast.Expr
	used   bool
}

func readSource(t *testing.T, dir string) *source {
	t.Helper()
	s := &source{dir, nil, map[string]ast.Expr{}, map[string]*maker{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		s.decls = append(s.decls, file.Decls...)
		for _, d := range file.Decls {
			if _, ok := d.(*ast.GenDecl); ok {
				note(s.known, d)
			}
		}
	}
	for _, d := range s.decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			s.noteMaker(f)
		}
	}
	return s
}

// note keeps the values of names that are in a node, and forgets those of names that have another there.
func note(known map[string]ast.Expr, in ast.Node) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if delete(known, name.Name); len(n.Names) == len(n.Values) {
					known[name.Name] = n.Values[i]
				}
			}
		case *ast.Field:
			for _, name := range n.Names {
				delete(known, name.Name)
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				delete(known, selected(to))
			}
		}
		return true
	})
}

// within has the values of names as they are in a declaration.
func (s *source) within(d ast.Decl) map[string]ast.Expr {
	known := maps.Clone(s.known)
	if f, ok := d.(*ast.FuncDecl); ok {
		note(known, f)
	}
	return known
}

// noteMaker keeps a function that hands its own parameter on as a message's text.
func (s *source) noteMaker(f *ast.FuncDecl) {
	m := &maker{known: s.within(f)}
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			m.params = append(m.params, name.Name)
		}
	}
	marked := map[ast.Node]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && toldBy(call) == "As" {
			marked[call.Args[1]] = selected(call.Args[0])
		}
		if !ok || texts[toldBy(call)] == nil {
			return true
		}
		ast.Inspect(call.Args[texts[toldBy(call)][0]], func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && slices.Contains(m.params, id.Name) {
				m.call, m.kind, s.makers[f.Name.Name] = call, marked[call], m
			}
			return true
		})
		return true
	})
}

// texts are where the functions of package problem have what was wrong, and what to do next.
var texts = map[string][]int{"New": {0, 2}, "Sentinel": {0, 1}, "Usage": {0, 1}, "Refuse": {1, 2}}

// messages tells every message that the source makes.
func (s *source) messages(exported map[string]*maker, tell func(message)) {
	marked, made := map[ast.Node]string{}, map[ast.Node]bool{}
	for _, m := range s.makers {
		made[m.call] = true
	}
	for _, d := range s.decls {
		known := s.within(d)
		ast.Inspect(d, func(n ast.Node) bool {
			if literal, ok := n.(*ast.CompositeLit); ok && selected(literal.Type) == "Error" {
				if m := literalMessage(literal, known); m.what != "" {
					tell(m)
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || made[call] {
				return true
			}
			name := selected(call.Fun)
			m := s.makers[name]
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && m == nil && ast.IsExported(name) &&
				selected(f.X) != "problem" {
				m = exported[name]
			}
			switch {
			case toldBy(call) == "As":
				marked[call.Args[1]] = selected(call.Args[0])
			case toldBy(call) != "" && texts[name] != nil:
				tell(messageOf(call, marked[call], known))
			case m != nil && len(call.Args) >= len(m.params)-1:
				m.used = true
				made := maps.Clone(m.known)
				for i, param := range m.params[:min(len(m.params), len(call.Args))] {
					made[param] = &ast.BasicLit{Value: strconv.Quote(shown(call.Args[i], known, 0))}
				}
				tell(messageOf(m.call, cmp.Or(marked[call], m.kind), made))
			case s.dir == "config" && name == "fail" && len(call.Args) > 1: // a mistake in the settings file
				tell(message{kind: "Misuse", what: "FILE:LINE:COLUMN: " + filled(shown(call.Args[1], known, 0))})
			case s.dir == "config" && name == "mistake": // a rule's, which fail puts there
				tell(message{kind: "Misuse", what: "FILE:LINE:COLUMN: " + filled(shown(call.Args[0], known, 0))})
			}
			return true
		})
	}
}

// literalMessage is the message of a problem.Error that is written out.
func literalMessage(x *ast.CompositeLit, known map[string]ast.Expr) (m message) {
	for _, e := range x.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		switch {
		case ok && selected(field.Key) == "What":
			m.what = shown(field.Value, known, 0)
		case ok && selected(field.Key) == "Kind":
			m.kind = selected(field.Value)
		}
	}
	return m
}

// messageOf is the message of a call of package problem.
func messageOf(call *ast.CallExpr, kind string, known map[string]ast.Expr) message {
	name := toldBy(call)
	at := texts[name]
	m := message{kind: kind, what: shown(call.Args[at[0]], known, 0), next: shown(call.Args[at[1]], known, 0)}
	switch name {
	case "Usage":
		m.kind = "Misuse"
	case "Refuse":
		m.kind, m.check = "Refused", shown(call.Args[0], known, 0)
	}
	return m
}

// toldBy is the function of package problem that a call names, or empty.
func toldBy(call *ast.CallExpr) string {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok && selected(s.X) == "problem" {
		return s.Sel.Name
	}
	return ""
}

func selected(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}

var verb = regexp.MustCompile(`%[-+#0-9.\[\]]*[a-zA-Z]`)

// filled is a format with … for its values.
func filled(format string) string {
	return verb.ReplaceAllString(strings.ReplaceAll(format, "%%", "%"), "…")
}

// shown is a text as a reader sees it, with … for what is known at run time alone.
func shown(x ast.Expr, known map[string]ast.Expr, depth int) string {
	const unknown = "…"
	switch x := x.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil {
			return text
		}
		return x.Value
	case *ast.BinaryExpr:
		return strings.ReplaceAll(shown(x.X, known, depth)+shown(x.Y, known, depth), "……", unknown)
	case *ast.ParenExpr:
		return shown(x.X, known, depth)
	case *ast.Ident:
		if value, ok := known[x.Name]; ok && depth < 3 {
			return shown(value, known, depth+1)
		}
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return filled(shown(x.Args[0], known, depth))
		}
	}
	return unknown
}
