package retrieve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/retrieve"
)

// shown maps the pieces of a pack to what they are to the change.
func (c change) shown(t *testing.T, tokens int) map[string]retrieve.Why {
	t.Helper()
	all := map[string]retrieve.Why{}
	for _, p := range c.pack(t, engine(t, c.files), tokens) {
		all[p.ID()] = p.Why
	}
	return all
}

// A function that the diff shows but for its first line is not shown again, and its many callers leave room for what it
// calls.
func TestAPackOfAFunctionWithManyCallersHasWhatItCalls(t *testing.T) {
	calls := strings.Repeat("\tcheck(n)\n", 40)
	after := "package a\n\nfunc fill(\n\tn int,\n) {\n\t// one\n\t// two\n\t// three\n" + calls +
		"}\n\nvar a, b, c = 1,\n\t2,\n\t3\n\nfunc check(n int) { n++ }\n"
	c := change{path: "a.go", files: map[string]string{"a.go": after}}
	c.patch, _, _ = diff.Between(strings.Replace(after, calls, "", 1), after)
	for i := range 8 {
		c.files[fmt.Sprintf("c%d.go", i)] = fmt.Sprintf("package a\n\nfunc c%d() {\n\tprepareAllThatIsNeeded(%d)\n", i, i) +
			strings.Repeat("\tstepThatIsLongEnoughToCountHere()\n", 8) + "\tfill(1)\n}\n"
	}
	shown := c.shown(t, 1000)
	require.Equal(t, retrieve.Defines, shown["a.go:55-55"])
	require.Equal(t, retrieve.Calls, shown["c3.go:3-14"])
	require.NotContains(t, shown, "a.go:3-49")
	require.NotContains(t, shown, "a.go:5-25")
}

// Nothing outside of a change calls the method of a new file.
func TestAPackOfANewFileHasNoCallsOfAnothersMethod(t *testing.T) {
	after := "pub struct Stream;\n\nimpl Stream {\n    pub fn file_name(self) -> Self {\n        self\n    }\n}\n"
	c := change{path: "src/a.rs", files: map[string]string{"src/a.rs": after,
		"web/form.rs": "pub fn accept(field: Field) {\n    print(field.file_name());\n}\n"}}
	c.patch, _, _ = diff.Between("", after)
	require.NotEqual(t, retrieve.Calls, c.shown(t, 4000)["web/form.rs:1-3"])
	c.patch, _, _ = diff.Between(strings.Replace(after, "self\n    }", "Stream\n    }", 1), after)
	require.Equal(t, retrieve.Calls, c.shown(t, 4000)["web/form.rs:1-3"])
}

// A file that no grammar cuts is shown by lines that name what is changed, or not at all; a plain word that a change
// removed says nothing of a style sheet or a comment.
func TestAPackHasNoWindowWithoutANameOfTheChange(t *testing.T) {
	licence := strings.Repeat("// Licensed by the owners to the users of this work.\n", 20)
	c := change{path: "a.kt", files: map[string]string{"a.kt": "val order = limits.maxRetries(work)\n",
		"b.kt":    licence + "val other = work.sort(limits)\n",
		"c.kt":    licence + "fun maxRetries(work: Int) = work\n",
		"d.css":   ".item {\n  width: 2px;\n}\n",
		"Test.kt": licence + "// item of work\n"},
		patch: "@@ -1,1 +1,1 @@\n-val order = limits.item(work)\n+val order = limits.maxRetries(work)"}
	shown := c.shown(t, 4000)
	require.Contains(t, shown, "c.kt:17-21")
	require.Len(t, shown, 1)
}

// A handler that has the name of what it calls is a caller, and code comes before settings.
func TestAPackHasTheCallerOfTheSameNameBeforeSettings(t *testing.T) {
	c := change{path: "store/store.go", files: map[string]string{
		"store/store.go": "package store\n\nfunc (s *Store) Overdue() int { return 2 }\n",
		"api/api.go":     "package api\n\nfunc Overdue(s *store.Store) int {\n\treturn s.Overdue()\n}\n",
		"a.json":         `{"text": "s.Overdue() ` + strings.Repeat("and so on ", 150) + "\"}\n",
		"b.json":         `{"text": "s.Overdue() ` + strings.Repeat("and so forth ", 150) + "\"}\n"},
		patch: "@@ -1,3 +1,3 @@\n package store\n \n-func (s *Store) Overdue() int { return 1 }\n" +
			"+func (s *Store) Overdue() int { return 2 }"}
	pieces := c.pack(t, engine(t, c.files), 4000)
	require.Equal(t, "api/api.go:3-5", pieces[0].ID())
	require.Equal(t, retrieve.Calls, pieces[0].Why)
}

// A variable in the second half of a function of 250 lines is as local as one in the first.
func TestAPackKnowsTheVariablesOfALongFunction(t *testing.T) {
	filler := strings.Repeat("  step(entry);\n", 240)
	before := "export function answer(entry) {\n" + filler + "  const call = entry[0];\n  send(call);\n}\n"
	after := strings.Replace(before, "entry[0]", "entry[1]", 1)
	c := change{path: "a.js", files: map[string]string{"a.js": after,
		"b.js": "export function other(call) {\n  return call.path;\n}\n",
		"c.js": "import { answer } from './a';\n\nexport function user() {\n  answer(1);\n}\n"}}
	c.patch, _, _ = diff.Between(before, after)
	shown := c.shown(t, 4000)
	require.NotEqual(t, retrieve.Calls, shown["b.js:1-3"])
	require.Equal(t, retrieve.Calls, shown["c.js:3-5"])
}

// A comment that has the name of what is called is above the call; one that began before its window calls nothing.
func TestAPieceShowsCodeBeforeComments(t *testing.T) {
	filler, licence := strings.Repeat("\tprepare()\n", 30), strings.Repeat(" * keeps its limit\n", 100)
	c := change{path: "a.kt", files: map[string]string{"a.kt": "fun limit(): Int { return 2 }\n",
		"b.kt": "// long keeps to the limit.\nfun long() {\n" + filler + "\tuse(limit())\n}\n",
		"c.kt": "fun c() {}\n/*\n" + licence + " */\n"},
		patch: "@@ -1,1 +1,1 @@\n-fun limit(): Int { return 1 }\n+fun limit(): Int { return 2 }"}
	e, _ := c.engine(t, nil)
	calls := map[string]string{}
	for _, p := range c.pack(t, e, 4000) {
		if p.Why == retrieve.Calls {
			calls[p.Path] += p.Text
		}
	}
	require.Contains(t, calls["b.kt"], "use(limit())")
	require.NotContains(t, calls, "c.kt")
}
