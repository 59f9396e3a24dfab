package internal_test

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/org/pr-review-action/internal/"

// floors has every package with its floor, as the map in doc.go says it.
var floors = readMap()

// readMap takes a line's names, which are between the floor and two spaces; …/ is the
// folder of the name before.
func readMap() map[string]int {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		panic(err)
	}
	const margin = len("6 front     ")
	all, floor, last := map[string]int{}, "", ""
	for line := range strings.Lines(string(text)) {
		row, drawn := strings.CutPrefix(line, "//\t")
		if !drawn {
			continue
		}
		floor = cmp.Or(strings.TrimSpace(row[:1]), floor)
		names, _, _ := strings.Cut(row[margin:], "  ")
		for name := range strings.FieldsSeq(names) {
			if short, ok := strings.CutPrefix(name, "…"); ok {
				name = path.Dir(last) + short
			}
			all[name], last = strings.Index("0123456TP", floor), name
		}
	}
	return all
}

const (
	testFloor  = 7 // T in the map: packages for tests alone
	benchFloor = 8 // P: a separate program over the packages of the product
)

// beside lists who may import whom on one floor.
var beside = map[string][]string{
	"linguist":                 {"diff", "finding", "lang", "pattern"},
	"change":                   {"diff", "order", "ticket"},
	"marker":                   {"finding", "pattern"},
	"problem":                  {"guard"},
	"chunk":                    {"order"},
	"pull":                     {"pattern"},
	"decision":                 {"guard", "order", "pattern", "problem"},
	"finding":                  {"cost", "decision", "order", "wording"},
	"guard":                    {"lang", "pattern"},
	"lang":                     {"pattern"},
	"cost":                     {"pattern"},
	"diff":                     {"pattern"},
	"ticket":                   {"order", "pattern"},
	"atlassian/markup":         {"pattern"},
	"github":                   {"transport"},
	"github/write":             {"github", "transport"},
	"artifact":                 {"transport"},
	"llm":                      {"transport", "limit", "config"},
	"limit":                    {"transport"},
	"trace":                    {"llm", "transport"},
	"atlassian":                {"transport"},
	"mcpclient":                {"atlassian", "config", "process", "transport"}, // which says what its tools are called
	"agent":                    {"tool"},
	"tool":                     {"retrieve"},
	"index":                    {"tree"},
	"injection":                {"guard", "order", "pattern"},
	"secret":                   {"diff", "order", "pattern"},
	"wording":                  {"column", "cost", "guard"},
	"render/summary":           {"render"},
	"render/proposal":          {"render", "render/summary"},
	"render/terminal":          {"render", "render/proposal"},
	"checkpoint/artifactstore": {"checkpoint"},
	"handoff":                  {"checkpoint", "checkpoint/artifactstore"},
	// no fake
	"handofftest": {"checkpoint"},
	"eval":        {"eval/dataset", "eval/score", "eval/judge", "eval/oracle", "wire"},
	"evalcmd": {"driver", "eval", "eval/dataset", "eval/history", "eval/oracle", "eval/score", "settings",
		"wire"},
	"embed":                     {"transport"},
	"index/pgindex":             {"index"},
	"searchcmd":                 {"driver", "settings", "wire"},
	"choose":                    {"choose/quiet"},
	"wire":                      {"settings"},
	"driver":                    {"settings", "wire"},
	"configcmd":                 {"driver", "settings", "setup", "wire"},
	"ask":                       {"choose", "driver"},
	"setup":                     {"ask", "driver", "settings"},
	"local":                     {"ask", "driver", "settings", "wire"},
	"job":                       {"driver", "settings", "wire"},
	"eval/score":                {"eval/dataset"},
	"eval/oracle":               {"eval/dataset"},
	"eval/history":              {"eval/dataset"},
	"githubtest":                {"githubtest/fakehttp", "githubtest/memgit", "githubtest/runner"},
	"githubtest/runner":         {"githubtest/fakehttp"},
	"githubtest/demo":           {"githubtest", "githubtest/fakehttp"},
	"githubtest/cmd/fakegithub": {"githubtest", "githubtest/demo"},
	"llmtest/cmd/fakemodel":     {"llmtest"},
}

// importers lists the only packages that may import a package.
var importers = map[string][]string{
	"github/write": {"post", "apply", "driver", "job", "setup", "ticketcontext"},
	"job":          {"app"},
	"local":        {"app"},
	"choose":       {"ask"},
	"choose/quiet": {"choose"},
	"evalcmd":      {"app"},
	"configcmd":    {"app"},
	"app":          {},
}

func TestPackagesImportOnlyWhatIsBelowThem(t *testing.T) {
	t.Parallel()
	for _, i := range imports(t) {
		require.NoError(t, i.check(), i.String())
	}
}

func TestTheImportTestSeesEveryBrokenRule(t *testing.T) {
	t.Parallel()
	for _, bad := range []edge{
		{from: "diff", to: "graph"}, {from: "ingest", to: "triage"}, {from: "gate", to: "github/write"},
		{from: "flow/reviewpr", to: "app"},
		{from: "app", to: "githubtest"}, {from: "pull", to: "finding"}, {from: "unmapped", to: "diff"},
		{from: "graph", to: "diff/sub"},
		{from: "aggregate", to: "graph"}, {from: "handoff", to: "flow/reviewpr"}, {from: "handoff", to: "post"},
		{from: "checkpoint", to: "handoff"}, {from: "render", to: "render/summary"},
	} {
		require.Error(t, bad.check(), bad.String())
	}
}

func TestD3_PostAndGateCannotReachAModel(t *testing.T) {
	t.Parallel()
	all := imports(t)
	for _, name := range []string{"post", "gate"} {
		require.NotContains(t, reachable(all, name), "llm", name)
		require.NotContains(t, reachable(all, name), "review", name)
	}
	require.Contains(t, reachable(all, "review"), "llm", "the walk sees what is there")
}

// TestNothingBelowTheFlowsKnowsOne holds handoff open for a second graph.
func TestNothingBelowTheFlowsKnowsOne(t *testing.T) {
	t.Parallel()
	all := imports(t)
	for name, floor := range floors {
		if floor > floors["handoff"] {
			continue
		}
		for _, to := range reachable(all, name) {
			require.False(t, strings.HasPrefix(to, "flow/"), "%s reaches %s", name, to)
		}
	}
}

// A template calls methods by name, so a program that executes one is linked with the methods of all its types: six
// megabytes of the image.
func TestNoTemplateIsLinked(t *testing.T) {
	t.Parallel()
	for path, names := range importsOf(t) {
		name := filepath.ToSlash(path)
		if floors[name[:strings.LastIndexByte(name, '/')]] < testFloor {
			require.NotContains(t, names, "text/template", name)
			require.NotContains(t, names, "html/template", name)
		}
	}
}

func TestT16_NothingInTheImageStartsAProgram(t *testing.T) {
	t.Parallel()
	var starts []string
	for path, names := range importsOf(t) {
		name := filepath.ToSlash(path)
		linked := floors[name[:strings.LastIndexByte(name, '/')]] < testFloor
		if linked && (slices.Contains(names, "os/exec") || slices.Contains(names, "plugin")) {
			starts = append(starts, name)
		}
	}
	slices.Sort(starts)
	require.Equal(t, []string{"ingest/git.go", "ingest/objects.go", "process/command_other.go",
		"process/command_unix.go", "setup/gh.go"}, starts, "the action's modes read no clone")
	for _, name := range []string{"ingest/shell.go", "mcpclient/program.go", "process/command_other.go",
		"process/command_unix.go", "setup/gh.go"} {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Regexp(t, `^//go:build !noprograms( && .*)?\n`, string(source))
	}
	image, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(image), `-tags "nopostgres noprograms `, "the image has no code that starts one")
}

// TestOnlyTheChunkerLinksTheParser keeps its megabytes out of the tests of most packages.
func TestOnlyTheChunkerLinksTheParser(t *testing.T) {
	t.Parallel()
	for path, names := range importsOf(t) {
		for _, name := range names {
			if strings.HasPrefix(name, "github.com/odvcencio/gotreesitter") {
				require.True(t, strings.HasPrefix(filepath.ToSlash(path), "chunker/"), path)
			}
		}
	}
	all := imports(t)
	for name, floor := range floors {
		if floor < floors["wire"] && name != "chunker" {
			require.NotContains(t, reachable(all, name), "chunker", name)
		}
	}
	require.Contains(t, reachable(all, "wire"), "chunker", "the walk sees what is there")
}

type edge struct{ from, to, position string }

func (e edge) String() string { return fmt.Sprintf("%s: %s imports %s", e.position, e.from, e.to) }

func (e edge) check() error {
	from, known := floors[e.from]
	to, knownTo := floors[e.to]
	step := from == 3 && (to == 3 || e.to == "graph")
	switch {
	case !known || !knownTo:
		return fmt.Errorf("a package is not in the map of doc.go")
	case from == benchFloor && (to <= 2 || to == testFloor):
		return nil
	case from == testFloor:
		if to <= 1 || to == testFloor || slices.Contains(beside[e.from], e.to) {
			return nil
		}
		return fmt.Errorf("a fake imports what it stands in for")
	case to >= testFloor:
		return fmt.Errorf("a fake would be linked into the binary")
	case step:
		return fmt.Errorf("a step imports a step, or the graph")
	case importers[e.to] != nil && !slices.Contains(importers[e.to], e.from):
		return fmt.Errorf("%s may be imported by %v alone", e.to, importers[e.to])
	case to < from || slices.Contains(beside[e.from], e.to):
		return nil
	}
	if to == from {
		return fmt.Errorf("both are on floor %d: move one on the map of doc.go, or list the import in beside", from)
	}
	return fmt.Errorf("floor %d imports floor %d, which is above it", from, to)
}

// imports lists the imports between packages, test files left out.
func imports(t *testing.T) []edge {
	t.Helper()
	var all []edge
	for path, names := range importsOf(t) {
		for _, name := range names {
			if to, ours := strings.CutPrefix(name, module); ours {
				all = append(all, edge{filepath.ToSlash(filepath.Dir(path)), to, path})
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

// importsOf lists what every file of the packages imports, test files left out.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			path == "doc.go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			all[path] = append(all[path], name)
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

func reachable(all []edge, from string) []string {
	seen := []string{from}
	for i := 0; i < len(seen); i++ {
		for _, e := range all {
			if e.from == seen[i] && !slices.Contains(seen, e.to) {
				seen = append(seen, e.to)
			}
		}
	}
	return seen
}

func TestEveryPackageOfTheMapExists(t *testing.T) {
	t.Parallel()
	for name, floor := range floors {
		_, err := os.Stat(name)
		require.NoError(t, err)
		require.GreaterOrEqual(t, floor, 0, "%s is on no floor", name)
	}
}
