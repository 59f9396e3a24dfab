package internal_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the list of messages anew")

const (
	troubleshooting = "../.github/TROUBLESHOOTING.md"
	listBegins      = "<!-- messages -->\n"
	listEnds        = "<!-- end of messages -->\n"
)

// The page lists every message that rooms give to package problem, with what to do about it and an anchor.
// `go test ./internal -run TestTroubleshooting -update` writes the list anew.
func TestTroubleshootingListsEveryMessage(t *testing.T) {
	t.Parallel()
	page := read(t, troubleshooting)
	head, rest, begins := strings.Cut(page, listBegins)
	_, tail, ends := strings.Cut(rest, listEnds)
	require.True(t, begins && ends)
	list := messageList(messages(t))
	if *update {
		require.NoError(t, os.WriteFile(troubleshooting, []byte(head+listBegins+list+listEnds+tail), 0o644))
		return
	}
	const how = ": write the list anew: go test ./internal -run TestTroubleshooting -update"
	kept := strings.TrimSuffix(rest, listEnds+tail)
	for _, line := range strings.Split(list, "\n") {
		require.True(t, strings.Contains(kept, line+"\n"), "not on the page: "+line+how)
	}
	require.Equal(t, len(list), len(kept), "messages that nobody gives any more"+how)
}

// message is one of the program's, with … where a value stands.
type message struct{ kind, check, what, next string }

// messages are those of all rooms but tests'.
func messages(t *testing.T) []message {
	t.Helper()
	all := map[message]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		room := filepath.ToSlash(path)
		if err != nil || !d.IsDir() || floors[room] == testFloor || room == "problem" {
			return err
		}
		for m := range messagesOf(t, path) {
			all[m] = true
		}
		return nil
	})
	require.NoError(t, err)
	list := []message{}
	for m := range all {
		if len(regexp.MustCompile(`\pL`).FindAllString(m.what, -1)) > 8 {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b message) int { return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.next, b.next)) })
	return list
}

// messagesOf are the messages of one folder's files.
func messagesOf(t *testing.T, dir string) map[message]bool {
	t.Helper()
	var files []*ast.File
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	known := map[string]ast.Expr{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
				for i, name := range spec.Names {
					known[name.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	found, marked := map[message]bool{}, map[ast.Node]string{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			text := func(i int) string { return shown(call.Args[i], known, 0) }
			m := message{kind: marked[call]}
			switch toldBy(call) {
			case "As":
				marked[call.Args[1]] = selected(call.Args[0])
				return true
			case "New":
				m.what, m.next = text(0), text(2)
			case "Sentinel":
				m.what, m.next = text(0), text(1)
			case "Usage":
				m.kind, m.what, m.next = "Misuse", text(0), text(1)
			case "Refuse":
				m.kind, m.check, m.what, m.next = "Refused", text(0), text(1), text(2)
			default:
				return true
			}
			found[m] = true
			return true
		})
	}
	return found
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
			return verb.ReplaceAllString(strings.ReplaceAll(shown(x.Args[0], known, depth), "%%", "%"), unknown)
		}
	}
	return unknown
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9]+`)

// messageList is the page's list: a table for each exit code.
func messageList(all []message) string {
	var b strings.Builder
	taken := map[string]int{}
	for _, part := range []struct{ kind, title string }{
		{"Misuse", "Exit 2: flags, inputs, settings"}, {"Refused", "Exit 3: refused, nothing was posted"},
		{"Spent", "Exit 4: the money"}, {"", "Exit 1, and causes behind others"},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| message | what to do |\n|---|---|\n", part.title)
		for _, m := range all {
			if m.kind != part.kind && !(part.kind == "" && m.kind == "Failed") {
				continue
			}
			slug := strings.Trim(notInAnchors.ReplaceAllString(strings.ToLower(m.what), "-"), "-")
			slug = strings.Trim(slug[:min(len(slug), 60)], "-")
			if taken[slug]++; taken[slug] > 1 {
				slug += "-" + strconv.Itoa(taken[slug])
			}
			next := m.next
			if next == "…" {
				next = "" // the message itself says it
			}
			if m.check != "" && m.check != "…" {
				next = strings.TrimSpace(next + " (check " + m.check + ")")
			}
			fmt.Fprintf(&b, "| <a id=\"%s\"></a>%s | %s |\n", slug, inert(m.what), inert(next))
		}
	}
	return b.String() + "\n"
}

var inertly = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "\n", " ")

func inert(text string) string { return inertly.Replace(text) }
