package retrieve_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/tree"
)

// change is one of testdata/packs: a tree, of which one file is changed, and the line
// of another file that decides whether the change is right.
type change struct {
	files               map[string]string
	path, patch         string
	decides, decideLine string
}

var header = regexp.MustCompile(`(?m)^change: (\S+)\ndecides: (\S+): (.+)$`)

func read(t testing.TB, file string) change {
	t.Helper()
	a, err := txtar.ParseFile(file)
	require.NoError(t, err)
	m := header.FindStringSubmatch(string(a.Comment))
	require.NotNil(t, m, file)
	c := change{files: map[string]string{}, path: m[1], decides: m[2], decideLine: m[3]}
	before := ""
	for _, f := range a.Files {
		if f.Name == "before" {
			before = string(f.Data)
			continue
		}
		c.files[f.Name] = string(f.Data)
	}
	require.Contains(t, c.files[c.decides], c.decideLine)
	c.patch, _, _ = diff.Between(before, c.files[c.path])
	return c
}

// engine is over these files, among those of some packages of this program: so the
// pieces that decide are among hundreds of others.
func (c change) engine(t testing.TB, last *index.Index) (*retrieve.Engine, *index.Index) {
	t.Helper()
	all := map[string]string{}
	for _, room := range []string{"agent", "budget", "suggest"} {
		require.NoError(t, fs.WalkDir(os.DirFS("../"+room), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
				return err
			}
			data, err := os.ReadFile(filepath.Join("..", room, name))
			all[path.Join("internal", room, name)] = string(data)
			return err
		}))
	}
	for name, text := range c.files {
		all[name] = text
	}
	x, _, err := index.Build(t.Context(), tree.Files(all), last, index.Options{Cut: cutter.Cut, Made: "test"})
	require.NoError(t, err)
	return &retrieve.Engine{Index: x.Source}, x
}

var cutter = chunker.New()

func (c change) pack(t testing.TB, e *retrieve.Engine, tokens int) []retrieve.Piece {
	t.Helper()
	pieces, notes, err := e.Pack(t.Context(), diff.File{Path: c.path, Patch: c.patch}, tokens)
	require.NoError(t, err)
	require.Empty(t, notes)
	return pieces
}

func TestThePackHoldsWhatDecides(t *testing.T) {
	files, err := filepath.Glob("testdata/packs/*.txtar")
	require.NoError(t, err)
	require.Len(t, files, 10)
	held, without := 0, 0
	var last *index.Index // the packages' files are cut once for all
	for _, file := range files {
		c := read(t, file)
		var e *retrieve.Engine
		e, last = c.engine(t, last)
		if strings.Contains(c.patch, c.decideLine) {
			without++
		}
		for _, p := range c.pack(t, e, 1000) {
			if p.Path == c.decides && strings.Contains(p.Text, c.decideLine) {
				held++
				t.Logf("%s: %s", filepath.Base(file), p.Why)
			}
		}
	}
	require.GreaterOrEqual(t, held, 9)
	require.LessOrEqual(t, without, 2)
}

// P11: equal commits give equal packs, whatever else is asked at the same time.
func TestP11_EqualCommitsGiveEqualPacksWithinTheirTokens(t *testing.T) {
	c := read(t, "testdata/packs/cents.txtar")
	e, _ := c.engine(t, nil)
	for _, tokens := range []int{300, 4000} {
		want := c.pack(t, e, tokens)
		size := 0
		for _, p := range want {
			size += len(p.Text)
		}
		require.Positive(t, size)
		require.LessOrEqual(t, size, 3*tokens)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				again, _ := c.engine(t, nil)
				require.Equal(t, want, c.pack(t, again, tokens))
			})
		}
		group.Wait()
	}
	require.Empty(t, c.pack(t, e, 0))
}

// What the diff shows is not shown again, and no piece comes twice.
func TestAPackRepeatsNothing(t *testing.T) {
	c := read(t, "testdata/packs/swap.txtar")
	e, _ := c.engine(t, nil)
	seen := map[string]bool{}
	for _, p := range c.pack(t, e, 8000) {
		require.False(t, seen[p.ID()], p.ID())
		seen[p.ID()] = true
		require.NotEqual(t, "bank/refund.go", p.Path, "the hunk has all of that file")
	}
	require.NotEmpty(t, seen)
}

// The user of a definition that is gone is found by the name on the removed line.
func TestAPackHasTheCallersOfARemovedDefinition(t *testing.T) {
	c := change{path: "a.go", files: map[string]string{"a.go": "package a\n\nfunc kept() {}\n",
		"b.go": "package a\n\nfunc other() int {\n\treturn vanished(3)\n}\n"},
		patch: "@@ -1,5 +1,3 @@\n package a\n \n func kept() {}\n-\n-func vanished(n int) int { return n }"}
	e, _ := c.engine(t, nil)
	pieces := c.pack(t, e, 500)
	require.Equal(t, "b.go:3-5", pieces[0].ID())
	require.Equal(t, retrieve.Calls, pieces[0].Why)
}

// Only what has a name of the change's own in its code uses what is changed: not what has
// a variable of the same name, calls the same other function or names it in a comment.
func TestAPackSaysOfUsersAloneThatTheyUseWhatIsChanged(t *testing.T) {
	caller := "package a\n\nfunc caller() int {\n\treturn squareUp(3)\n}\n"
	c := change{path: "a.go", files: map[string]string{"b.go": caller,
		"a.go": "package a\n\n// squareUp ends it.\nfunc squareUp(n int) int {\n\tsum := " +
			"rounded(lib.Ceil(n))\n\treturn sum\n}\n",
		"c.go": "package a\n\nfunc local() int {\n\tsum := 3\n\treturn sum(1)\n}\n",
		"d.go": "package a\n\nfunc other() int {\n\treturn lib.Ceil(4)\n}\n",
		"e.go": "package a\n\nfunc rounded(n int) int {\n\treturn lib.Floor(n)\n}\n",
		"f.go": "package a\n\n// said is not squareUp.\nfunc said() string {\n\treturn \"squareUp it\"\n}\n"},
		patch: "@@ -2,5 +2,5 @@\n \n // squareUp ends it.\n func squareUp(n int) int {\n-\tsum := lib.Floor(n)\n" +
			"+\tsum := rounded(lib.Ceil(n))\n \treturn sum"}
	e, _ := c.engine(t, nil)
	why := map[string]retrieve.Why{}
	for _, p := range c.pack(t, e, 4000) {
		why[p.Path] = p.Why
	}
	require.Equal(t, retrieve.Calls, why["b.go"])
	require.NotEqual(t, retrieve.Calls, why["c.go"])
	require.NotEqual(t, retrieve.Calls, why["d.go"])
	require.Equal(t, retrieve.Defines, why["e.go"])
	require.NotContains(t, why, "f.go")

	c.patch = "@@ -3,3 +3,3 @@\n // squareUp ends it.\n-func before(n int) int {\n+func squareUp(n int) int {\n" +
		" \tsum := rounded(lib.Ceil(n))"
	c.files["b.go"] = strings.ReplaceAll(caller, "squareUp", "before")
	e, _ = c.engine(t, nil)
	i := slices.IndexFunc(c.pack(t, e, 4000), func(p retrieve.Piece) bool { return p.Path == "b.go" })
	require.Equal(t, retrieve.Calls, c.pack(t, e, 4000)[i].Why, "it uses the name that the change took away")
}

// A setting that the change takes away is looked for where no language defines it.
func TestAPackHasTheSettingsThatAChangeTookAway(t *testing.T) {
	c := change{path: "Mailer.java", files: map[string]string{
		"Mailer.java":    "class Mailer {\n\tString s = get(\"mail.out.sender\");\n}\n",
		"app.properties": "shop.name=Corner\nmail.sender=a\n", "deploy/values.yml": "max_retries: 3\n"},
		patch: "@@ -1,4 +1,3 @@\n class Mailer {\n-\tString s = get(\"mail.sender\");\n-\tint n = max_retries;\n" +
			"+\tString s = get(\"mail.out.sender\");\n }"}
	e, _ := c.engine(t, nil)
	var paths []string
	for _, p := range c.pack(t, e, 500) {
		paths = append(paths, p.Path)
	}
	require.Subset(t, paths, []string{"app.properties", "deploy/values.yml"})
}

// The caller's argument is a constant of its file, and decides what the call means.
func TestAPackHasTheConstantsThatACallerNames(t *testing.T) {
	c := change{path: "a.go", files: map[string]string{"a.go": "package a\n\nfunc wait(s int) int { return 60 * s }\n",
		"b.go": "package a\n\nconst twoHours, other = 7200, 1\n\nfunc nightly() int {\n\treturn wait(twoHours)\n}\n",
		"c.go": "package a\n\nconst unused = 3\n"},
		patch: "@@ -1,3 +1,3 @@\n package a\n \n-func wait(s int) int { return s }\n+func wait(s int) int { return 60 * s }"}
	e, _ := c.engine(t, nil)
	why := map[string]retrieve.Why{}
	for _, p := range c.pack(t, e, 4000) {
		why[p.ID()] = p.Why
	}
	require.Equal(t, retrieve.Calls, why["b.go:5-7"])
	require.Equal(t, retrieve.Defines, why["b.go:1-3"])
	require.NotEqual(t, retrieve.Defines, why["c.go:1-3"])
}

// A stub of another folder that defines the same word, or one that a comment has, is out of sight, and so is a
// variable of another function, but not a field. What a class inherits is not, if it is the only one of its name.
func TestAPackDefinesNamesOfTheCodeThatTheFileCanSee(t *testing.T) {
	const added = "+    result = which(with_retry(x.limit))  # after lookup"
	c := change{path: "pkg/a.py", files: map[string]string{
		"pkg/a.py": "from pkg.b import which\nfrom pkg.c import other\nfrom pkg.d import X\n\n\n" +
			"def run(x: Probe):\n" + strings.TrimPrefix(added, "+") + "\n",
		"pkg/b.py":    "def which(x):\n    return x\n\n\ndef lookup():\n    return 1\n",
		"pkg/c.py":    "def other():\n    result = 3\n    return result\n",
		"pkg/d.py":    "class X:\n    size = 3\n\n    def __init__(self):\n        self.limit = 3\n",
		"pkg/e.py":    "which = 3\n", // not imported
		"stubs/sh.py": "def which(x): ...\n", "tests/test_a.py": "from pkg.a import run\nlimit = 3\n\n\n" +
			"class Probe:\n    x = 1\n", "base/retry.py": "def with_retry(x):\n    x += 1\n    return x\n",
		"other/c.py": "x = 3\n\n\ndef y():\n    return 1\n"},
		patch: "@@ -6,2 +6,2 @@\n def run(x: Probe):\n-    return x\n" + added}
	e, _ := c.engine(t, nil)
	defines := func() (all []string) {
		for _, p := range c.pack(t, e, 4000) {
			if p.Why == retrieve.Defines {
				all = append(all, p.ID())
			}
		}
		return all
	}
	require.Equal(t, []string{"pkg/b.py:1-2", "base/retry.py:1-3", "pkg/d.py:4-5"}, defines())
	e.Changed = []string{"pkg/a.py", "stubs/sh.py"} // no diff but its own shows what the change adds there
	require.Equal(t, []string{"stubs/sh.py:1-1", "pkg/b.py:1-2", "base/retry.py:1-3", "pkg/d.py:4-5"}, defines())
}

// The function around a change is cut to the lines near it where callers would have no room.
func TestAPackHasTheFunctionAroundAChangeIfThereIsRoom(t *testing.T) {
	body := strings.Repeat("\tn = n*2 + 1\n", 40)
	c := change{path: "a.go", files: map[string]string{
		"a.go": "package a\n\nfunc grow(n int) int {\n" + body + "\tn++\n" + "\treturn n\n}\n"},
		patch: "@@ -43,3 +43,4 @@\n \tn = n*2 + 1\n+\tn++\n \treturn n\n }"}
	e, _ := c.engine(t, nil)
	for tokens, from := range map[int]int{200: 36, 4000: 3} {
		pieces := c.pack(t, e, tokens)
		require.Len(t, pieces, 1)
		require.Equal(t, from, pieces[0].StartLine)
		require.Equal(t, 42, pieces[0].EndLine, "the diff shows the others")
		require.Equal(t, retrieve.Encloses, pieces[0].Why)
	}
}

// The pack has the start and end of a function around a change, even a long one, as far as the diff does not show them.
func TestAPackHasTheRestOfTheFunctionAroundAChange(t *testing.T) {
	steps := func(n int) string { return strings.Repeat("\tstep()\n", n) }
	for name, tt := range map[string]struct {
		before, after string
		want          []string
	}{
		"a long one":                             {steps(50), steps(40), []string{"a.go:9-80"}},
		"a change that is shown to the end":      {steps(9), "", []string{"a.go:3-9"}},
		"one that is shown but for a brace":      {steps(3), steps(3), nil},
		"two lines are not worth a heading":      {steps(4), steps(4), nil},
		"what is before a change near its start": {steps(2), steps(9), []string{"a.go:10-16"}},
	} {
		t.Run(name, func(t *testing.T) {
			after := "package a\n\nfunc long() {\n" + tt.before + "\tchanged()\n" + tt.after + "}\n"
			c := change{path: "a.go", files: map[string]string{"a.go": after}}
			c.patch, _, _ = diff.Between(strings.Replace(after, "changed()", "before()", 1), after)
			var got []string
			for _, p := range c.pack(t, engine(t, c.files), 4000) {
				if p.Why == retrieve.Encloses {
					got = append(got, p.ID())
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// Lines of a file with carriage returns are found in it, below others that the change adds.
func TestAPackKnowsTheFunctionAroundAChangeOfAFileFromWindows(t *testing.T) {
	text := "package a\n\nfunc one() {\n\ta()\n}\n\nfunc two() {\n\tb()\n}\n"
	after := "package a\n\nvar (\n\tx = 1\n\ty = 2\n)\n\nfunc one() {\n\ta()\n}\n\nfunc two() {\n\tlocal := b()\n}\n"
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	c := change{path: "a.go", files: map[string]string{"a.go": crlf(after),
		"b.go": "package a\n\nfunc other(local int) int {\n\treturn local(1)\n}\n",
		"c.go": "package a\n\nfunc user() {\n\ttwo()\n}\n"}}
	c.patch, _, _ = diff.Between(crlf(text), crlf(after))
	ids := map[string]bool{}
	for _, p := range c.pack(t, engine(t, c.files), 4000) {
		ids[p.ID()] = p.Why == retrieve.Calls
	}
	require.True(t, ids["c.go:3-5"])
	require.False(t, ids["b.go:3-5"], "a variable of its own")
}

// A name says nothing about a file whose language cannot use it.
func TestAPackPassesOverOtherLanguages(t *testing.T) {
	c := change{path: "a.py", files: map[string]string{"a.py": "def settle(x):\n    return 2\n",
		"b.py": "def other():\n    return settle(1)\n"},
		patch: "@@ -1,2 +1,2 @@\n def settle(x):\n-    return 1\n+    return 2"}
	e, _ := c.engine(t, nil)
	pieces := c.pack(t, e, 4000)
	require.Equal(t, "b.py:1-2", pieces[0].ID())
	for _, p := range pieces { // package budget has another settle
		require.True(t, p.Why == retrieve.Similar || strings.HasSuffix(p.Path, ".py"), p.ID())
	}
}

// What shares words with a document or a setting says nothing about it. Nor does a plain word that a document lost, or
// that is in it like a definition's name.
func TestAPackOfADocumentHasNothingThatOnlyASearchFound(t *testing.T) {
	const now = "A class project of a budget of an agent is reserved before a call."
	for file, before := range map[string]string{"docs/a.md": "The budget.", "docs/a.json": "A budget.",
		"docs/a.xml": "A budget."} {
		c := change{path: file, files: map[string]string{file: now + "\n",
			"tests/" + path.Base(file): "Of another package.\n"},
			patch: "@@ -1,1 +1,1 @@\n-" + before + "\n+" + now}
		if file == "docs/a.md" {
			c.files["docs/conf.py"] = "budget = 'of an agent'\n"
			c.files["settings.toml"] = "project = 'budget'\n"
		}
		e, _ := c.engine(t, nil)
		require.Empty(t, c.pack(t, e, 4000), file)
	}
}

// If a caller is long, the lines around the call are shown, with their numbers.
func TestALongPieceIsShownByTheLinesAroundItsUse(t *testing.T) {
	filler := strings.Repeat("\tprepare()\n", 60)
	c := change{path: "a.go", files: map[string]string{"a.go": "package a\n\nfunc limit() int { return 2 }\n",
		"b.go": "package a\n\nfunc long() {\n" + filler + "\tuse(limit())\n\tuse(limit())\n" + filler + "}\n"},
		patch: "@@ -1,3 +1,3 @@\n package a\n \n-func limit() int { return 1 }\n+func limit() int { return 2 }"}
	e, _ := c.engine(t, nil)
	pieces := c.pack(t, e, 4000)
	require.Equal(t, "b.go:60-71", pieces[0].ID())
	lines := strings.Split(pieces[0].Text, "\n")
	require.Len(t, lines, 71-60+1)
	require.Equal(t, "\tuse(limit())", lines[64-60])
}

// T9: the lines of a key that are around a use tell by themselves nothing of what they are.
func TestT9_APartOfAKeyIsRedactedAsTheWhole(t *testing.T) {
	var key strings.Builder
	for i := range 20 {
		fmt.Fprintf(&key, "%064x\n", sha256.Sum256([]byte{byte(i)}))
	}
	text := "-----BEGIN " + "RSA PRIVATE KEY-----\n" + key.String() + "-----END " + "RSA PRIVATE KEY-----"
	c := change{path: "a.go", files: map[string]string{"a.go": "package a\n\nfunc limit() int { return 2 }\n",
		"b.go": "package a\n\nfunc long() {\n\tx := `" + text + "`\n\tuse(x, limit())\n}\n"},
		patch: "@@ -1,3 +1,3 @@\n package a\n \n-func limit() int { return 1 }\n+func limit() int { return 2 }"}
	e, _ := c.engine(t, nil)
	pieces := c.pack(t, e, 4000)
	require.Equal(t, "b.go:22-27", pieces[0].ID())
	require.Contains(t, pieces[0].Text, "use(x, limit())")
	for line := range strings.Lines(key.String()) {
		require.NotContains(t, pieces[0].Text, strings.TrimSpace(line))
	}
}

// T5: the text of a pull request, in whatever language it says it is.
func FuzzPack(f *testing.F) {
	names := strings.Fields("a.go a.ts a.py A.java a.rs a.c a.cpp A.cs a.rb a.php a.sh a.xyz")
	for i, seed := range []string{"package a\n\nimport \"/b\"\n", "import b from '../b'\n", "from ... import b\n",
		"import static .b.C;\n", "use ::b;\n", "#include \"//b\"\n", "#include </b>\n", "using global::B;\n",
		"require '/b'\n", "<?php\nuse \\B;\n", ". /etc/b\nsource /\n", "b\n"} {
		f.Add(i, seed)
	}
	f.Fuzz(func(t *testing.T, n int, text string) {
		name := names[uint(n)%uint(len(names))]
		c := change{path: "x/" + name,
			files: map[string]string{name: text, "x/" + name: text, "x/y/b" + path.Ext(name): text}}
		c.patch, _, _ = diff.Between("", text)
		if c.patch != "" {
			c.pack(t, engine(t, c.files), 4000)
		}
	})
}
