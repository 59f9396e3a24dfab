package tool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

func TestFindReferencesPutsDefinitionsFirst(t *testing.T) {
	t.Parallel()
	find := tool.FindReferences(tree.Files(map[string]string{
		"a.go": "package a\n\nvar x = Load(1) // Load is fine\n\nconst text = \"Load it\"\n\nfunc Reload() { " +
			"s.Load() }\n",
		"b/load.go": "package b\n\n// Load loads.\nfunc Load(n int) int {\n\treturn Load(n - 1)\n}\n\nfunc (s " +
			"*Store) Load() {}\n",
		"Log.md":      "Load it\n",
		"a_test.go":   "package a\n\nvar y = Load(2)\n",
		"c.py":        "def load():\n    return Loader, Load_, preLoad\n",
		"vendor/v.go": "func Load() {}\n",
	}))
	require.Equal(t, `2 definitions in 1 file
b/load.go:4: func Load(n int) int {
     5 	return Load(n - 1)
     6 }
b/load.go:8: func (s *Store) Load() {}
5 uses in 4 files
a.go:3: var x = Load(1) // Load is fine
a.go:7: func Reload() { s.Load() }
b/load.go:5: return Load(n - 1)
a_test.go:3: var y = Load(2)
Log.md:1: Load it
5 files searched; 1 vendored, lock or minified files passed over; 2 lines in comments and strings not shown
`, call(t, find, `{"name":"Load"}`).Text)
	require.Equal(t, "no definitions\nno uses\n5 files searched; 1 vendored, lock or minified files passed over\n",
		call(t, find, `{"name":"Nowhere"}`).Text)
	for _, name := range []string{"", "pkg.Load", "a b", "1x", "Load()", "../x", strings.Repeat("a", 201)} {
		require.Contains(t, call(t, find, `{"name":"`+name+`"}`).Problem, "name is not a single identifier", name)
	}
}

func TestUpToThreeDefinitionsAreShownWithTheirBodies(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct{ text, want string }{
		"a.go": {"func Name(\n\ta int,\n) (b int) {\n\n\treturn a\n}\n\nvar x = 1\n", "2 \ta int,\n3 ) (b int) {\n" +
			"5 \treturn a\n6 }\n"},
		"b.go": {"type T struct {\n\tName int\n}\n", ""},
		"c.go": {"func Name() {}\n\nfunc Other() {\n\tx()\n}\n", ""},
		"d.go": {"func Name() {\n\tx()", "2 \tx()\n"},
		"a.py": {"class A:\n    def Name(\n        self,\n    ) -> int:\n        return 1\n\n        # a\n\n    def b():\n",
			"3         self,\n4     ) -> int:\n5         return 1\n7         # a\n"},
		"a.cs": {"  int Name(int a)\r\n  {\r\n    return a;\r\n  }\r\n  int B()\r\n  {\r\n  }\r\n", "2   {\n" +
			"3     return a;\n4   }\n"},
		"a.ts": {"export function Name({\n  a,\n}: {\n  a: 1;\n}) {\n  b;\n}\nc;\n", "2   a,\n3 }: {\n4   a: 1;\n" +
			"5 }) {\n6   b;\n7 }\n"},
		"a.c": {"int Name(int a)\n{\n#ifdef X\n  a++;\n#endif\nout:\n  return a;\n}\nint b;\n", "2 {\n3 #ifdef X\n" +
			"4   a++;\n5 #endif\n6 out:\n7   return a;\n8 }\n"},
		"a.rb": {"def Name\n  a\nend\nb\n", "2   a\n3 end\n"},
	} {
		got := call(t, tool.FindReferences(tree.Files(map[string]string{file: c.text})), `{"name":"Name"}`).Text
		_, body, _ := strings.Cut(strings.ReplaceAll(got, "\n     ", "\n"), "\n"+file)
		_, body, _ = strings.Cut(body, "\n")
		require.True(t, strings.HasPrefix(body, c.want+"no uses\n"), "%s\n%s", file, got)
	}

	files := map[string]string{"a.go": "func Name() {\n" + strings.Repeat("\tx()\n", 30) + "}\n"}
	got := call(t, tool.FindReferences(tree.Files(files)), `{"name":"Name"}`).Text
	require.Contains(t, got, "\n    31 \tx()\n       …\nno uses\n")
	for _, file := range []string{"b.go", "c.go", "d.go"} {
		require.Contains(t, got, "x()")
		files[file] = "func Name() {\n\tx()\n}\n"
		got = call(t, tool.FindReferences(tree.Files(files)), `{"name":"Name"}`).Text
	}
	require.Equal(t, "4 definitions in 4 files\na.go:1: func Name() {\nb.go:1: func Name() {\nc.go:1: func Name() {\n"+
		"d.go:1: func Name() {\nno uses\n4 files searched\n", got, "four are a choice to make first")
}

// T7, T9: what belongs to a definition is shown as its line is.
func TestT7_T9_ABodyShowsHiddenCharactersAndNoPartOfAKey(t *testing.T) {
	t.Parallel()
	source, middle := privateKey()
	text := "func Name() {\n\ta\u202eb" + strings.ReplaceAll("\n"+strings.TrimSpace(source), "\n", "\n\t") + "\n}\n"
	got := call(t, tool.FindReferences(tree.Files(map[string]string{"a.go": text})), `{"name":"Name"}`).Text
	require.Contains(t, got, "     2 \ta<U+202E>b\n     3 \tfirst\n     4 \t<redacted private-key>\n")
	require.NotContains(t, got, middle[:20])
}

func TestT31_HostileDefinitionsTakeLittleTimeAndSpace(t *testing.T) {
	t.Parallel()
	deep, short := strings.Repeat("\t", 100_000), strings.Repeat("\n\ty", 1500)
	for name, text := range map[string]string{
		"many":  strings.Repeat("func Name() {\n", 70_000),
		"blank": deep + "func Name() {\n" + strings.Repeat("\n", tree.MaxFile-110_000),
		"deep":  strings.Repeat(deep+"func Name() {"+short+"\n", 3),
		"wide":  strings.Repeat("func Name() {\n"+strings.Repeat("\t"+strings.Repeat("𝄞", 1000)+"\n", 20)+short+"\n", 3),
	} {
		start := time.Now()
		got := call(t, tool.FindReferences(tree.Files(map[string]string{"a.go": text})), `{"name":"Name"}`)
		require.Contains(t, got.Text, "\na.go:1: func Name() {\n", name)
		require.Contains(t, got.Text, "no uses\n1 file searched\n", name)
		require.Less(t, got.Bytes, 13<<10, name)
		require.Less(t, time.Since(start), 20*time.Second, name)
	}
}

// That a removed name has no use left is an answer; that it is nowhere is a doubt.
func TestFindReferencesSaysWhatIsLeftOfARemovedName(t *testing.T) {
	t.Parallel()
	const patch = "@@ -1,4 +1,2 @@\n package a\n-func gone() {}\n-func used() {}\n-var y = far()\n+// gone is gone\n"
	files := tree.Files(map[string]string{"a.go": "package a\n",
		"b.go": "package a\n\nvar x = used()\n\nvar z = far()\n"})
	find := tool.FindReferences(files, diff.File{Path: "a.go", Patch: patch}, diff.File{Path: "c.bin"})
	for name, want := range map[string]string{
		"gone": "no definitions\nno uses\nthe change removes it from a.go, and no use is left\n2 files searched\n",
		"used": "no definitions\n1 use in 1 file\nb.go:3: var x = used()\nthe change removes it from a.go, and these " +
			"uses are left\n2 files searched\n",
		"far":   "no definitions\n1 use in 1 file\nb.go:5: var z = far()\n2 files searched\n",
		"other": "no definitions\nno uses\n2 files searched\n",
	} {
		require.Equal(t, want, call(t, find, `{"name":"`+name+`"}`).Text)
	}
}

func TestDefinitionsAreKnownByTheFormOfTheirLine(t *testing.T) {
	t.Parallel()
	for file, lines := range map[string]struct{ yes, no []string }{
		"a.go": {
			[]string{"func Name() {", "func (s *Store[T]) Name(a int) {", "type Name struct {", "var Name = 1",
				"const Name = 2", "func Name[T any](x T) {", "\tName = iota", "\tName int `json:\"name\"`",
				"\tName Kind = 3", "\tName"},
			[]string{"\treturn Name()", "\tx := Name", "\tif Name == nil {", "\ts.Name = 1", "\tgo Name()",
				"\tdefer Name()", "func Other(Name int) {"},
		},
		"a.ts": {
			[]string{"export function Name(", "class Name extends X {", "export const Name = () => {",
				"  async Name(a: string): Promise<void> {", "  Name: function () {", "Name = async (x) => x",
				"export type Name = string", "interface Name {", "function* Name() {",
				"  readonly Name?: string;", "  Name: (x: number) => void;"},
			[]string{"  Name(x);", "return Name(x)", "import { Name } from x", "if (Name(x)) {", "x.Name()",
				"new Name()", "  Name: x,", "  case Name: x();", "  a = Name ? x : y;"},
		},
		"a.py": {[]string{"def Name(x):", "    async def Name(self):", "class Name(Base):", "Name = 1",
			"Name: int = 2", "    self.Name = x"},
			[]string{"x = Name", "from a import Name", "    Name(x)", "Name == 1", "return Name"}},
		"A.java": {[]string{"public class Name {", "  private static int Name(String a) {",
			"  public <T> List<T> Name(T a);", "record Name(int a) {", "enum Name {",
			"  private final Map<String, Integer> Name = new HashMap<>();"}, []string{"  return Name(a);", "  int x = Name;",
			"  new Name(a);", "  x = Name(a);", "  throw Name(a);", "  foo.Name(a);"}},
		"a.c": {[]string{"struct Name {", "static int Name(void)", "#define Name 1", "char *Name(int a) {", "} Name;",
			"void Klass::Name(int a)"}, []string{"int Name(void);", "  Name(1);", "struct Name *p;", "return Name(1);",
			"else Name(1)"}},
		"a.rs": {[]string{"pub fn Name<T>(a: T) {", "struct Name;", "static mut Name: u8 = 0;", "macro_rules! Name {",
			"pub(crate) const Name: u8 = 1;"}, []string{"Name::new()", "use a::Name;", "impl Name {"}},
		"a.rb": {[]string{"def Name", "def self.Name(x)", "class Name < X", "module Name"},
			[]string{"Name.new", "x = Name", "rescue Error => Name", "  Name => 1,", "Name =~ x"}},
		"a.cs": {[]string{"  private readonly Store<string, int> Name;", "  public int Name { get; set; }",
			"  internal static Name()"}, []string{"  this.Name = x;", "  public Other(Name x) {", "  x = Name;"}},
		"a.kt": {[]string{"fun Name() {", "fun String.Name() {", "enum class Name {", "val Name = 1", "object Name {"},
			[]string{"x.Name()", "return Name()"}},
		"a.sh": {[]string{"function Name {", "Name() {", "Name=1", "export Name=1"},
			[]string{"Name arg", `echo "$Name"`}},
		"a.sql": {[]string{"CREATE TABLE Name (", "create index if not exists Name on x", "CREATE VIEW app.Name AS"},
			[]string{"select * from Name", "insert into Name values"}},
		"a.php": {[]string{"public function Name()", "final class Name {"}, []string{"$this->Name()", "Name::make()"}},
		"a.ex":  {[]string{"def Name do", "defmodule App.Name do"}, []string{"Name.call()"}},
	} {
		for wanted, list := range map[string][]string{"1 definition": lines.yes, "no definitions": lines.no} {
			for _, line := range list {
				r := call(t, tool.FindReferences(tree.Files(map[string]string{file: line + "\n"})),
					`{"name":"Name"}`)
				require.True(t, strings.HasPrefix(r.Text, wanted), "%s: %q gives\n%s%s", file, line, r.Text, r.Problem)
			}
		}
	}
}

func TestCommentsAndStringsAreNoReferences(t *testing.T) {
	t.Parallel()
	for file, lines := range map[string]struct{ yes, no []string }{
		"a.go": {[]string{`x("a", Name, 'b')`, `url("http://x", Name)`, "`a`+Name", `'"' + Name + '"'`},
			[]string{`x("Name")`, "// Name", "/* a\nName\n*/", "`a\nName`", `"\"Name"`}},
		"a.rs":  {[]string{"fn f<'a>(x: &'a Name, y: &'a u8) {"}, []string{"// Name", `x("Name")`}},
		"a.ts":  {[]string{"`a ${Name} b`", "x(`//`, Name)"}, []string{"'Name'", "`a Name`"}},
		"a.py":  {[]string{`f"{Name}"`, "x = '#' + Name"}, []string{"# Name", `"""a` + "\nName\n" + `"""`, "'Name'"}},
		"a.sh":  {[]string{`echo "$Name"`, "x=${#Name}"}, []string{"# Name", "echo 'Name'"}},
		"a.sql": {[]string{"select Name"}, []string{"-- Name", "'Name'"}},
		"a.md":  {[]string{"# Name"}, nil},
	} {
		for _, line := range lines.yes {
			require.Contains(t, call(t, tool.FindReferences(tree.Files(map[string]string{file: line + "\n"})),
				`{"name":"Name"}`).Text, "1 use", "%s: %s", file, line)
		}
		for _, line := range lines.no {
			require.Contains(t, call(t, tool.FindReferences(tree.Files(map[string]string{file: line + "\n"})),
				`{"name":"Name"}`).Text,
				"no definitions\nno uses\n1 file searched; 1 line in comments", "%s: %s", file, line)
		}
	}
}
