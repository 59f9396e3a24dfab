package trace

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/column"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/finding"
)

func used3(in, out, micro int64) cost.Usage {
	return cost.Usage{InputTokens: in, OutputTokens: out, Calls: 1, Cost: cost.MicroUSD(micro)}
}

func example() Node {
	return Node{Name: "octo/demo#7", Time: 125 * time.Second, Usage: used3(41234, 3120, 213000), End: "PAUSED",
		Children: []Node{
			{Name: "internal/flow/a/very/long/path/that/goes/on/and/on/app.go", Time: 8200 * time.Millisecond,
				Usage: used3(9000, 800, 3100), End: "reviewed", Children: []Node{
					{Name: "classify gpt-6-luna", Time: 800 * time.Millisecond, Usage: used3(1200, 40, 300),
						End: "stop"},
					{Name: "review gpt-5", Time: 3 * time.Second, Usage: used3(4000, 300, 1300), End: "tool_calls",
						Tools: []finding.ToolCall{
							{Name: "read_file", Arguments: `{"path":"internal/app/app.go","start":1,"end":200}`,
								Bytes: 2111},
							{Name: "search_code", Arguments: `{"query":"x"}`,
								Problem: "the query is too short to be worth a search"},
						}},
				}},
			{Name: "文件/目录.go", Time: -1, End: "skipped"},
		}}
}

func TestTheTreeOfARun(t *testing.T) {
	t.Parallel()
	want := `
  time      in     out      cost
 2m05s   41.2k    3.1k     $0.21  octo/demo#7  PAUSED
  8.2s    9.0k     800   $0.0031  ├─ internal/flow/a/…on/and/on/app.go  reviewed
  0.8s    1.2k      40   $0.0003  │  ├─ classify gpt-6-luna  stop
  3.0s    4.0k     300   $0.0013  │  └─ review gpt-5  tool_calls
                                  │     ├─ 2.1 kB  read_file {"path":"internal/…
                                  │     └─ no result: the query is too short to…
                                  └─ 文件/目录.go  skipped
`
	require.Equal(t, want, "\n"+Tree(example(), 0))
}

func TestNoRowOfTheTreeIsWiderThanAsked(t *testing.T) {
	t.Parallel()
	for wide := 1; wide < 200; wide++ {
		rows := strings.Split(strings.TrimSuffix(Tree(example(), wide), "\n"), "\n")
		require.Len(t, rows, 8)
		for _, row := range rows {
			require.LessOrEqual(t, column.Width(row), wide, row)
			require.True(t, utf8.ValidString(row))
		}
	}
}

func TestNotesAreToldWhole(t *testing.T) {
	t.Parallel()
	run := Node{Name: "run", Time: -1, Children: []Node{
		{Name: "a.go", Time: -1, Notes: []string{"a first note that is longer than a row", "a second"}},
	}}
	require.Equal(t, `
  time      in     out      cost
                                  run
                                  └─ a.go
                                     ├─ a first note that is
                                     │  longer than a row
                                     └─ a second
`, "\n"+Tree(run, 64))
	require.Equal(t, `

run
└─ a.go
   ├─ a first note that is
   │  longer than a row
   └─ a second
`, "\n"+Tree(run, 30))
}

func TestT9_TheTreeIsSafeOnATerminal(t *testing.T) {
	t.Parallel()
	shown := Tree(Node{Name: hostile, End: hostile, Tools: []finding.ToolCall{{Name: hostile, Arguments: hostile},
		{Problem: hostile}}, Children: []Node{{Name: "::error::x"}}}, 200)
	for _, bad := range []string{"\x1b", "\u202e", "\xff", "─ ::"} {
		require.NotContains(t, shown, bad)
	}
	require.Equal(t, 5, strings.Count(shown, "\n"))
}

func TestNumbersOfTheTreeStayShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 999_949: "999.9k", 999_950: "1.0M",
		12_345_678: "12.3M"} {
		require.Equal(t, want, tokens(n))
	}
	for d, want := range map[time.Duration]string{-1: "", 0: "0.0s", 99_900 * time.Millisecond: "99.9s",
		100 * time.Second: "1m40s", time.Hour: "60m00s"} {
		require.Equal(t, want, duration(d))
	}
	require.Equal(t, "999 B", resultOf(finding.ToolCall{Bytes: 999}))
}

func FuzzTree(f *testing.F) {
	f.Add("a/b.go", "{}", 80)
	f.Add(hostile, "\u0301\u200d\U0001f468", 3)
	f.Fuzz(func(t *testing.T, name, arguments string, wide int) {
		wide = max(1, wide%300)
		run := Node{Name: name, Notes: []string{arguments, name}, Children: []Node{{Name: arguments,
			Tools: []finding.ToolCall{{Name: name, Arguments: arguments, Problem: arguments}}}}}
		for row := range strings.Lines(Tree(run, wide)) {
			require.LessOrEqual(t, column.Width(strings.TrimSuffix(row, "\n")), wide)
		}
	})
}
