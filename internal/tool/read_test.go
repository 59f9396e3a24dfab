package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

// counted is a text of so many lines.
func counted(lines int) string {
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "line %d\n", n+1)
	}
	return b.String()
}

func TestReadFileNumbersAWindow(t *testing.T) {
	t.Parallel()
	head := tree.Files(map[string]string{"a.go": counted(1234), "crlf": "a\r\nb\rc\r\n", "one": "no line feed",
		"empty": "", "blank": "\n"})
	base := tree.Files(map[string]string{"a.go": "before\n"})
	read := tool.ReadFile(head, base).Within(1 << 20)
	for arguments, want := range map[string]string{
		`{"path":"a.go","side":"head","start_line":12,"end_line":13}`: "lines 12 to 13 of 1234\n    12 line 12\n    " +
			"13 line 13\n",
		`{"path":"a.go","side":"base","start_line":0,"end_line":0}`: "lines 1 to 1 of 1\n     1 before\n",
		`{"path":"a.go","start_line":1234,"end_line":9000}`:         "lines 1234 to 1234 of 1234\n  1234 line 1234\n",
		`{"path":"crlf"}`:  "lines 1 to 2 of 2\n     1 a\n     2 b<U+000D>c\n",
		`{"path":"one"}`:   "lines 1 to 1 of 1\n     1 no line feed\n",
		`{"path":"blank"}`: "lines 1 to 1 of 1\n     1 \n",
		`{"path":"empty"}`: "the file is empty",
	} {
		r := call(t, read, arguments)
		require.Empty(t, r.Problem, arguments)
		require.Equal(t, want, r.Text, arguments)
	}
	for _, arguments := range []string{`{"path":"a.go"}`, `{"path":"a.go","start_line":-5,"end_line":5000}`,
		`{"path":"a.go","start_line":1,"end_line":401}`} {
		lines := strings.Split(call(t, read, arguments).Text, "\n")
		require.Equal(t, "lines 1 to 400 of 1234", lines[0])
		require.Len(t, lines, 403)
		require.Equal(t, []string{"   400 line 400", "[continue at line 401]", ""}, lines[400:])
	}
}

func TestReadFileSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	read := tool.ReadFile(tree.Files(map[string]string{"a/b.go": counted(12), "c/b.go": "x\n", "bin": "\x00"}), nil)
	for arguments, want := range map[string]string{
		`{"path":"a/b.go","start_line":13}`:              "the file has 12 lines, so it has none at 13",
		`{"path":"a/b.go","start_line":5,"end_line":4}`:  "end_line 4 is before start_line 5",
		`{"path":"a/b.go","start_line":1,"end_line":-4}`: "end_line -4 is before start_line 1",
		`{"path":"a/b.go","side":"left"}`:                "side is neither head nor base",
		`{"path":"a/b.go","side":"base"}`: "the files before the change are not at hand; only side " +
			"head is",
		`{"path":"bin"}`:                `"bin": the file is not text`,
		`{"path":"a"}`:                  `"a": there is no such file`,
		`{"path":"x.go"}`:               `"x.go": there is no such file`,
		`{}`:                            `the path is not shown: path "" names no file`,
		`{"path":"../../etc/passwd"}`:   `the path is not shown: path "../../etc/passwd" leaves the tree`,
		`{"path":"/proc/self/environ"}`: `the path is not shown: path "/proc/self/environ" is absolute`,
		`{"path":".git/config"}`: `the path is not shown: ".git/config" belongs to Git, or may hold` +
			` credentials by its name; do without it`,
	} {
		r := call(t, read, arguments)
		require.Equal(t, want, r.Problem, arguments)
		require.Empty(t, r.Text)
	}
}

// leaky is a tree that checks nothing.
type leaky struct{ tool.Files }

func (leaky) Read(_ context.Context, path string) ([]byte, error) {
	return []byte("KEY=1 of " + path), nil
}

func TestT8_ReadFileChecksPathsWhateverItsTreeDoes(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/proc/self/environ", "../x", ".env", "a/.git/config", "id_rsa"} {
		r := call(t, tool.ReadFile(leaky{}, leaky{}), fmt.Sprintf(`{"path":%q,"side":"base"}`, path))
		require.Contains(t, r.Problem, "is not shown", path)
	}
}

func TestT31_LongLinesAreCut(t *testing.T) {
	t.Parallel()
	read := tool.ReadFile(tree.Files(map[string]string{"a": strings.Repeat("ä", 900_000/2) + "\nend\n"}), nil)
	text := call(t, read, `{"path":"a"}`).Text
	require.True(t, strings.HasSuffix(text, "ä… (449500 characters more)\n     2 end\n"), text[len(text)-60:])
	require.Less(t, len(text), 1100)
}

func TestT7_ReadFileShowsHiddenCharacters(t *testing.T) {
	t.Parallel()
	read := tool.ReadFile(tree.Files(map[string]string{"a": "if admin\u202e {\u200b\n\u2028x\n"}), nil)
	require.Equal(t, "lines 1 to 2 of 2\n     1 if admin<U+202E> {<U+200B>\n     2 <U+2028>x\n",
		call(t, read, `{"path":"a"}`).Text)
}

func TestT31_AWindowEndsWhereItsBytesDoAndSaysWhereToGoOn(t *testing.T) {
	t.Parallel()
	read := tool.ReadFile(tree.Files(map[string]string{"a": strings.Repeat(strings.Repeat("ä", 45)+"\n", 300)}), nil)
	r := call(t, read, `{"path":"a","start_line":101,"end_line":290}`)
	require.False(t, r.Cut)
	require.True(t, strings.HasPrefix(r.Text, "lines 101 to 243 of 300\n   101 ä"), r.Text[:50])
	require.True(t, strings.HasSuffix(r.Text, "ä\n[continue at line 244]\n"), r.Text[len(r.Text)-50:])
	require.Contains(t, r.Text, "\n   243 ä")
	rest := call(t, read, `{"path":"a","start_line":244,"end_line":290}`).Text
	require.True(t, strings.HasPrefix(rest, "lines 244 to 290 of 300\n   244 ä"), rest[:50])
	require.NotContains(t, rest, "continue")

	for wide, lines := range map[string]int{"𝄞": 100, "\u202e": 100, "x": 1000} {
		text := strings.Repeat(strings.Repeat(wide, 600)+"\n", lines)
		r = call(t, tool.ReadFile(tree.Files(map[string]string{"a": text}), nil), `{"path":"a"}`)
		require.False(t, r.Cut, "%q", wide)
		require.Regexp(t, `\n\[continue at line \d+\]\n$`, r.Text[len(r.Text)-40:])
	}
}

// privateKey is a made-up key of several lines, within a source.
func privateKey() (source, middle string) {
	middle = "Qm9ndXNLZXlNYXRlcmlhbFRoYXRPcGVuc05vdGhpbmdBdEFsbDAxMjM0NTY3ODlh"
	body := strings.Repeat(middle+"\n", 12)
	return "first\n-----BEGIN RSA PRIVATE KEY-----\n" + body + "-----END RSA PRIVATE KEY-----\nlast\n", middle
}

func TestT9_AWindowShowsNoPartOfAKey(t *testing.T) {
	t.Parallel()
	source, middle := privateKey()
	files := tree.Files(map[string]string{"a.txt": source})
	read := tool.ReadFile(files, nil)
	for _, arguments := range []string{`{"path":"a.txt"}`, `{"path":"a.txt","start_line":5,"end_line":6}`,
		`{"path":"a.txt","start_line":8}`} {
		r := call(t, read, arguments)
		require.Empty(t, r.Problem)
		require.NotContains(t, r.Text, middle[:20])
	}
	require.Equal(t, "lines 5 to 6 of 16\n     5 <redacted private-key>\n     6 <redacted private-key>\n",
		call(t, read, `{"path":"a.txt","start_line":5,"end_line":6}`).Text)
	require.Contains(t, call(t, read, `{"path":"a.txt","start_line":16}`).Text, "16 last", "lines keep their numbers")
	require.NotContains(t, call(t, tool.SearchCode(files, nil), `{"query":"^[A-Za-z0-9+/]{64}","regex":true}`).Text,
		middle[:20])
	require.Contains(t, call(t, tool.SearchCode(files, nil), `{"query":"`+middle[:6]+`"}`).Text, "no hits",
		"a search does not spell one out")
	require.Contains(t, call(t, tool.SearchCode(files, nil), `{"query":"last"}`).Text, "a.txt:16: last")
}

// broken is a tree whose source does not answer.
type broken struct{}

func (broken) Read(context.Context, string) ([]byte, error) {
	return nil, errors.New("502\n::error::x")
}
func (broken) List(context.Context) (tree.Listing, error) {
	return tree.Listing{}, errors.New("502\n::error::x")
}
func (broken) Hold(context.Context, []string) ([][]byte, error) {
	return nil, errors.New("502\n::error::x")
}

// listed is a tree that is known, but whose files do not come.
type listed struct{ broken }

func (listed) List(context.Context) (tree.Listing, error) {
	return tree.Listing{Files: []tree.File{{Path: "a"}}}, nil
}

func TestT13_ASourcesErrorIsOneLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "502 ::error::x", call(t, tool.ReadFile(broken{}, nil), `{"path":"a"}`).Problem)
	require.Equal(t, "502 ::error::x", call(t, tool.SearchCode(broken{}, nil), `{"query":"a"}`).Problem)
	require.Equal(t, "502 ::error::x", call(t, tool.FindReferences(broken{}), `{"name":"a"}`).Problem)
	require.Equal(t, "502 ::error::x", call(t, tool.FindReferences(listed{}), `{"name":"a"}`).Problem)
}
