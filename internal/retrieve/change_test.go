package retrieve_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/retrieve"
)

// Words of comments, a test's it, a method's self, a header's guard, an import's alias, one-letter names and some
// methods have users everywhere; those of a constructor, an accessor and the like name its type.
func TestAPackFollowsNamesThatSayWhatIsChanged(t *testing.T) {
	header := "#ifndef A_H\n#define A_H\n#define ONE 1\n#endif\n"
	constructor := "<?php\nclass Key {\n    private $n;\n\n    function turn() {\n        $this->n++;\n    }\n\n" +
		"    function __construct($a) {\n        $this->n = $a;\n    }\n}\n"
	accessor := "class Host {\n  get (p) {\n    return p + 1\n  }\n}\n"
	method := strings.Replace(accessor, "get", "visit", 1)
	visitors := ""
	for _, name := range []string{"One", "Two", "Three"} {
		visitors += "class " + name + " {\n  visit (p) {\n    return 0\n  }\n}\n"
	}
	iterated := "class Reader:\n    def __next__(self):\n        return 1\n"
	for name, tt := range map[string]struct {
		before, after, other, says string
		found                      bool
	}{
		"a.go comment": {"package a\n", "package a\n\n// lone fails where the type and its use differ\n" +
			"func lone() {}\n",
			"package b\n\nfunc b() {\n\tuse(this, and, that)\n}\n", "and", false},
		"a.go alias": {"package a\n\nimport (\n\t\"io\"\n)\n\nvar x io.Reader\n",
			"package a\n\nimport (\n\tclient \"c/v3\"\n\t\"io\"\n)\n\nvar x io.Reader\n",
			"package b\n\nfunc b() {\n\tclient.Get()\n}\n", "client.Get", false},
		"a.rb self": {"class A\n  def self.all(a)\n    a\n  end\nend\n",
			"class A\n  def self.all(a, b)\n    a\n  end\nend\n",
			"class B\n  def start\n    self.new.run\n  end\nend\n", "self.new", false},
		"a.rb it": {"describe A do\n  it 'adds' do\n    sum(1)\n  end\nend\n",
			"describe A do\n  it 'adds' do\n    sum(2)\n  end\nend\n",
			"class B\n  def start\n    it && describe\n  end\nend\n", "it &&", false},
		"a.h guard": {header, strings.Replace(header, "1", "2", 1),
			"#if defined(A_H)\nint a(void) { return 7; }\n#endif\n", "A_H", false},
		"a.h macro": {header, strings.Replace(header, "1", "2", 1),
			"int a(void) { return ONE; }\n", "ONE", true},
		"a.php constructor": {constructor, strings.Replace(constructor, "$a", "$a, $b", 1),
			"<?php\nfunction open() {\n    return new Key(1);\n}\n", "new Key", true},
		"a.php another constructor": {constructor, strings.Replace(constructor, "$a", "$a, $b", 1),
			"<?php\nclass Door extends Wood {\n    function shut() { parent::__construct(); }\n}\n", "Wood", false},
		"a.py iteration": {iterated, strings.Replace(iterated, "return 1", "raise EOFError()", 1),
			"def lines(text):\n    for line in Reader(text):\n        print(line)\n", "in Reader(text)", true},
		"a.js accessor": {accessor, strings.Replace(accessor, "p + 1", "p", 1),
			"function other(map) {\n  return map.get(1)\n}\n", "map.get", false},
		"a.js accessor's class": {accessor, strings.Replace(accessor, "p + 1", "p", 1),
			"function other() {\n  return new Host(1)\n}\n", "new Host", true},
		"a.js method": {method, strings.Replace(method, "p + 1", "p", 1),
			"function other(h) {\n  return h.visit(1)\n}\n", "h.visit", true},
		"a.js method with users everywhere": {method, strings.Replace(method, "p + 1", "p", 1),
			strings.Repeat("function other(h) {\n  return h.visit(1)\n}\n", 200), "h.visit", false},
		"a.js method of many types": {method, strings.Replace(method, "p + 1", "p", 1),
			visitors + "function other(h) {\n  return h.visit(1)\n}\n", "h.visit", false},
		"a.js method of many types, of its own": {method, strings.Replace(method, "p + 1", "p", 1),
			visitors + "function other() {\n  return new Host().visit(1)\n}\n", "().visit", true},
		"test_a.py test": {"def order(a):\n    return a\n", "def order(a):\n    return a + 1\n",
			"def other():\n    return order(2)\n", "order(2)", false},
		"a.cs import": {"class A {\n}\n", "using System.Linq;\nclass A {\n}\n",
			"class B {\n    public string System => x;\n}\n", "string System", false},
		"a.cs conversion": {"class A {\n  long N = 1;\n}\n", "class A {\n  int N = 1;\n}\n",
			"class B {\n    public static explicit operator int(B b) {\n        return 7;\n    }\n}\n", "return 7", false},
		"a.php new": {"<?php\nfunction a() {\n    return 1;\n}\n", "<?php\nfunction a() {\n    return new X(1);\n}\n",
			"<?php\nclass B {\n    static function new($m) {\n        return 7;\n    }\n}\n", "return 7", false},
		"a.php import": {"<?php\nclass A {\n}\n", "<?php\nuse TypeError;\nclass A {\n}\n",
			"<?php\nclass B {\n    function use($m) {\n        return 1;\n    }\n}\n", "function use", false},
	} {
		t.Run(name, func(t *testing.T) {
			file, _, _ := strings.Cut(name, " ")
			c := change{path: file, files: map[string]string{file: tt.after, "b" + path.Ext(file): tt.other}}
			c.patch, _, _ = diff.Between(tt.before, tt.after)
			found := false
			for _, p := range c.pack(t, engine(t, c.files), 4000) {
				found = found || p.Why != retrieve.Similar && strings.Contains(p.Text, tt.says)
			}
			require.Equal(t, tt.found, found)
		})
	}
}

// Nor has it one of two functions of a name, of which it is not known which is meant.
func TestAPackHasNoCodeOfOthersThatAProjectInCKeeps(t *testing.T) {
	c := change{path: "src/sort.c", files: map[string]string{
		"src/sort.c": "int order(robj *o) {\n\treturn limit(pick(o));\n}\n",
		"one/a.c":    "int pick(int a) {\n\treturn 1;\n}\n", "two/a.c": "int pick(int a) {\n\treturn 2;\n}\n",
		"deps/lua/table.c": "int limit(int a) {\n\treturn a;\n}\n", "deps/std/obj.h": "typedef struct robj robj;\n"},
		patch: "@@ -1,3 +1,3 @@\n int order(robj *o) {\n-\treturn 0;\n+\treturn limit(pick(o));\n }"}
	e, _ := c.engine(t, nil)
	for _, p := range c.pack(t, e, 4000) {
		require.Equal(t, retrieve.Similar, p.Why, p.ID())
	}
}

// A word of the language, a field and a method of a type that the file does not name have nothing to do with the only
// function of that name, and a list of exports does not use what it lists.
func TestAPackHasNothingThatOnlySharesAWord(t *testing.T) {
	c := change{path: "src/a.rs", files: map[string]string{
		"src/a.rs":   "pub fn run(s: &Opts) -> &str {\n    keep(s.profile.to_owned())\n}\n",
		"env/in.rs":  "pub fn profile() -> String {\n    text()\n}\n\nfn str() {\n    go()\n}\n",
		"key/key.rs": "impl Secret {\n    fn to_owned(&self) -> Secret {\n        go()\n    }\n}\n",
		"own/own.rs": "pub fn keep(s: u8) -> u8 {\n    s\n}\n",
		"src/b.rs":   "pub use a::{\n    run,\n    other,\n};\n"},
		patch: "@@ -1,3 +1,3 @@\n pub fn run(s: &Opts) -> &str {\n-    \"\"\n+    keep(s.profile.to_owned())\n }"}
	var shown []string
	for _, p := range c.pack(t, engine(t, c.files), 4000) {
		if p.Why != retrieve.Similar {
			shown = append(shown, p.Path)
		}
	}
	require.Equal(t, []string{"own/own.rs"}, shown)
}
