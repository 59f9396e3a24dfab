package tool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

var project = map[string]string{
	"main.go":           "package main\n\n\tif open(x) { // open it\n\t\topened()\n",
	"sub/a.ts":          "open(x)\nOPEN\n",
	"sub/deep/b.ts":     "const open = 1\n",
	"vendor/v.go":       "open(vendored)\n",
	"web/app.min.js":    "open(packed)\n",
	"package-lock.json": "open(lock)\n",
	"web/bundle.js":     strings.Repeat("open(x);", 2000),
	"docs/long.md": strings.Repeat("- ", 300) + "the open needle" + strings.Repeat(" -", 300) +
		strings.Repeat("\nfew words", 40),
	"bin":                  "open\x00",
	"odd\nname.txt":        "open\n",
	"sub/node_modules/x.c": "open\n",
}

func TestSearchCodeFindsLinesByPath(t *testing.T) {
	t.Parallel()
	search := tool.SearchCode(tree.Files(project), nil)
	passed := "; 5 vendored, lock or minified files passed over\n"
	for arguments, want := range map[string]string{
		`{"query":"open(x)","path":"","regex":false}`: "2 hits in 2 files\nmain.go:3: if open(x) { // open " +
			"it\nsub/a.ts:1: open(x)\n5 files searched" + passed,
		`{"query":"open","path":"sub"}`: "2 hits in 2 files\nsub/a.ts:1: open(x)\nsub/deep/b.ts:1: " +
			"const open = 1\n2 files searched; 1 vendored, lock or minified files passed over\n",
		`{"query":"open","path":"./sub/"}`: "2 hits in 2 files\nsub/a.ts:1: open(x)\nsub/deep/b.ts:1: " +
			"const open = 1\n2 files searched; 1 vendored, lock or minified files passed over\n",
		`{"query":"(?i)^open$","regex":true}`: "2 hits in 2 files\nodd<U+000A>name.txt:1: open\nsub/a.ts:2: " +
			"OPEN\n5 files searched" + passed,
		`{"query":"open","path":"*.ts"}`: "2 hits in 2 files\nsub/a.ts:1: open(x)\nsub/deep/b.ts:1: " +
			"const open = 1\n2 files searched\n",
		`{"query":"open","path":"sub/**/b.{ts,go}"}`: "1 hit in 1 file\nsub/deep/b.ts:1: const open = 1\n1 file " +
			"searched\n",
		`{"query":"open","path":"vendor"}`: "1 hit in 1 file\nvendor/v.go:1: open(vendored)\n1 file " +
			"searched\n",
		`{"query":"open","path":"vendor/**"}`: "1 hit in 1 file\nvendor/v.go:1: open(vendored)\n1 file " +
			"searched\n",
		`{"query":"open","path":"package-lock.json"}`: "1 hit in 1 file\npackage-lock.json:1: open(lock)\n1 file " +
			"searched\n",
		`{"query":"closed","path":"main.go"}`: "no hits\n1 file searched\n",
	} {
		t.Run(arguments, func(t *testing.T) {
			r := call(t, search, arguments)
			require.Empty(t, r.Problem)
			require.Equal(t, want, r.Text)
		})
	}
	long := strings.Split(call(t, search, `{"query":"needle"}`).Text, "\n")[1]
	require.Contains(t, long, "the open needle")
	require.True(t, strings.HasPrefix(long, "docs/long.md:1: …") && strings.HasSuffix(long, "…"), long)
	require.Less(t, len(long), 230)
}

func TestSearchCodeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	files := maps.Clone(project)
	for i := range 5 {
		files[fmt.Sprintf("n%d/same.md", i)] = ""
	}
	for arguments, want := range map[string]string{
		`{"query":" "}`:    "query is empty",
		`{"query":"a\nb"}`: "query contains a line break",
		`{"query":"(","regex":true}`: "query is not an RE2 expression (error parsing regexp: missing " +
			"closing ): `(`)",
		`{"query":"(?=a)","regex":true}`:               "look-around and back-references are not supported",
		`{"query":"((a{1000}){1000})","regex":true}`:   "query is not an RE2 expression",
		`{"query":"a","path":"[a"}`:                    "path is not a glob",
		`{"query":"a","path":"{a,b}{a,b}"}`:            "more than one pair of braces",
		`{"query":"` + strings.Repeat("a", 501) + `"}`: "longer than 500 bytes",
		`{"query":"a","path":"deep"}`:                  "path matches no file; near it: [\"sub/deep\"]",
		`{"query":"a","path":"lib/b.ts"}`:              "path matches no file; near it: [\"sub/deep/b.ts\"]",
		`{"query":"a","path":"sub/deep/tests/*x*"}`:    "path matches no file; near it: [\"sub/deep\"]",
		`{"query":"a","path":"name.txt"}`:              "path matches no file",
		`{"query":"a","path":"x/same.md"}`:             `near it: ["n0/same.md" "n1/same.md" "n2/same.md"]`,
		`{"query":"a","path":"odd\nname.txt/x"}`:       `path matches no file; near it: ["odd\nname.txt"]`,
		`{"query":"a","path":"*.zig"}`:                 "path matches no file",
	} {
		require.Contains(t, call(t, tool.SearchCode(tree.Files(files), nil), arguments).Problem, want, arguments)
	}
}

func TestT31_ASearchSaysThatFilesAreMissingInATree(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range tree.MaxFiles + 1 {
		files[fmt.Sprint(i)] = ""
	}
	search := tool.SearchCode(tree.Files(files), nil)
	const why = "; not all files: the tree has more than 50000 files"
	require.Contains(t, call(t, search, `{"query":"z"}`).Text, "no hits\n50000 files searched"+why)
	require.Contains(t, call(t, search, `{"query":"z","path":"a"}`).Text, "no hits\n0 files searched"+why)
}

func TestT31_HitsAreCutWithTheirTotal(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": strings.Repeat("hit\n", 1000)}
	for i := range 100 {
		files[fmt.Sprintf("b/%03d.txt", i)] = "hit\nhit\n"
	}
	lines := strings.Split(call(t, tool.SearchCode(tree.Files(files), nil), `{"query":"hit"}`).Text, "\n")
	require.Equal(t, "1200 hits in 101 files, not all shown: give search_code a path or a longer query", lines[0])
	require.Equal(t, "a.txt:12: hit", lines[12])
	require.Equal(t, "a.txt: 988 more", lines[13])
	require.Equal(t, "b/000.txt:1: hit", lines[14])
	require.Len(t, lines, 1+60+2)
	one := call(t, tool.SearchCode(tree.Files(files), nil), `{"query":"hit","path":"a.txt"}`).Text
	require.Contains(t, one, "\na.txt:60: hit\n", "all that fits is of the file that was asked about")
}

func TestP11_ASearchGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	want := call(t, tool.SearchCode(tree.Files(project), nil), `{"query":"open"}`).Text
	for range 20 {
		require.Equal(t, want, call(t, tool.SearchCode(tree.Files(project), nil), `{"query":"open"}`).Text)
	}
}

// clone is a repository of texts by path, which are their hashes too; one that is "gone" is listed only.
type clone map[string]string

func (c clone) Run(context.Context, ...string) ([]byte, error) {
	var b bytes.Buffer
	for path, text := range c {
		fmt.Fprintf(&b, "100644 blob %s %d\t%s\x00", path, len(text), path)
	}
	return b.Bytes(), nil
}

func (c clone) Blobs(ctx context.Context, hashes []string) (texts [][]byte, err error) {
	for _, hash := range hashes {
		if c[hash] == "gone" {
			return nil, errors.New("git has no file " + hash)
		}
		texts = append(texts, []byte(c[hash]))
	}
	return texts, ctx.Err()
}

func TestP11_SearchesAtOnceGiveTheBytesOfOneAlone(t *testing.T) {
	t.Parallel()
	texts, names := clone{"bin": "\x00 name1 name2 name3"}, []string{"name1", "name2", "name3", "name4"}
	for i := range 300 {
		texts[fmt.Sprintf("%03d.go", i)] = fmt.Sprintf("func name%d() {\n\tx()\n}\n", i) + strings.Repeat("\n", i*30)
	}
	commit := strings.Repeat("12", 20)
	shared := tool.FindReferences(tree.Clone(texts, commit))
	var group sync.WaitGroup
	for i := range 16 {
		arguments := fmt.Sprintf(`{"name":%q}`, names[i%4])
		group.Go(func() {
			want := call(t, tool.FindReferences(tree.Clone(texts, commit)), arguments).Text
			assert.Contains(t, want, "300 files searched\n")
			assert.Equal(t, want, call(t, shared, arguments).Text)
			assert.Equal(t, want, call(t, shared, arguments).Text)
		})
	}
	group.Wait()
}

func TestASearchThatCannotReadOrIsStoppedSaysSo(t *testing.T) {
	t.Parallel()
	search := tool.SearchCode(tree.Clone(clone{"a/a": "hit\n", "b": "gone"}, strings.Repeat("12", 20)), nil)
	require.Contains(t, call(t, search, `{"query":"hit"}`).Problem, "git has no file b")
	require.Equal(t, "1 hit in 1 file\na/a:1: hit\n1 file searched\n", call(t, search, `{"query":"hit","path":"a"}`).Text)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		set := tool.NewSet(tool.SearchCode(ending{tree.Files(project), cancel}, nil))
		call := llm.Call{Name: "search_code", Arguments: `{"query":"a"}`}
		require.Equal(t, "the review was stopped", set.Call(ctx, call).Problem)
	}
}

// ending is a tree whose review ends when it is read.
type ending struct {
	tool.Files
	end func()
}

func (e ending) Hold(ctx context.Context, _ []string) ([][]byte, error) {
	e.end()
	return nil, ctx.Err()
}

// slow is a tree that takes four seconds to read some files, as long as it is waited for.
type slow struct{ tool.Files }

func (s slow) Hold(ctx context.Context, paths []string) ([][]byte, error) {
	select {
	case <-time.After(4 * time.Second):
		return s.Files.Hold(ctx, paths[:min(len(paths), 200)])
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestT31_ASearchTellsWhatItFoundWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	files := map[string]string{"setup.py": "hit = 1\n", "odd\nname/x.py": "hit\n", "vendor/x.py": "hit\n"}
	for i := range 500 {
		files[fmt.Sprintf("a%d/%03d.py", i/450, i)] = "x = hit\n"
	}
	const first = "INCOMPLETE: stopped after 10s, 102 files not searched, from "
	const passed = "400 files searched; 1 vendored, lock or minified files passed over\n"
	synctest.Test(t, func(t *testing.T) {
		r := call(t, tool.SearchCode(slow{tree.Files(files)}, nil), `{"query":"hit"}`)
		require.True(t, strings.HasPrefix(r.Text, first+"a0/400.py on: give search_code a path\n400 hits in 400 files, "+
			"not all shown"), r.Text[:200])
		require.True(t, strings.HasSuffix(r.Text, "\n"+passed))
	})
	synctest.Test(t, func(t *testing.T) {
		engine := engine(t, map[string]string{"a.go": "// a limit of attempts\n"})
		r := call(t, tool.SearchCode(slow{tree.Files(files)}, engine), `{"query":"what is the limit"}`)
		require.Equal(t, first+"a0/400.py on: give search_code a path\nno hits\n"+passed+"\n1 piece by rank, which need "+
			"not have just these words:\na.go:1-1: func f0\n     1 // a limit of attempts\n", r.Text)
	})
	synctest.Test(t, func(t *testing.T) {
		r := call(t, tool.FindReferences(slow{tree.Files(files)}), `{"name":"nowhere"}`)
		require.Equal(t, first+"a0/400.py on: give search_code a path\nno definitions\nno uses\n"+passed, r.Text)
	})
}

func TestT31_HostileExpressionsTakeLittleTime(t *testing.T) {
	t.Parallel()
	files := tree.Files(map[string]string{"a": strings.Repeat(strings.Repeat("a", 120)+"\n", 8000),
		"b": strings.Repeat("\n", tree.MaxFile)})
	start := time.Now()
	for _, query := range []string{`(a*)*b`, `[^b]*`, `(?s).*.*.*x`, `(a?){30}a{30}b`} {
		require.Empty(t, call(t, tool.SearchCode(files, nil), fmt.Sprintf(`{"query":%q,"regex":true}`, query)).Problem)
	}
	require.Less(t, time.Since(start), 60*time.Second)
	for _, query := range []string{`(a|b){900}(c|d){900}`, `\w{1000}`} {
		require.Contains(t, call(t, tool.SearchCode(files, nil),
			fmt.Sprintf(`{"query":%q,"regex":true}`, query)).Problem,
			"repeats too much")
	}
}

func TestTheSearchesSayThatDependenciesAreNotSearched(t *testing.T) {
	t.Parallel()
	files := tree.Files(project)
	for _, offer := range tool.NewSet(tool.SearchCode(files, nil), tool.FindReferences(files)).Offers() {
		require.Regexp(t, `(?i)\bdependencies .*(?:never|not searched)\.$`, offer.Description)
	}
}
