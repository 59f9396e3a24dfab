package retrieve_test

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/retrieve"
)

const many = "-- m1/m.go --\npackage m1\n\nfunc Init() {}\n-- m2/m.go --\npackage m2\n\nfunc Init() {}\n" +
	"-- m3/m.go --\n" +
	"package m3\n\nfunc Init() {}\n"

// A name alone does not make a piece: each row has a text of another file that shares a name with the change, and
// whether the pack has it as such a piece. In the change, OLD becomes NEW.
func TestAPackTellsWhatANameMeans(t *testing.T) {
	for name, tt := range map[string]struct {
		why   retrieve.Why
		says  string
		found bool
		files string // the first is the changed one
	}{
		"1 function of many packages, of another": {retrieve.Calls, "scan.Init()", false,
			"-- a/a.go --\npackage a\n\nfunc Init() { OLD }\n" + many +
				"-- z/z.go --\npackage z\n\nfunc z() {\n\tscan.Init()\n}\n"},
		"1 function of many packages, in the folder": {retrieve.Calls, "go Init()", true,
			"-- a/a.go --\npackage a\n\nfunc Init() { OLD }\n" + many +
				"-- a/z.go --\npackage a\n\nfunc z() {\n\tgo Init()\n}\n"},
		"1 function of many packages, imported": {retrieve.Calls, "a.Init()", true,
			"-- lib/a/a.go --\npackage a\n\nfunc Init() { OLD }\n" + many +
				"-- z/z.go --\npackage z\n\nimport \"x.org/m/lib/a\"\n\nfunc z() {\n\ta.Init()\n}\n"},
		"1 function of a package that is not called as its folder": {retrieve.Calls, "units.Human()", true,
			"-- go-units/u.go --\npackage units\n\nfunc Human() { OLD }\n-- z/z.go --\npackage z\n\nfunc z() {\n" +
				"\tunits.Human()\n}\n"},
		"1 function of the only package, of a field": {retrieve.Calls, "s.Lone()", false,
			"-- a/a.go --\npackage a\n\nfunc Lone() { OLD }\n-- z/z.go --\npackage z\n\nfunc z(s *S) {\n" +
				"\ts.Lone()\n}\n"},
		"1 function of many modules, not imported": {retrieve.Calls, "go(start(", false,
			"-- a/a.ts --\nexport function start() {\n  OLD\n}\n-- b.ts --\nfunction start() {\n  return 1;\n}\n" +
				"-- c.ts --\nfunction start() {\n  return 2;\n}\n-- d.ts --\nfunction start() {\n  return 3;\n}\n" +
				"-- e.ts --\nfunction e() {\n  go(start(1));\n}\n"},
		"1 method that is not exported": {retrieve.Calls, "d.load(", false,
			"-- a/a.go --\npackage a\n\nfunc (s *Store) load() { OLD }\n-- z/z.go --\npackage z\n\n" +
				"func z() {\n\td.load()\n}\n"},
		"1 method, in another type that has one": {retrieve.Calls, "w.load()", false,
			"-- a/a.go --\npackage a\n\nfunc (s *Store) load() { OLD }\n-- a/z.go --\npackage a\n\n" +
				"func (w *Wide) load() {}\n\nfunc (w *Wide) z() {\n\tw.load()\n}\n"},
		"1 method, as a variable": {retrieve.Calls, "trim(title)", false,
			"-- a.ts --\nclass A {\n  get title() {\n    return OLD;\n  }\n}\n-- b.ts --\n" +
				"function b(title) {\n  return trim(title);\n}\n"},
		"1 method, as a property": {retrieve.Calls, "trim(a.title)", true,
			"-- a.ts --\nclass A {\n  get title() {\n    return OLD;\n  }\n}\n-- b.ts --\nfunction b(a) {\n" +
				"  return trim(a.title);\n}\n"},
		"1 constructor, of a class in a signature": {retrieve.Calls, "m.run", false,
			"-- a.py --\nclass Manager:\n    def __init__(self):\n        self.x = OLD\n-- b.py --\n" +
				"from a import Manager\n\n\n" +
				"def b(m: Manager):\n    return m.run\n"},
		"1 constructor": {retrieve.Calls, "Manager(1)", true,
			"-- a.py --\nclass Manager:\n    def __init__(self):\n        self.x = OLD\n-- b.py --\n" +
				"from a import Manager\n\n\n" +
				"def b():\n    return Manager(1)\n"},
		"1 import of several lines": {retrieve.Calls, "run,", false,
			"-- a.py --\ndef run():\n    return OLD\n-- b.py --\nfrom a import (\n    run,\n    walk,\n)\n\n" +
				"LIMIT = walk(3)\n"},
		"1 part of a name in a style sheet": {retrieve.Calls, "get-palette", false,
			"-- a.scss --\n@function get-tokens($x: OLD) {\n  @return 1;\n}\n-- b.scss --\n" +
				"@function b($x) {\n  @return get-palette($x);\n}\n"},
		"1 word of the language": {retrieve.Calls, "other =", false,
			"-- a.go --\npackage a\n\nfunc kept() {}\nOLD-- b.go --\npackage a\n\nconst (\n\tother = 1\n" +
				"\tfurther = 2\n)\n"},
		"2 type that is not exported, of a package's name": {retrieve.Defines, "type view", false,
			"-- a/a.go --\npackage a\n\nimport \"x.org/m/lib/view\"\n\nfunc a(v view.View) { OLD }\n" +
				"-- lib/view/v.go --\npackage view\n\ntype View struct{ Size int }\n-- lib/own.go --\n" +
				"package lib\n\n" +
				"type view struct {\n\tsize int\n}\n"},
		"2 type of the folder": {retrieve.Defines, "Near", true,
			"-- vol/a.go --\npackage vol\n\nimport \"x.org/m/api/types\"\n\nfunc a(p *Point) { OLD; types.X() }\n" +
				"-- vol/b.go --\npackage vol\n\ntype Point struct {\n\tNear int\n}\n-- api/types/t.go --\n" +
				"package types\n\n" +
				"type Point struct {\n\tFar int\n}\n"},
		"2 type of an import, where the folder has one": {retrieve.Defines, "Far", false,
			"-- vol/a.go --\npackage vol\n\nimport \"x.org/m/api/types\"\n\nfunc a(p *Point) { OLD; types.X() }\n" +
				"-- vol/b.go --\npackage vol\n\ntype Point struct {\n\tNear int\n}\n-- api/types/t.go --\n" +
				"package types\n\n" +
				"type Point struct {\n\tFar int\n}\n"},
		"2 overload": {retrieve.Defines, "@overload", false,
			"-- a.py --\nfrom b import get\n\n\ndef a():\n    return OLD + get(1)\n-- b.py --\n" +
				"from typing import overload\n\n\n" +
				"@overload\ndef get(x: None) -> None: ...\n\n\ndef get(x):\n    return x\n"},
		"2 method, as a variable": {retrieve.Defines, "def span", false,
			"-- a.py --\nfrom b import Wide\n\n\ndef a(w: Wide):\n    span = OLD\n    return span\n" +
				"-- b.py --\nclass Wide:\n" +
				"    size = 3\n\n    def span(self):\n        return 1\n"},
		"2 field of a type that the file does not name": {retrieve.Defines, "class Folder", false,
			"-- a.py --\ndef a(p):\n    return p.absolute(OLD)\n-- stubs/b.py --\nclass Folder:\n" +
				"    absolute = 3\n    other = 4\n"},
		"2 head of a class": {retrieve.Defines, "class Base", false,
			"-- a.py --\nfrom b import Base\n\n\ndef a(x: Base):\n    return OLD\n-- b.py --\nclass Base:\n" +
				"    \"\"\"Of all.\"\"\"\n\n" +
				"    def run(self):\n        return 1\n"},
		"2 field of another class of the caller's file": {retrieve.Defines, "other = 4", false,
			"-- a.py --\ndef run(size):\n    return OLD\n-- b.py --\nfrom a import run\n\n\nclass Wide:\n" +
				"    size = 3\n    other = 4\n\n" +
				"    def w(self):\n        return 1\n\n\ndef b(size):\n    return run(size)\n"},
		"3 head and preparation of a test": {retrieve.Tests, "setUp", false,
			"-- src/Range.java --\nclass Range {\n\tint of(int n) {\n\t\treturn OLD;\n\t}\n}\n" +
				"-- test/RangeTest.java --\n" +
				"class RangeTest {\n\tvoid setUp() {\n\t\tr.of(1);\n\t}\n\n\tvoid checks() {\n\t\tr.of(2);\n" +
				"\t}\n}\n"},
		"3 test": {retrieve.Tests, "checks", true,
			"-- src/Range.java --\nclass Range {\n\tint of2(int n) {\n\t\treturn OLD;\n\t}\n}\n" +
				"-- test/RangeTest.java --\n" +
				"class RangeTest {\n\tvoid setUp() {\n\t\tr.go(1);\n\t}\n\n\tvoid checks() {\n" +
				"\t\tr.of2(2);\n\t}\n}\n"},
		"3 test of another package's function of many packages": {retrieve.Tests, "scan.Init()", false,
			"-- a/a.go --\npackage a\n\nfunc Init() { OLD }\n" + many +
				"-- z/z_test.go --\npackage z\n\nfunc TestZ() {\n\tscan.Init()\n}\n"},
		"3 test of a function of many packages, in the folder": {retrieve.Tests, "go Init()", true,
			"-- a/a.go --\npackage a\n\nfunc Init() { OLD }\n" + many +
				"-- a/z_test.go --\npackage a\n\nfunc TestZ() {\n\tgo Init()\n}\n"},
		"3 test that names nothing of the change": {retrieve.Tests, "class", false,
			"-- src/Range.java --\nclass Range {\n\tpublic String toString() {\n\t\treturn OLD;\n\t}\n}\n" +
				"-- test/RangeTest.java --\n" +
				"/* Licence */\nimport a.B;\n\nclass RangeTest {\n\tint n = 3;\n\n\tvoid checks() {\n" +
				"\t\tr.size(2);\n\t}\n}\n" +
				strings.ReplaceAll("-- A.java --\nTEXT-- B.java --\nTEXT-- C.java --\nTEXT", "TEXT",
					"class A {\n\tpublic String toString() {\n\t\treturn a;\n\t}\n}\n")},
		"6 code that uses what a removed line used": {retrieve.Similar, "Duration::from_secs(7)", false,
			"-- a.rs --\nfn run() {\n    wait(OLD);\n}\n-- c/b.rs --\nfn other() {\n" +
				"    sleep(Duration::from_secs(7));\n}\n" +
				"-- d.rs --\nfn user() {\n    run();\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			old, now := "1", "2"
			switch {
			case strings.HasPrefix(name, "1 word"):
				old, now = "\nfunc gone() {\n\tconst hint = 1\n}\n", ""
			case strings.HasPrefix(name, "6"):
				old, now = "Duration::from_secs(30)", "started"
			}
			c := change{files: map[string]string{}}
			for i, f := range txtar.Parse([]byte(tt.files)).Files {
				c.files[f.Name] = strings.Replace(string(f.Data), "OLD", now, 1)
				if i == 0 {
					c.path = f.Name
					c.patch, _, _ = diff.Between(strings.Replace(string(f.Data), "OLD", old, 1), c.files[f.Name])
				}
			}
			found := false
			for _, p := range c.pack(t, engine(t, c.files), 4000) {
				found = found || p.Why == tt.why && strings.Contains(p.Text, tt.says)
			}
			require.Equal(t, tt.found, found)
		})
	}
}
