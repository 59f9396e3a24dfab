package diff_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

const hunk = "@@ -1,2 +1,2 @@ func f\n a\n-b\n+c\n"

func parse(t *testing.T, text string) []diff.File {
	t.Helper()
	files, err := diff.Parse(strings.NewReader(text), 1<<20)
	require.NoError(t, err)
	return files
}

func TestParseReadsEveryKindOfFile(t *testing.T) {
	t.Parallel()
	patch := strings.TrimSuffix(hunk, "\n")
	for name, c := range map[string]struct {
		text string
		want diff.File
	}{
		"modified": {"diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n" + hunk,
			diff.File{Path: "x.go", Status: diff.Modified, Additions: 1, Deletions: 1, Patch: patch}},
		"added": {"diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ " +
			"-0,0 +1 @@\n+a\n\\ No newline at end of file\n", diff.File{Path: "x", Status: diff.Added, Additions: 1,
			Patch: "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file"}},
		"added, empty": {"diff --git a/x y b/x y\nnew file mode 100644\nindex 0..1\n",
			diff.File{Path: "x y", Status: diff.Added}},
		"removed": {"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 " +
			"@@\n-a\n", diff.File{Path: "x", Status: diff.Removed, Deletions: 1, Patch: "@@ -1 +0,0 @@\n-a"}},
		"renamed": {"diff --git a/old b/dir/new\nsimilarity index 100%\nrename from old\nrename to " +
			"dir/new\n", diff.File{Path: "dir/new", OldPath: "old", Status: diff.Renamed}},
		"renamed, edited": {"diff --git a/old b/new\nsimilarity index 90%\nrename from old\nrename to new\n--- " +
			"a/old\n+++ b/new\n" + hunk, diff.File{Path: "new", OldPath: "old", Status: diff.Renamed, Additions: 1,
			Deletions: 1, Patch: patch}},
		"copied": {"diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n",
			diff.File{Path: "y", OldPath: "x", Status: diff.Copied}},
		"mode alone": {"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
			diff.File{Path: "x", Status: diff.Changed}},
		"binary": {"diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png " +
			"differ\n", diff.File{Path: "x.png", Status: diff.Modified, Binary: true}},
		"binary patch": {"diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral " +
			"2\nJcmZQzWB>pF00IC2\n\nliteral 1\nIcmZPo000310RR91\n\n",
			diff.File{Path: "x", Status: diff.Modified, Binary: true}},
		"quoted": {"diff --git \"a/gr\\303\\274n\\t.go\" \"b/gr\\303\\274n\\t.go\"\n--- " +
			"\"a/gr\\303\\274n\\t.go\"\n+++ \"b/gr\\303\\274n\\t.go\"\n" + hunk,
			diff.File{Path: "grün\t.go", Status: diff.Modified, Additions: 1, Deletions: 1, Patch: patch}},
		"spaces": {"diff --git a/x b/y b/x b/y\n--- a/x b/y\t\n+++ b/x b/y\t\n" + hunk,
			diff.File{Path: "x b/y", Status: diff.Modified, Additions: 1, Deletions: 1, Patch: patch}},
		"no prefix": {"diff --git src/x.go src/x.go\n--- src/x.go\n+++ src/x.go\n" + hunk,
			diff.File{Path: "src/x.go", Status: diff.Modified, Additions: 1, Deletions: 1, Patch: patch}},
		"own prefixes": {"diff --git i/src/x.go w/src/x.go\n--- i/src/x.go\n+++ w/src/x.go\n" + hunk,
			diff.File{Path: "src/x.go", Status: diff.Modified, Additions: 1, Deletions: 1, Patch: patch}},
		"plain": {"diff -u old/x.go new/x.go\n--- old/x.go\t2026-01-01 00:00:00.0 +0000\n+++ " +
			"new/x.go\t2026-01-02\n" + hunk, diff.File{Path: "x.go", Status: diff.Modified, Additions: 1, Deletions: 1,
			Patch: patch}},
		"plain, new": {"--- /dev/null\n+++ b/x.go\n@@ -0,0 +1 @@\n+a\n",
			diff.File{Path: "x.go", Status: diff.Added, Additions: 1, Patch: "@@ -0,0 +1 @@\n+a"}},
		"plain binary": {"Only in b: z\nBinary files a/x.png and b/x.png differ\n",
			diff.File{Path: "x.png", Status: diff.Modified, Binary: true}},
		"CRLF content": {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n",
			diff.File{Path: "x", Status: diff.Modified, Additions: 1, Deletions: 1, Patch: "@@ -1 +1 @@\n-a\r\n+b\r"}},
		"CRLF file": {"diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n",
			diff.File{Path: "x", Status: diff.Modified, Additions: 1, Deletions: 1,
				Patch: "@@ -1 +1 @@\r\n-a\r\n+b\r"}},
		"mail": {"From 1a2b Mon Sep 17\nSubject: x\n\n---\n x | 2 +-\n\ndiff --git a/x b/x\n--- " +
			"a/x\n+++ b/x\n" + hunk + "-- \n2.39.0\n\n",
			diff.File{Path: "x", Status: diff.Modified, Additions: 1, Deletions: 1, Patch: patch}},
		"empty context": {"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n\n", diff.File{Path: "x",
			Status: diff.Modified, Additions: 1, Deletions: 1, Patch: "@@ -1,2 +1,2 @@\n-a\n+b\n\n"}},
		"file to link": {"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 " +
			"@@\n-a\ndiff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n",
			diff.File{Path: "x", Status: diff.Modified, Additions: 1, Deletions: 1,
				Patch: "@@ -1 +0,0 @@\n-a\n@@ -0,0 +1 @@\n+y"}},
		"lines like headers": {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n-b\n+++ b\n+@@ -1 " +
			"+1 @@\n", diff.File{Path: "x", Status: diff.Modified, Additions: 2, Deletions: 2,
			Patch: "@@ -1,2 +1,2 @@\n--- a\n-b\n+++ b\n+@@ -1 +1 @@"}},
	} {
		require.Equal(t, []diff.File{c.want}, parse(t, c.text), name)
		_, err := diff.NewAnchors(c.want.Patch)
		require.NoError(t, err, name)
	}
}

func TestParseOfNothingIsAnEmptyList(t *testing.T) {
	t.Parallel()
	require.Empty(t, parse(t, ""))
	require.Empty(t, parse(t, "\n \n"))
}

func TestT29_ParseRefusesWhatIsNoWholeDiff(t *testing.T) {
	t.Parallel()
	head := "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
	for name, c := range map[string]struct {
		text, message string
		is            error
	}{
		"prose": {"\n\nhello\nworld\n", "line 3: not a unified diff", diff.ErrNotDiff},
		"UTF-16": {"\xff\xfed\x00i\x00f\x00f\x00", "text in UTF-16, as PowerShell's > may write it, is not a unified",
			diff.ErrNotDiff},
		"hunks alone": {hunk, "line 1: a hunk without a file's header", diff.ErrNotDiff},
		"combined":    {"diff --cc x\nindex 1,2..3\n", "line 1: a combined diff", diff.ErrCombined},
		"cut off":     {head + "@@ -1,2 +1,2 @@\n a\n", `line 6: hunk of line 4 is cut off`, nil},
		"too few": {head + "@@ -1,3 +1,3 @@\n a\n-b\n+c\n" + "diff --git a/y b/y\n",
			"line 8: \"diff --git a/y b/y\" does not fit", nil},
		"too many":       {head + hunk + "+d\n", `line 8: "+d" belongs to no hunk`, nil},
		"backwards":      {head + "@@ -9 +9 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n", "line 7: hunk starts before", nil},
		"huge number":    {head + "@@ -1,99999999999 +1 @@\n", "line 4:", nil},
		"other name":     {"diff --git a/x b/x\n--- a/x\n+++ b/y\n" + hunk, "two different files", nil},
		"twice":          {head + hunk + head + hunk, "line 8: \"x\" comes a second time", nil},
		"damaged name":   {"diff --git a/x b/y\nrename from \"\\q\"\nrename to y\n", "line 2: the quoted name", nil},
		"bad hunk count": {head + "@@ -x +1 @@\n", "line 4:", nil},
	} {
		_, err := diff.Parse(strings.NewReader(c.text), 1<<20)
		require.ErrorContains(t, err, c.message, name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, name)
		}
	}
	_, err := diff.Parse(strings.NewReader("12345"), 4)
	require.ErrorIs(t, err, diff.ErrTooLarge)
}

// TestParseReadsWhatGitWrites holds the parser against git's own list of names.
func TestParseReadsWhatGitWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t", "-c",
			"core.fileMode=true"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	git("init", "-q")
	body := strings.Repeat("line\n", 30)
	for _, name := range []string{"plain", "with space", "grün", "tab\there", "quote\"x", "dir/a b/c", "gone", "moved",
		"mode", "a b/x b/y"} {
		write(name, name+"\n"+body)
	}
	write("bin", "a\x00b")
	git("add", ".")
	git("commit", "-qm", "one")
	for _, name := range []string{"plain", "with space", "grün", "tab\there", "quote\"x", "dir/a b/c", "a b/x b/y"} {
		write(name, name+"\n"+body+"more")
	}
	write("bin", "a\x00c")
	write("empty new", "")
	git("rm", "-q", "gone")
	git("mv", "moved", "to here")
	require.NoError(t, os.Chmod(filepath.Join(dir, "mode"), 0o700))
	git("add", ".")
	for _, flag := range []string{"--src-prefix=a/", "--no-prefix", "--binary", "--src-prefix=old/", "-U0", "-R"} {
		files := parse(t, git("diff", "--cached", "-M", flag))
		var names []string
		for _, f := range files {
			names = append(names, f.Path)
			_, err := diff.NewAnchors(f.Patch)
			require.NoError(t, err)
		}
		want := strings.Split(strings.TrimSuffix(git("diff", "--cached", "-M", "--name-only", "-z", flag), "\x00"),
			"\x00")
		require.Equal(t, want, names, flag)
	}
}

func TestParseOf2000FilesIsFast(t *testing.T) {
	t.Parallel()
	body := strings.Repeat(" context line of a file\n-gone line of a file\n+new line of a file\n", 50)
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "diff --git a/f%d.go b/f%d.go\n--- a/f%d.go\n+++ b/f%d.go\n@@ -1,100 +1,100 @@\n%s", i, i, i, i,
			body)
	}
	text := b.String()
	start := time.Now()
	files, err := diff.Parse(strings.NewReader(text), 64<<20)
	took := time.Since(start)
	require.NoError(t, err)
	require.Len(t, files, 2000)
	require.Less(t, took, time.Minute, "some 50 ms on a quiet machine; 6 s were seen beside thirty others")
	t.Logf("%d bytes in %v", len(text), took)
}

func FuzzParse(f *testing.F) {
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk)
	f.Add("--- x\n+++ x\n" + hunk + "\\ No newline at end of file\n")
	f.Add("diff --git \"a/\\303\" b/x\nrename from x\nrename to \"y\"\nGIT binary patch\n")
	f.Add("Binary files a and b differ\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := diff.Parse(strings.NewReader(text), 1<<16)
		if err != nil {
			return
		}
		for _, file := range files {
			require.NotEmpty(t, file.Path)
			hunks, err := diff.Hunks(file.Patch)
			require.NoError(t, err, "%q", file.Patch)
			n := 0
			for _, h := range hunks {
				for _, l := range h.Lines {
					if l.Op != diff.Context {
						n++
					}
				}
			}
			require.Equal(t, file.Changes(), n)
		}
	})
}
