package dataset_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
)

// problems reads files and gives what is wrong with them, without their folder.
func problems(t *testing.T, dir string, files ...string) []string {
	t.Helper()
	cases, err := dataset.Read(files...)
	var all dataset.Problems
	require.ErrorAs(t, err, &all)
	require.Empty(t, cases, "no case before all are right")
	require.Len(t, strings.Split(err.Error(), "\n"), len(all), "one line each")
	return strings.Split(strings.ReplaceAll(err.Error(), dir+"/", ""), "\n")
}

// TestEachProblemIsNamed breaks one thing of a case each.
func TestEachProblemIsNamed(t *testing.T) {
	t.Parallel()
	one := func(changes ...any) object { return valid("c", "golden", []object{with(golden(), changes...)}) }
	place := func(path string, start, end int) object {
		return object{"path": path, "line_start": start, "line_end": end}
	}
	for want, c := range map[string]object{
		`c: unknown key "golde"`: valid("c",
			"golde", 1),
		`c: unknown key "Kind"`: valid("c",
			"Kind", "bug"),
		`c: unknown key "golden/0/severitie"`: one("severitie",
			"major"),
		`c: unknown key "golden/0/also/0/line"`: one("also",
			[]object{with(place("queue.go", 10, 10), "line", 1)}),
		`c: "golden/0/line_start" has a value of the wrong type`: one("line_start",
			"11"),
		`c: "pr" has a value of the wrong type`: valid("c", "pr",
			1.5),
		`-: id is missing`: valid(""),
		`c: language is missing`: valid("c",
			"language", " "),
		`c: title is missing`: valid("c",
			"title", nil),
		`c: kind "" is neither bug nor clean`: valid("c",
			"kind", nil),
		`c: kind "buggy" is neither bug nor clean`: valid("c",
			"kind", "buggy"),
		`c: golden is missing; a clean case has an empty list`: valid("c",
			"kind", "clean", "golden", nil),
		`c: kind is bug, but golden is empty`: valid("c",
			"golden", []object{}),
		`c: kind is clean, but golden has findings`: valid("c",
			"kind", "clean"),
		`c: neither diff nor diff_file is given`: valid("c",
			"diff", nil),
		`c: both diff and diff_file are given; give one`: valid("c",
			"diff_file", "a.diff"),
		`c: diff: line 1: not a unified diff`: valid("c",
			"diff", "all fine\n"),
		`c: diff: it contains no changed file`: valid("c",
			"diff", "\n"),
		`c: diff: diff is too large: more than 1048576 bytes`: valid("c",
			"diff", change+strings.Repeat("\n", dataset.MaxDiff)),
		`c: golden[0]: severity "Major" is not one of critical, major, minor, nit`: one("severity",
			"Major"),
		`c: golden[0]: visibility "" is neither local nor context`: one("visibility",
			nil),
		`c: golden[0]: issue is missing`: one("issue",
			"\n"),
		`c: golden[0]: lines 0 to 0 are not a range of lines, counted from 1`: one("line_start",
			nil, "line_end", nil),
		`c: golden[0]: lines 12 to 11 are not a range of lines, counted from 1`: one("line_start",
			12),
		`c: golden[0]: lines 11 to 10000001 are not a range of lines, counted from 1`: one("line_end",
			10_000_001),
		`c: golden[0]: path "gone.go" is not on the new side of the diff`: one("path",
			"gone.go"),
		`c: golden[0]: path "old.go" is not on the new side of the diff`: one("path",
			"old.go"),
		`c: golden[0]: path "" is not on the new side of the diff`: one("path", nil),
		`c: golden[0]: none of its lines is within 3 lines of a hunk`: one("line_start",
			18, "line_end", 30),
		`c: golden[0]: also[0]: path "a.go" is not on the new side of the diff`: one("also",
			[]object{place("a.go", 1, 1)}),
		`c: golden[0]: also[1]: lines 2 to 1 are not a range of lines, counted from 1`: one("also",
			[]object{place("queue.go", 10, 10), place("queue.go", 2, 1)}),
		`c: diff_file is not a path within the folder of the file of cases`: valid("c",
			"diff", nil, "diff_file", "../a.diff"),
		`c: diff_file "none/a.diff" cannot be read: no such file or directory`: valid("c",
			"diff", nil, "diff_file", "none/a.diff"),
		`c: golden[0]: path "\u202eog.eueuq\x1b" is not on the new side of the diff`: one("path",
			"\u202eog.eueuq\x1b"),
		`c: title is missing` + "\n" + `1: c: golden[0]: visibility "x" is neither local nor` +
			` context`: with(one("visibility", "x"), "title", nil),
		`c: unknown key "x"` + "\n" + `1: c: language is missing`: valid("c", "x", 1, "language", nil),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			got := problems(t, dir, write(t, filepath.Join(dir, "a"), line(t, c)))
			require.Equal(t, "a:1: "+strings.ReplaceAll(want, "\n", "\na:"), strings.Join(got, "\n"))
		})
	}
}

func TestADiffFileThatIsAPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := exec.CommandContext(t.Context(), "mkfifo", filepath.Join(dir, "pipe")).Run(); err != nil {
		t.Skip("no mkfifo: ", err)
	}
	got := problems(t, dir, write(t, filepath.Join(dir, "a"), line(t, valid("c", "diff", nil, "diff_file", "pipe"))))
	require.Equal(t, []string{`a:1: c: diff_file "pipe" is not a file`}, got)
}

func TestALineThatIsNoCaseIsNamed(t *testing.T) {
	t.Parallel()
	open := strings.TrimSuffix(line(t, valid("c")), "}")
	for text, want := range map[string]string{
		"{":                     "-: no valid JSON from byte 2 of the line on",
		"nonsense":              "-: no valid JSON from byte 2 of the line on",
		"[]":                    "-: the line is not a JSON object",
		`{"id":"c"`:             "c: no valid JSON from byte 10 of the line on",
		`{"id":"c"} {"id":"d"}`: "c: no valid JSON from byte 12 of the line on",
		`{"id":"c","x":1,"language"}`: "c: unknown key \"x\"\na:1: c: no valid JSON from byte 27 of the " +
			"line on",
		open + `,"title":"again"}`: fmt.Sprintf("c: no valid JSON from byte %d of the line on",
			len(open)+2),
		"{\"id\":\"c\",\"title\":\"\xff\"}": "c: no valid JSON from byte 20 of the line on",
		"  \n":                              "-: the file contains no case",
	} {
		dir := t.TempDir()
		got := problems(t, dir, write(t, filepath.Join(dir, "a"), text))
		require.Equal(t, "a:1: "+want, strings.Join(got, "\n"), "%.40q", text)
	}
}

func TestGoldenLinesAreNearAHunk(t *testing.T) {
	t.Parallel()
	cut := "--- a/q.go\n+++ b/q.go\n@@ -20,2 +19,0 @@\n-a\n-b\n@@ -40 +38 @@\n-c\n+d\n"
	dir := t.TempDir()
	for lines, good := range map[[2]int]bool{
		{15, 15}: false, {15, 16}: true, {16, 16}: true, {23, 23}: true, {24, 34}: false,
		{35, 35}: true, {41, 50}: true, {42, 42}: false, {1, 10_000_000}: true,
	} {
		g := with(golden(), "path", "q.go", "line_start", lines[0], "line_end", lines[1])
		_, err := dataset.Read(write(t, filepath.Join(dir, "a"),
			line(t, valid("c", "diff", cut, "golden", []object{g}))))
		require.Equal(t, good, err == nil, "%v: %v", lines, err)
	}
	g := with(golden(), "path", "q.go", "line_start", 90, "line_end", 90, "also",
		[]object{{"path": "q.go", "line_start": 38, "line_end": 38}})
	_, err := dataset.Read(write(t, filepath.Join(dir, "a"), line(t, valid("c", "diff", cut, "golden", []object{g}))))
	require.NoError(t, err, "one place within reach is enough")
}

func TestAllProblemsOfAllFilesAreListedInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := write(t, filepath.Join(dir, "b"), line(t, valid("one"))+"\n{\n\n"+line(t, valid("two", "kind", "x"))+"\n"+
		line(t, valid("one")))
	a := write(t, filepath.Join(dir, "a"), strings.Repeat("x\n", 9)+line(t, valid("one"))+"\n")
	got := problems(t, dir, b, a, filepath.Join(dir, "c"), dir)
	require.Equal(t, dir+":1: -: the file cannot be read: is a directory", got[0])
	require.Equal(t, "a:1: -: no valid JSON from byte 1 of the line on", got[1])
	require.Equal(t, []string{
		"a:9: -: no valid JSON from byte 1 of the line on",
		"a:10: one: the id is already used in b:1; give each case its own",
		"b:2: -: no valid JSON from byte 2 of the line on",
		`b:4: two: kind "x" is neither bug nor clean`,
		"b:5: one: the id is already used in b:1; give each case its own",
		"c:1: -: the file cannot be read: no such file or directory",
	}, got[9:])

	twice := problems(t, dir, write(t, filepath.Join(dir, "a"), "x\ny\n"), filepath.Join(dir, "a"))
	require.Equal(t, []string{"a:1", "a:1", "a:2", "a:2"},
		[]string{twice[0][:3], twice[1][:3], twice[2][:3], twice[3][:3]})
}

func TestNothingOfAFileActsInATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "a\x1b[31m"), line(t, valid("c", "\x1b[2J\u202e\n::error::x", 1)))
	_, err := dataset.Read(file)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "\x1b")
	require.NotContains(t, err.Error(), "\u202e")
	require.NotContains(t, err.Error(), "\n")
}
