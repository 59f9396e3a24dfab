package internal_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpressionsAreCompiledWhenTheyAreUsed keeps their time out of every start of the program and of its tests.
func TestExpressionsAreCompiledWhenTheyAreUsed(t *testing.T) {
	t.Parallel()
	const atStart = `(?m)^(?:var .*|\t[^\t:]*[:={] *)regexp\.MustCompile`
	require.Regexp(t, atStart, "var a = regexp.MustCompile(`b`)")
	require.Regexp(t, atStart, "\t\"go\": regexp.MustCompile(`b`),")
	for path := range importsOf(t) {
		if floors[filepath.ToSlash(filepath.Dir(path))] < testFloor {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotRegexp(t, atStart, string(source), "%s: pattern.Lazy compiles it at its first use", path)
		}
	}
}

// TestExpressionsCompile finds those that would panic at their first use.
func TestExpressionsCompile(t *testing.T) {
	t.Parallel()
	checked, unknown := 0, 0
	for room := range floors {
		for at, arg := range expressions(t, room) {
			if arg == nil || arg.Kind() != constant.String {
				unknown++
				continue
			}
			checked++
			_, err := regexp.Compile(constant.StringVal(arg))
			require.NoError(t, err, "%s", at)
		}
	}
	t.Logf("%d expressions compile; %d are put together from other packages or at run time", checked, unknown)
	require.Greater(t, checked, 10*unknown)
}

// expressions returns the constant arguments of pattern.Lazy and regexp.MustCompile in a package, by position; nil for
// those that are not constants of the package.
func expressions(t *testing.T, room string) map[string]constant.Value {
	t.Helper()
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(filepath.FromSlash(room), "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	ignored := types.Config{Importer: nothing{}, Error: func(error) {}} // a package's own constants need no imports
	_, _ = ignored.Check(room, set, files, &info)
	found := map[string]constant.Value{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			switch name := types.ExprString(call.Fun); name {
			case "pattern.Lazy", "Lazy", "regexp.MustCompile":
				found[set.Position(call.Pos()).String()] = info.Types[call.Args[0]].Value
			}
			return true
		})
	}
	return found
}

// nothing imports no package.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.ErrUnsupported }
