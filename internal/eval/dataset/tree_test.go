package dataset_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/eval/dataset"
)

const treeDiff = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,3 @@\n one\n+new\n two\n"

// treed is a line with a case of that tree, whose known finding rests on a place.
func treed(t *testing.T, diff string, tree map[string]string, evidence ...dataset.Place) string {
	t.Helper()
	row := map[string]any{"id": "x", "language": "go", "kind": "bug", "title": "t", "diff": diff, "tree": tree,
		"golden": []any{map[string]any{"path": "a.go", "line_start": 2, "line_end": 2, "severity": "major",
			"visibility": "context", "issue": "i", "evidence": evidence}}}
	if tree == nil {
		delete(row, "tree")
	}
	text, err := json.Marshal(row)
	require.NoError(t, err)
	return string(text) + "\n"
}

func TestATreeIsHeldAgainstItsDiffAndItsPaths(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\n"
	at := func(path string, start, end int) dataset.Place {
		return dataset.Place{Path: path, LineStart: start, LineEnd: end}
	}
	for name, c := range map[string]struct {
		tree     map[string]string
		evidence []dataset.Place
		want     string
	}{
		"fits":        {map[string]string{"a.go": text, "b/c.go": "x\n"}, []dataset.Place{at("b/c.go", 1, 1)}, ""},
		"of the head": {map[string]string{"a.go": text}, []dataset.Place{at("a.go", 3, 3)}, ""},
		"up":          {map[string]string{"a.go": text, "../x": ""}, nil, `tree: "../x" is not a path within the tree`},
		"absolute":    {map[string]string{"a.go": text, "/x": ""}, nil, `tree: "/x" is not a path within the tree`},
		"not clean":   {map[string]string{"a.go": text, "b//x": ""}, nil, `tree: "b//x" is not a path within the tree`},
		"backslash":   {map[string]string{"a.go": text, `b\x`: ""}, nil, `tree: "b\\x" is not a path within the tree`},
		"absent": {map[string]string{"b.go": text}, nil,
			`tree: the diff calls "a.go" modified, and its files do not agree`},
		"other text": {map[string]string{"a.go": "one\nthree\n"}, nil,
			`tree: "a.go": line 2: the diff does not apply to it`},
		"too short": {map[string]string{"a.go": "one\n"}, nil,
			`tree: "a.go": line 2: the diff does not apply to it`},
		"evidence elsewhere": {map[string]string{"a.go": text}, []dataset.Place{at("c.go", 1, 1)},
			`golden[0].evidence[0]: path "c.go" is not in the tree behind the change`},
		"evidence too low": {map[string]string{"a.go": text}, []dataset.Place{at("a.go", 3, 4)},
			`golden[0].evidence[0]: "a.go" has 3 lines`},
		"no lines": {map[string]string{"a.go": text}, []dataset.Place{at("a.go", 3, 2)},
			"golden[0].evidence[0]: lines 3 to 2 are not a range of lines, counted from 1"},
		"no tree": {nil, []dataset.Place{at("a.go", 1, 1)},
			"golden[0].evidence[0]: it needs a tree, or repo, base and head"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "cases.jsonl")
			cases, err := dataset.Read(write(t, file, treed(t, treeDiff, c.tree, c.evidence...)))
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, c.tree, cases[0].Tree)
				return
			}
			require.EqualError(t, err, file+":1: x: "+c.want)
		})
	}
}

func TestTheHeadOfATreeIsTheDiffApplied(t *testing.T) {
	t.Parallel()
	diff := treeDiff + "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n" +
		"@@ -1 +0,0 @@\n-x\n" +
		"diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+y\n" +
		"diff --git a/from b/to\nsimilarity index 66%\nrename from from\nrename to to\n" +
		"--- a/from\n+++ b/to\n@@ -1,3 +1,2 @@\n 1\n-2\n 3\n"
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	cases, err := dataset.Read(write(t, file, treed(t, diff, map[string]string{
		"a.go": "one\ntwo\nthree\n", "gone": "x\n", "from": "1\n2\n3\n", "kept": "k"})))
	require.NoError(t, err)
	base, head, err := cases[0].Trees()
	require.NoError(t, err)
	for path, want := range map[string]string{"a.go": "one\nnew\ntwo\nthree\n", "made": "y\n", "to": "1\n3\n",
		"kept": "k"} {
		text, err := head.Read(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, want, string(text), path)
	}
	paths, err := head.Paths(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a.go", "kept", "made", "to"}, paths)
	text, err := base.Read(t.Context(), "a.go")
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\nthree\n", string(text))
}

func TestATreeFileIsATxtarBesideTheCases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	row := func(file string) string {
		return strings.Replace(treed(t, treeDiff, nil), `"diff":`, `"tree_file":"`+file+`","diff":`, 1)
	}
	write(t, filepath.Join(dir, "a.txtar"), "-- a.go --\none\ntwo\n-- b.go --\nb\n")
	cases, err := dataset.Read(write(t, filepath.Join(dir, "good"), row("a.txtar")))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.go": "one\ntwo\n", "b.go": "b\n"}, cases[0].Tree)
	write(t, filepath.Join(dir, "twice.txtar"), "-- a.go --\none\n-- a.go --\ntwo\n")
	write(t, filepath.Join(dir, "none.txtar"), "one\n")
	for file, want := range map[string]string{"../a.txtar": "not a path within the folder",
		"twice.txtar": "is in it twice", "none.txtar": "it contains no file", "gone.txtar": "cannot be read"} {
		_, err := dataset.Read(write(t, filepath.Join(dir, "bad"), row(file)))
		require.ErrorContains(t, err, "bad:1: x: tree_file")
		require.ErrorContains(t, err, want)
	}
}

func TestATreeIsPartOfWhatIsReviewed(t *testing.T) {
	t.Parallel()
	c := dataset.Case{ID: "x", Diff: treeDiff}
	plain := dataset.Fingerprint([]dataset.Case{c})
	c.Tree = map[string]string{"a.go": "one\ntwo\n"}
	treed := dataset.Fingerprint([]dataset.Case{c})
	require.NotEqual(t, plain, treed)
	c.Tree["a.go"] += "three\n"
	require.NotEqual(t, treed, dataset.Fingerprint([]dataset.Case{c}))
	c.Golden = []dataset.Golden{{Path: "a.go"}}
	bare := dataset.Fingerprint([]dataset.Case{c})
	c.Golden[0].Evidence = []dataset.Place{{Path: "a.go", LineStart: 1, LineEnd: 1}}
	require.NotEqual(t, bare, dataset.Fingerprint([]dataset.Case{c}))
}
