package chunker_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/chunk"
	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/testvolume"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestEveryLanguageIsCutAtItsDefinitions holds what is cut of a small file of each.
func TestEveryLanguageIsCutAtItsDefinitions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cut/a.*")
	require.NoError(t, err)
	require.Len(t, files, 11)
	var all strings.Builder
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		chunks, fallback := chunker.New().Cut(t.Context(), name, string(text))
		require.Empty(t, fallback, name)
		fmt.Fprintf(&all, "# %s\n", name)
		for _, c := range chunks {
			fmt.Fprintf(&all, "%d-%d %s %s %v\n\t%s\n", c.StartLine, c.EndLine, c.Kind, c.Symbol(), c.Defines,
				strings.TrimRight(c.Signature+" | "+c.Doc, " |"))
		}
	}
	const golden = "testdata/cut/golden"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(all.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), all.String())
}

func TestAReceiverIsNamedByOneWord(t *testing.T) {
	t.Parallel()
	for receiver, want := range map[string]string{"t T": "T", "*T": "T", "b *Box[K, V]": "Box", "t * /* a */ T": "T",
		"s struct {\n\ta int\n}": "a"} {
		chunks, _ := chunker.New().Cut(t.Context(), "a.go", "package a\n\nfunc ("+receiver+") Run() {\n\tcall()\n}\n")
		require.Equal(t, want, chunks[len(chunks)-1].Scope, receiver)
	}
}

// long is a class of methods in a language; its function is of so many lines.
type long struct {
	path            string
	function        func(name string, lines int) string
	open, close     string // of a class; empty where methods are outside of it
	callable, inner chunk.Kind
}

func braces(head string) func(string, int) string {
	return func(name string, lines int) string {
		return fmt.Sprintf(head, name) + " {\n" + strings.Repeat("  call();\n", lines-2) + "}\n"
	}
}

func ended(head, statement, end string) func(string, int) string {
	return func(name string, lines int) string {
		return fmt.Sprintf(head, name) + "\n" + strings.Repeat("  "+statement+"\n", lines-2) + end + "\n"
	}
}

var longs = []long{
	{"a.go", braces("func (c C) %s()"), "package a\n", "", chunk.Method, chunk.Method},
	{"a.ts", braces("%s(): void"), "export class C {\n", "}\n", "", chunk.Method},
	{"a.tsx", braces("export function %s()"), "", "", chunk.Function, ""},
	{"a.js", braces("%s()"), "class C {\n", "}\n", "", chunk.Method},
	{"a.java", braces("public void %s()"), "public class C {\n", "}\n", "", chunk.Method},
	{"a.cs", braces("public void %s()"), "public class C {\n", "}\n", "", chunk.Method},
	{"a.rs", braces("pub fn %s(&self)"), "impl C {\n", "}\n", "", chunk.Method},
	{"a.c", braces("int %s(void)"), "", "", chunk.Function, ""},
	{"a.cpp", braces("int %s()"), "class C {\n", "};\n", "", chunk.Method},
	{"a.php", braces("function %s()"), "<?php\nclass C {\n", "}\n", "", chunk.Method},
	{"a.rb", ended("def %s", "call", "end"), "class C\n", "end\n", "", chunk.Method},
	{"a.py", ended("  def %s(self):", "  call()", "    return 1"), "class C:\n", "", "", chunk.Method},
	{"a.sh", ended("%s() {", "call", "}"), "", "", chunk.Function, ""},
}

func TestAFunctionOf200LinesIsOneChunkAndTwelveMethodsAreTwelve(t *testing.T) {
	t.Parallel()
	for _, l := range longs {
		t.Run(l.path, func(t *testing.T) {
			t.Parallel()
			text, want := l.open, []string{}
			for i := range 12 {
				name := fmt.Sprintf("method%d", i)
				from := strings.Count(text, "\n") + 1
				text += l.function(name, 70+i)
				want = append(want, fmt.Sprintf("%s:%d-%d %s", l.path, from, from+69+i, name))
			}
			require.Equal(t, want, named(t, l, text+l.close), "none is merged, whatever its length")
			at := strings.Count(l.open, "\n")
			require.Equal(t, []string{fmt.Sprintf("%s:%d-%d whole", l.path, at+1, at+200)},
				named(t, l, l.open+l.function("whole", 200)+l.close))
			cut := named(t, l, l.open+l.function("parts", 500)+l.close)
			require.Greater(t, len(cut), 4, "longer ones are cut into windows")
		})
	}
}

// named are the functions and methods of a text, as id and name.
func named(t *testing.T, l long, text string) []string {
	t.Helper()
	chunks, fallback := chunker.New().Cut(t.Context(), l.path, text)
	if testvolume.Raced && fallback == chunker.TooSlow {
		t.Skip("under the race detector this parse takes longer than any may; .ci/run tests it without the " +
			"detector too")
	}
	require.Empty(t, fallback)
	var all []string
	for _, c := range chunks {
		require.LessOrEqual(t, c.EndLine-c.StartLine, 200)
		if c.Kind == chunk.Function || c.Kind == chunk.Method {
			require.Equal(t, max(l.callable, l.inner), c.Kind)
			all = append(all, c.ID()+" "+c.Name)
		}
	}
	return all
}

func TestALongFunctionIsCutAtWhatIsDefinedInIt(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("  call();\n", 60)
	text := "function outer() {\n" + filler + "  function inner() {\n" + filler + "  }\n" +
		"  const arrow = () => {\n" + filler + "  };\n" + filler + "}\n"
	chunks, _ := chunker.New().Cut(t.Context(), "a.js", text)
	var all []string
	for _, c := range chunks {
		all = append(all, fmt.Sprintf("%d-%d %s %v", c.StartLine, c.EndLine, c.Symbol(), c.Defines))
	}
	require.Equal(t, []string{"1-61 outer [outer]", "62-123 outer.inner [inner]", "124-185 outer.arrow [arrow]",
		"186-246 outer []"}, all)
}

func TestAnObjectOfManyFunctionsAndCallsAreCut(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("    call();\n", 30)
	text := "module.exports = {\n  first() {\n" + body + "  },\n  second: function () {\n" + body + "  },\n};\n" +
		"describe('things', () => {\n" + body + "});\n"
	chunks, _ := chunker.New().Cut(t.Context(), "a.js", text)
	var all []string
	for _, c := range chunks {
		all = append(all, fmt.Sprintf("%d-%d %s %s", c.StartLine, c.EndLine, c.Kind, c.Symbol()))
	}
	require.Equal(t, []string{"1-1 type module.exports", "2-33 method module.exports.first",
		"34-65 method module.exports.second", "67-98 function describe"}, all)
}

// inOrder holds what is true of every text: chunks in order, of whole lines, apart.
func inOrder(t testing.TB, path, text string) (fallback string) {
	t.Helper()
	return inOrderOf(t, chunker.New(), path, text)
}

func inOrderOf(t testing.TB, c *chunker.Chunker, path, text string) (fallback string) {
	t.Helper()
	chunks, fallback := c.Cut(t.Context(), path, text)
	lines := strings.Split(strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), "\ufffd"), "\n")
	last := 0
	for _, c := range chunks {
		require.Greater(t, c.StartLine, last, c.ID())
		require.GreaterOrEqual(t, c.EndLine, c.StartLine)
		require.LessOrEqual(t, c.EndLine, len(lines))
		require.Equal(t, strings.Join(lines[c.StartLine-1:c.EndLine], "\n"), c.Text)
		require.NotContains(t, c.Signature+c.Doc+c.Name+c.Scope, "\n")
		last = c.EndLine
	}
	return fallback
}

// TestT35_HostileTextsEndInTime holds that nothing stalls or breaks the parser permanently:
// what nobody wrote is not parsed, and a parse that runs on is given up.
func TestT35_HostileTextsEndInTime(t *testing.T) {
	testvolume.NoRaces(t)
	t.Parallel()
	for _, path := range []string{"a.go", "a.js", "a.tsx", "a.py", "a.java", "a.rs", "a.cpp", "a.cs", "a.rb", "a.php",
		"a.sh"} {
		for name, text := range map[string]string{
			"braces": strings.Repeat("{", 60_000), "lines of brackets": strings.Repeat("[(\n", 30_000),
			"templates": strings.Repeat("a<", 30_000), "quotes": strings.Repeat("'\"`", 20_000),
			"functions": strings.Repeat("function f(){", 5_000), "zeros": strings.Repeat("\x00", 60_000),
			"invalid":         strings.Repeat("\xff\xfe\x80(", 10_000),
			"Go's own blocks": "package a\n\nfunc f() {\n" + strings.Repeat("if x {\n", 10_000),
			"Go's operators":  "package a\n\nvar x = " + strings.Repeat("-", 100_000) + "1\n",
			"Go's types":      "package a\n\nvar x " + strings.Repeat("[]", 100_000) + "int\n",
		} {
			t.Run(path+" "+name, func(t *testing.T) {
				took := testvolume.Took(func() { inOrder(t, path, text) })
				require.Less(t, took, 10*time.Second)
			})
		}
	}
	start, parsed := time.Now(), strings.Repeat("a<\n", 3_000)
	inOrder(t, "a.rb", parsed)
	inOrder(t, "a.js", parsed)
	require.Equal(t, chunker.TooSlow, inOrderOf(t, chunker.Worn(), "a.cpp", parsed))
	if testvolume.Full() {
		inOrder(t, "a.cpp", parsed)
	}
	require.Less(t, time.Since(start), 2*time.Minute, "the machine's other work included")
}

// lasting is a text that takes some tenths of a second to parse.
var lasting = "class A {\n" + strings.Repeat("  void f() { int x = y.z(a, b -> c); }\n", 2_000) + "}\n"

// It runs alone: the garbage of other tests, once it is collected, would outweigh what this parse takes.
func TestT35_AParseThatTakesTooMuchMemoryIsGivenUp(t *testing.T) {
	runtime.GC()
	require.Equal(t, chunker.TooSlow, inOrderOf(t, chunker.Frugal(), "A.java", lasting))
}

// What stops all goroutines again and again takes a third of the time of a large repository's index.
func TestAParseStopsNothingElse(t *testing.T) {
	pauses := func() (n uint64) {
		read := []metrics.Sample{{Name: "/sched/pauses/total/other:seconds"}}
		metrics.Read(read)
		for _, count := range read[0].Value.Float64Histogram().Counts {
			n += count
		}
		return n
	}
	before := pauses()
	require.Empty(t, inOrder(t, "A.java", lasting))
	require.Less(t, pauses()-before, uint64(20))
}

func TestWhatIsNotCutByDefinitionsSaysWhy(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ text, want string }{
		"a.kt":  {"fun a() {}\n", chunker.NoGrammar},
		"a.js":  {strings.Repeat("call();\n", chunker.MaxBytes/8+1), chunker.TooLarge},
		"b.go":  {strings.Repeat("// call\n", chunker.MaxBytes/8+1), chunker.TooLarge},
		"c.go":  {"this is no Go\n", chunker.Unparsable},
		"d.go":  {"package d\n\nfunc whole() {}\n\nfunc broken( {\n", ""},
		"e.py":  {"def whole():\n  pass\n\ndef broken(:\n", ""},
		"f.ts":  {"", ""},
		"x.tsx": {"\ufeffexport const a = <b>{c}</b>\n", ""},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, inOrder(t, path, c.text))
		})
	}
}

func FuzzCut(f *testing.F) {
	for _, l := range longs {
		f.Add(l.path, l.open+l.function("f", 5)+l.close)
	}
	files, err := filepath.Glob("testdata/cut/a.*")
	require.NoError(f, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(strings.TrimSuffix(filepath.Base(path), ".txt"), string(text))
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		inOrder(t, path, text[:min(len(text), 4_000)]) // more only makes the parser slow
	})
}

func TestBracketsMatchOutsideOfCommentsAndStrings(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		path string
		want bool
	}{
		"def f(a):\n    return a[0]\n":                {"a.py", false},
		"def f(a):\n    return a[0))\n":               {"a.py", true},
		"def f(a):\n    return (a\n":                  {"a.py", true},
		"def f(a):\n    return ')'  # ]\n":            {"a.py", false},
		"const a = `${f({ b: 1 })} (`; // {\n":        {"a.ts", false},
		"const a = f({ b: 1 );\n":                     {"a.ts", true},
		"class A { char c = '{'; String s = \"[\"; }": {"A.java", false},
		"case $1 in\n  a) b ;;\nesac\n":               {"a.sh", false},
		"a: [1\n":                                     {"a.yml", false},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, unmatched := chunker.New().Broken(t.Context(), c.path, text)
			require.Equal(t, c.want, unmatched)
		})
	}
}
