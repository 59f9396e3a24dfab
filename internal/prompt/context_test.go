package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

// changed makes the patch that put the lines that hold CHANGED into a file, with
// two lines of context around each.
func changed(head, section string) string {
	lines := strings.Split(head, "\n")
	var patch strings.Builder
	for i, line := range lines {
		if !strings.Contains(line, "CHANGED") {
			continue
		}
		from, to := max(0, i-2), min(len(lines), i+3)
		fmt.Fprintf(&patch, "@@ -%d,%d +%d,%d @@ %s\n", from+1, to-from, from+1, to-from, section)
		for j := from; j < to; j++ {
			if j == i {
				patch.WriteString("-" + strings.ReplaceAll(line, "CHANGED", "before") + "\n+")
			} else {
				patch.WriteString(" ")
			}
			patch.WriteString(lines[j] + "\n")
		}
	}
	return patch.String()
}

// shownLines are the numbers of the lines that a context shows.
func shownLines(t *testing.T, context string) (numbers []int) {
	t.Helper()
	for line := range strings.Lines(context) {
		var n int
		if _, err := fmt.Sscanf(line, "%d", &n); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

const body = "    a\n    b\n    c\n    CHANGED\n    d\n"

func TestContextBeginsAtTheFunctionAroundTheChange(t *testing.T) {
	t.Parallel()
	const tabs = "\ta\n\tb\n\tc\n\tCHANGED\n\td\n"
	deep := strings.ReplaceAll(body, "    ", "        ")
	for name, c := range map[string]struct {
		head string
		want int // the line that the context begins with; 0 for no context
	}{
		"go method": {"package a\n\nfunc (c *C) F(x int) error {\n" + tabs + "}\n", 3},
		"go closure": {"func F() {\n\tx := 1\n\tg.Go(func() error {\n" + strings.ReplaceAll(tabs, "\t",
			"\t\t") + "\t})\n}\n", 1},
		"go after a function":  {"func F() {\n\treturn\n}\n\nvar x = 1\nvar y = 1\nvar CHANGED = 2\n", 0},
		"go signature changed": {"func F() {\n\treturn\n}\n\n// G does.\nfunc G() { CHANGED\n}\n", 0},
		"python method":        {"class A:\n    x = 1\n\n    async def f(self):\n" + deep, 4},
		"python long call":     {"def f():\n    print(\n" + deep, 1},
		"python nested ifs":    {"def f():\n    if a:\n        pass\n    elif b(c):\n" + deep, 1},
		"java": {"class A {\n    @Override\n    public static Map<String, Integer> f(int x) " +
			"throws E {\n" + deep + "    }\n}\n", 3},
		"typescript method":   {"export class A {\n  x = 1;\n  private async f<T>(x: T): Promise<void> {\n" + body, 3},
		"javascript arrow":    {"const x = 1\nexport const f = async (x) => {\n" + body + "}\n", 2},
		"javascript test":     {"describe('a', () => {\n  it('b', async () => {\n" + body + "  })\n})\n", 2},
		"javascript callback": {"function f(xs) {\n  each(xs, (x) => {\n" + body + "  })\n}\n", 1},
		"rust":                {"impl<T> A<T> {\n    pub(crate) async fn f(&self) -> R {\n" + deep + "    }\n}\n", 2},
		"kotlin":              {"class A {\n    override suspend fun f() {\n" + deep, 2},
		"ruby":                {"class A\n  def f(x)\n    y.each do |z|\n" + deep, 2},
		"c in two lines":      {"#include <a.h>\n\nstatic int\nf(int a,\n  int b)\n{\n" + body + "}\n", 4},
		"c# if":               {"void F()\n{\n    if (x)\n    {\n" + deep + "    }\n}\n", 1},
		"c with type":         {"static int f(int a,\n             int b)\n{\n" + body + "}\n", 1},
		"c with label":        {"int f(void)\n{\n    x\nout:\n#ifdef A\n" + body + "}\n", 1},
		"c++ constructor":     {"A::A(int x)\n{\n" + body + "}\n", 1},
		"c#": {"public class A\n{\n    public async Task<int> F(int x)\n    {\n" + deep + "    }\n}\n",
			3},
		"php":      {"<?php\nclass A {\n    public function f($x) {\n" + deep, 3},
		"crlf":     {strings.ReplaceAll("func F() {\n"+tabs+"}\n", "\n", "\r\n"), 1},
		"yaml":     {"a:\n  b:\n" + body, 0},
		"markdown": {"# A\n\ntext\ntext\ntext\nCHANGED\n", 0},
	} {
		got := shownLines(t, Context(changed(c.head, ""), []byte(c.head)))
		if c.want == 0 {
			require.Empty(t, got, name)
			continue
		}
		require.NotEmpty(t, got, name)
		require.Equal(t, c.want, got[0], name)
		require.Equal(t, len(got), got[len(got)-1]-got[0]+1, "%s: all lines to the hunk", name)
	}
}

func TestContextFindsWhatTheHunksHeaderNames(t *testing.T) {
	t.Parallel()
	head := "x\nresource \"aws_x\" \"y\" {\n  a = 1\n" + strings.ReplaceAll(body, "    ", "  ") + "}\n"
	require.Empty(t, Context(changed(head, ""), []byte(head)))
	require.Equal(t, "@@ above line 5\n            2   resource \"aws_x\" \"y\" {\n            3     a = 1\n        "+
		"    4     a", Context(changed(head, `resource "aws_x" "y" {`), []byte(head)))
}

func TestContextOfALongFunctionIsItsSignature(t *testing.T) {
	t.Parallel()
	head := "func F(\n\ta int,\n) error {\n" + strings.Repeat("\tx()\n", 60) + "\tCHANGED\n}\n"
	require.Equal(t, strings.Join([]string{
		"@@ above line 62",
		"            1   func F(",
		"            2   	a int,",
		"            3   ) error {",
		"                … 58 lines left out",
	}, "\n"), Context(changed(head, ""), []byte(head)))
}

func TestContextShowsNoLineTwice(t *testing.T) {
	t.Parallel()
	head := "func F() {\n\ta()\n\tb()\n\tc()\n\tCHANGED\n\td()\n\te()\n\tf()\n\tg()\n\th()\n\ti()\n\tCHANGED\n}\n"
	patch := changed(head, "")
	numbers := shownLines(t, Context(patch, []byte(head)))
	require.Equal(t, []int{1, 2, 8, 9}, numbers)
	hunks, err := diff.Hunks(patch)
	require.NoError(t, err)
	for _, h := range hunks {
		for _, l := range h.Lines {
			require.NotContains(t, numbers, l.New)
		}
	}
}

func TestContextIsBoundedAndLeavesOutWhatItCannotTell(t *testing.T) {
	t.Parallel()
	head := "func F() {\n" + strings.Repeat("\tx()\n", 6) + "\tCHANGED\n}\n"
	patch := changed(head, "")
	require.NotEmpty(t, Context(patch, []byte(head)))
	require.Empty(t, Context(patch, nil))
	require.Empty(t, Context(patch, []byte(strings.ReplaceAll(head, "x()", "y()"))), "another file")
	require.Empty(t, Context(patch, []byte("func F() {\n\tx()\n")), "a shorter file")
	require.Empty(t, Context("no patch", []byte(head)))
	require.Empty(t, Context(patch, []byte(head+strings.Repeat("x", maxHead))))

	many := strings.Repeat("func F() {\n"+strings.Repeat("\tx(\""+strings.Repeat("y", 100)+"\")\n", 9)+"\tCHANGED\n}\n",
		100)
	got := Context(changed(many, ""), []byte(many))
	require.Less(t, len(got), maxContext+2_000)
	require.Regexp(t, `\n… the functions around \d+ more hunks are not shown$`, got)
}

func FuzzContext(f *testing.F) {
	head := "func F() {\n\tx()\n\tx()\n\tx()\n\tx()\n\tCHANGED\n}\n"
	f.Add(changed(head, "func F() {"), head)
	f.Add(changed("A::A()\r\n{\r\n"+body, ""), "A::A()\r\n{\r\n"+body)
	f.Add("@@ -5,2 +4,0 @@ f\n-\ta\n-b\n", "\n\n\xff\x00(=>{\n\tx\n")
	f.Add("@@ -1,0 +999999999 @@\n+\tx\n", "a")
	f.Fuzz(func(t *testing.T, patch, head string) {
		got := Context(patch, []byte(head))
		require.LessOrEqual(t, len(got), maxContext+(maxLead+3)*(maxLine+30))
		lines := strings.Split(head, "\n")
		for _, n := range shownLines(t, got) {
			require.True(t, n >= 1 && n <= len(lines))
		}
	})
}
