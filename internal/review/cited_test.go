package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/llmtest"
	"github.com/org/pr-review-action/internal/prompt"
)

// TestWhatProvesAFindingIsShownWhenItIsVerified has places as models write them.
func TestWhatProvesAFindingIsShownWhenItIsVerified(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for n := range 100 {
		fmt.Fprintf(&text, "line %d\n", n+1)
	}
	in := prompt.Input{Path: "src/a.go", Patch: "@@ -48,3 +48,4 @@\n x\n+y\n x\n x\n",
		Pack: []prompt.Piece{{Path: "src/b.c", StartLine: 10, Why: "calls", Text: "one\ntwo\nthree\n"},
			{Path: "far/pack.h", StartLine: 1, Why: "calls", Text: "one\n"}}}
	tree := strings.Fields("a.c b.c c.c d.c e.c f.c g.c src/a.go src/b.c src/c.c src/d.c src/beside.go far/pack.h " +
		"lib/x.test.ts lib/read.go")
	read := finding.FileReview{Calls: []finding.Call{{Tools: []finding.ToolCall{{Arguments: "{"},
		{Arguments: `{"path":"lib/read.go","start_line":1}`}}}}}
	for body, want := range map[string]string{
		"passes the name (src/c.c:20-22), but": "src/c.c 14-28", "`./src/c.c:3` says": "src/c.c 1-9",
		"as lines 90–95 do": "src/a.go 84-100", "in lib/x.test.ts:7 and lib/x.test.ts:9": "lib/x.test.ts 1-13",
		"src/c.c:20 and src/d.c:90": "src/c.c 14-26 src/d.c 84-96", "src/c.c:20-90": "src/c.c 14-80",
		"line 49, lines 48-51": "", "src/b.c:11": "", "src/b.c:11-40": "src/b.c 5-46", "gone.go:3": "",
		"src/c.c:300": "", "src/c.c:9-3": "", "src/c.c:0": "", "at 12:30, pipeline 5": "", "localhost:80": "",
		"`src/c.c:3`, `40-41` and 80": "src/c.c 1-9 src/c.c 34-47 src/c.c 74-86",
		"lines 3 or 90":               "src/a.go 1-9 src/a.go 84-96", "`src/c.c:3`, 3 times": "src/c.c 1-9",
		"(`pack.h:30`)": "far/pack.h 24-36", "a.go:90": "src/a.go 84-96", "far/b.c:30": "", "ack.h:30": "",
		"read.go:9": "lib/read.go 3-15", "beside.go:9": "src/beside.go 3-15", "c.c:90": "c.c 84-96",
		"a.c:9 b.c:9 c.c:9 d.c:9 e.c:9 f.c:9 g.c:9": "a.c 3-15 b.c 3-15 c.c 3-15 d.c 3-15 e.c 3-15 f.c 3-15",
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			m := NewModel(Options{Head: func(_ context.Context, path string) ([]byte, error) {
				if !slices.Contains(tree, path) {
					return nil, errors.New("gone")
				}
				return []byte(text.String()), nil
			}})
			var got []string
			for _, p := range (&task{Model: m, out: read}).cited(t.Context(), in, []finding.Finding{{Body: body}}) {
				require.Equal(t, "cited", p.Why)
				require.True(t, strings.HasPrefix(p.Text, fmt.Sprintf("line %d\n", p.StartLine)))
				got = append(got, fmt.Sprintf("%s %d-%d", p.Path, p.StartLine, p.EndLine()))
			}
			require.Equal(t, want, strings.Join(got, " "))
		})
	}
	reads := 0
	counted := NewModel(Options{Head: func(context.Context, string) ([]byte, error) {
		reads++
		return []byte("x\n"), nil
	}})
	(&task{Model: counted}).cited(t.Context(), in, []finding.Finding{{Body: strings.Repeat("line 49 a.c:9 ", 99)}})
	require.Equal(t, 2, reads, "T31: a file is read once, however often it is named")
	var many strings.Builder
	for n := range 999 {
		fmt.Fprintf(&many, "a%d.c:9 ", n)
	}
	(&task{Model: counted}).cited(t.Context(), in, []finding.Finding{{Body: many.String()}})
	require.Equal(t, 2+maxNamed, reads, "T31: so many files, and no more")
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("MIIEpAIBAAKCAQEA", 4)+"\n", 60) +
		"-----END RSA PRIVATE KEY-----\n"
	keyed := NewModel(Options{Head: func(context.Context, string) ([]byte, error) { return []byte(key), nil }})
	shown := (&task{Model: keyed}).cited(t.Context(), in, []finding.Finding{{Body: "src/key.pem:30"}})
	require.Len(t, shown, 1)
	require.Equal(t, 13, strings.Count(shown[0].Text, "<redacted private-key>\n"), "nor is the middle of a key shown")
	m, server := full(t, claimed(func(r llmtest.Request) llmtest.Answer {
		return llmtest.Verdicts(r, func(llmtest.Claim) bool { return true })
	}, strings.Replace(claim("major", "wrong", ""), `"title"`, `"body":"see lib/x.go:30","title"`, 1)))
	m.Classify, m.Head = nil, func(context.Context, string) ([]byte, error) { return []byte(text.String()), nil }
	_, err := m.Review(t.Context(), file)
	require.NoError(t, err)
	require.Contains(t, asked(server, llmtest.Verify)[0].User, "@@ lib/x.go lines 24-36: a finding names it\n")
	require.Empty(t, (&task{Model: NewModel(Options{})}).cited(t.Context(), in, []finding.Finding{{Body: "c.c:9"}}))
}

// TestWhatAFindingCallsMissingIsShownWhenItIsVerified has the most frequent false finding of those who see only a diff.
func TestWhatAFindingCallsMissingIsShownWhenItIsVerified(t *testing.T) {
	t.Parallel()
	text := "package a\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n)\n" + strings.Repeat("\n", 20) +
		"// total is from load.\nfunc load() error {\n\treturn nil\n}\n" + strings.Repeat("\n", 20) +
		"func run() error {\n\ttotal := load()\n\treturn fmt.Errorf(\"%w\", errors.Join(total))\n}\n"
	in := prompt.Input{Path: "a.go", Patch: "@@ -51,3 +51,4 @@\n func run() error {\n-\treturn nil\n" +
		"+\ttotal := load()\n+\treturn fmt.Errorf(\"%w\", errors.Join(total))\n }\n"}
	m := NewModel(Options{Head: func(context.Context, string) ([]byte, error) { return []byte(text), nil }})
	for claim, want := range map[string]string{
		"The package `errors` is not imported":                "1-10",
		"`errors.Join` needs a missing import":                "1-10",
		"`load()` is undefined, so that the build fails":      "22-34",
		"Nothing declares `run`, it is never called":          "",
		"`fmt` and `load` are not defined here":               "1-11 22-34",
		"`load` returns an error that is wrapped twice":       "",
		"errors is not imported":                              "",
		"`x1`, `x2`, `x3` and `load` do not exist: undefined": "",
	} {
		t.Run(claim, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range (&task{Model: m}).cited(t.Context(), in, []finding.Finding{{Title: claim}}) {
				got = append(got, fmt.Sprintf("%d-%d", p.StartLine, p.EndLine()))
			}
			require.Equal(t, want, strings.Join(got, " "))
		})
	}
}

func TestT31_WhatIsCalledMissingIsLookedForInTime(t *testing.T) {
	t.Parallel()
	const line = "x1 = x2 + x3\n"
	text, began := []byte(strings.Repeat(line, 60_000)), time.Now()
	in := prompt.Input{Path: "a.go", Patch: "@@ -0,0 +1,5000 @@\n" + strings.Repeat("+"+line, 5_000)}
	m := NewModel(Options{Head: func(context.Context, string) ([]byte, error) { return text, nil }})
	claims := slices.Repeat([]finding.Finding{{Title: "`x1`, `x2` and `x3` are undefined"}}, 15)
	require.Len(t, (&task{Model: m}).cited(t.Context(), in, claims), maxCited)
	require.Less(t, time.Since(began), 20*time.Second)
}
