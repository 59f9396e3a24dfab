package rule

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/secret"
)

// A case is a file testdata/<rule>/find*.<ext> or clean*.<ext>. Its lines are
// all added, or it is a patch where it ends in .diff. A line where the rule
// must speak up ends in "//~ severity" or "#~ severity". Its name is the path
// that the rule sees. "¦" is left out, so that no scanner takes a made-up
// credential for a real one.
var marker = regexp.MustCompile(`\s*(?://|#)~ (\w+)$`)

func TestRulesFindWhatTheirCasesMarkAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, r := range append(rules, credential) {
		files, err := filepath.Glob(filepath.Join("testdata", r.name, "*"))
		require.NoError(t, err)
		names := strings.Join(files, " ")
		require.Contains(t, names, "find", "%s has no case that it must find", r.name)
		require.Contains(t, names, "clean", "%s has no near miss", r.name)
		for _, file := range files {
			t.Run(r.name+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				f, want := readCase(t, file)
				require.Equal(t, strings.HasPrefix(filepath.Base(file), "find"), len(want) > 0,
					"marks do not fit the file's name")
				require.Equal(t, want, reported(f, r.name))
			})
		}
	}
}

func TestEveryCaseFolderBelongsToARule(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, d := range folders {
		known := slices.ContainsFunc(append(rules, credential), func(r rule) bool { return r.name == d.Name() })
		require.True(t, known || d.Name() == "fuzz", "%s is no rule's name", d.Name())
	}
}

// readCase returns a case as a changed file, and "line severity" for each mark.
func readCase(t *testing.T, file string) (diff.File, []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	path, isPatch := strings.CutSuffix(filepath.Base(file), ".diff")
	var severities []string
	for i, l := range lines {
		severity := ""
		if m := marker.FindStringSubmatch(l); m != nil {
			severity = m[1]
		}
		severities = append(severities, severity)
		lines[i] = strings.ReplaceAll(marker.ReplaceAllString(l, ""), "¦", "")
	}
	patch := strings.Join(lines, "\n") + "\n"
	if !isPatch {
		patch = allAdded(lines)
	}
	hunks, err := diff.Hunks(patch)
	require.NoError(t, err)
	return diff.File{Path: path, Patch: patch}, marked(hunks, severities, isPatch)
}

func allAdded(lines []string) string {
	return fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s\n", len(lines), strings.Join(lines, "\n+"))
}

func marked(hunks []diff.Hunk, severities []string, isPatch bool) []string {
	want, row := []string{}, 0
	for _, h := range hunks {
		if isPatch {
			row++ // the hunk's header
		}
		for _, l := range h.Lines {
			if severities[row] != "" {
				want = append(want, fmt.Sprintf("%d %s", l.New, severities[row]))
			}
			row++
		}
	}
	return want
}

// reported has "line severity" for each finding of one rule.
func reported(f diff.File, name string) []string {
	got, all := []string{}, []finding.Finding{}
	if name == credential.name {
		_, leaks := secret.Patch(f.Patch)
		all = Leaks(f.Path, leaks)
	}
	for _, r := range rules {
		if r.name == name {
			all = r.review(newHunks(f))
		}
	}
	for _, found := range all {
		got = append(got, fmt.Sprintf("%d %s", found.Line, found.Severity))
	}
	return got
}

// TestOnlyAddedLinesTrigger makes every line of every case old: what stood
// there before, or goes, is not this change's.
func TestOnlyAddedLinesTrigger(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "find*"))
	require.NoError(t, err)
	for _, file := range files {
		f, want := readCase(t, file)
		require.NotEmpty(t, want, file)
		for _, old := range []string{" ", "-"} {
			before := f
			lines := strings.Split(strings.ReplaceAll(f.Patch, "\n+", "\n"+old), "\n")
			before.Patch = renumbered(lines)
			require.Empty(t, Review(before), "%s with %q", file, old)
		}
	}
}

// renumbered is one hunk of all lines of a patch, with a new line after them.
func renumbered(patch []string) string {
	var body []string
	for _, l := range patch {
		if l != "" && !strings.HasPrefix(l, "@@") {
			body = append(body, l)
		}
	}
	body = append(body, "+")
	text := strings.Join(body, "\n") + "\n"
	count := func(marks string) (n int) {
		for _, l := range body {
			if strings.ContainsAny(l[:1], marks) {
				n++
			}
		}
		return n
	}
	return fmt.Sprintf("@@ -1,%d +1,%d @@\n%s", count(" -"), count(" +"), text)
}

func TestEveryRuleIsWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rules {
		require.False(t, seen[r.name], "%s appears twice in the list", r.name)
		seen[r.name] = true
		require.NotEmpty(t, r.category, r.name)
		require.GreaterOrEqual(t, r.severity.Rank(), 0, r.name)
		require.False(t, strings.HasSuffix(r.title, "."), "%s: the title is one sentence without a stop", r.name)
		require.True(t, strings.HasSuffix(r.body, "."), r.name)
	}
	require.GreaterOrEqual(t, len(seen), 8)
}

func TestAFindingPointsAtItsLineOfTheNewFile(t *testing.T) {
	t.Parallel()
	patch := "@@ -10,3 +20,3 @@ func load()\n a()\n-if err := tx.Commit(); err != nil {\n+\ttx.Commit()\n b()\n"
	found := Review(diff.File{Path: "store.go", Patch: patch})
	require.Len(t, found, 1)
	got := found[0]
	require.Equal(t, []int{21, 21}, []int{got.StartLine, got.Line})
	require.Equal(t, finding.Right, got.Side)
	require.Equal(t, "The error of `tx.Commit` is dropped", got.Title)
	require.Equal(t, "tx.Commit()", got.Quote)
	require.Equal(t, finding.Rule, got.Source)
	require.Equal(t, finding.Inline, got.Placement)
	require.Equal(t, finding.Fingerprint(got), got.Fingerprint)
}

func TestSuggestionsReplaceTheirLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, line, want string }{
		{"a.sh", `  rm -rf "$OUT/"*`, `  rm -rf "${OUT:?}/"*`},
		{"b.sh", `  rm -rf "$out/"*`, ``},
	} {
		found := Review(diff.File{Path: c.path, Patch: allAdded([]string{c.line})})
		require.Len(t, found, 1, c.line)
		require.Equal(t, c.want, found[0].Suggestion)
	}
}

func TestLongLinesAndBrokenPatchesYieldNothing(t *testing.T) {
	t.Parallel()
	long := "eval $1 # " + strings.Repeat("x", maxLine)
	require.Empty(t, Review(diff.File{Path: "a.sh", Patch: allAdded([]string{long})}))
	require.Empty(t, Review(diff.File{Path: "a.sh", Patch: "no patch\n"}))
}

// TestTheDemoHasItsSeededDefects holds the embedded sample and the rules
// together: what a newcomer sees first.
func TestTheDemoHasItsSeededDefects(t *testing.T) {
	t.Parallel()
	file, err := os.Open(filepath.Join("..", "ingest", "demo.diff"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	files, err := diff.Parse(file, 1<<20)
	require.NoError(t, err)
	require.Len(t, files, 6)
	var found []finding.Finding
	for _, f := range files {
		found = append(found, Review(f)...)
	}
	require.Equal(t, "1 blocker, 3 major, 2 minor", finding.Counts(found))
}

func TestAPackageNamedExampleIsNoExample(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"src/main/java/com/example/Cart.java": false, "examples/cart/main.go": true,
		"src/test/java/com/shop/Cart.java": true, "flask/testsuite/reqctx.py": true,
		"integration-tests/src/check.ts": true, "a/testcases/b.conf": true, "a.golden": true, "attest/a.go": false,
		"samples/cart.ts": true, "latest/cart.ts": false,
	} {
		require.Equal(t, want, ForTests(name), name)
	}
}

// A removed hit excuses what was reworded or moved, nothing that is worse or elsewhere.
func TestARemovedHitHidesNoGraverOne(t *testing.T) {
	t.Parallel()
	patch := "@@ -1,3 +1,2 @@\n def a():\n-    requests.get('https://localhost/a', verify=False)\n     pass\n" +
		"@@ -40,2 +39,3 @@\n def b():\n+    requests.post('https://bank.example/b', verify=False)\n     pass\n"
	require.Len(t, Review(diff.File{Path: "pay.py", Patch: patch}), 1)
}

func TestAMaintainersScriptMayBuildItsCommands(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"scripts/release.js": 0, "src/release.js": 1} {
		patch := allAdded([]string{"execSync(`git tag v${version}`);"})
		require.Len(t, Review(diff.File{Path: path, Patch: patch}), want, path)
	}
	require.Len(t, Review(diff.File{Path: "scripts/a.js",
		Patch: allAdded([]string{"execSync(`git tag v${process.argv[2]}`);"})}), 1)
}
