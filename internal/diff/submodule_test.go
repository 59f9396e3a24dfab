package diff_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/diff"
)

const submoduleLog = `Submodule libs/x 1234567..89abcde:
  > Second commit
  > First commit
Submodule libs/new 0000000...89abcde (new submodule)
Submodule libs/gone 1234567...0000000 (submodule deleted)
Submodule libs/dirty contains untracked content
diff --git a/a.go b/a.go
--- a/a.go
+++ b/a.go
@@ -1 +1 @@
-1
+2
`

func TestSubmodulesAreReadAsGitWritesThemAtLength(t *testing.T) {
	t.Parallel()
	files, err := diff.Parse(strings.NewReader(submoduleLog), 1<<20)
	require.NoError(t, err)
	var got []string
	for _, f := range files {
		got = append(got, string(f.Status)+" "+f.Path+" "+strings.ReplaceAll(f.Patch, "\n", "|"))
	}
	require.Equal(t, []string{
		"modified libs/x @@ -1 +1 @@|-Subproject commit 1234567|+Subproject commit 89abcde",
		"added libs/new @@ -0,0 +1 @@|+Subproject commit 89abcde",
		"removed libs/gone @@ -1 +0,0 @@|-Subproject commit 1234567",
		"modified libs/dirty ",
		"modified a.go @@ -1 +1 @@|-1|+2",
	}, got)
	for _, f := range files {
		_, err := f.Hunks()
		require.NoError(t, err, f.Path)
	}
}

func TestADiffForATerminalIsReadWithoutItsColours(t *testing.T) {
	t.Parallel()
	plain := "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@ func a() {\n-one\n+two\n"
	colored := "\x1b[1mdiff --git a/a.go b/a.go\x1b[m\n\x1b[1mindex 1..2 100644\x1b[m\n\x1b[1m--- a/a.go\x1b[m\n" +
		"\x1b[1m+++ b/a.go\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m func a() " +
		"{\n\x1b[31m-one\x1b[m\n\x1b[32m+\x1b[m\x1b[32mtwo\x1b[m\n"
	want, err := diff.Parse(strings.NewReader(plain), 1<<20)
	require.NoError(t, err)
	got, err := diff.Parse(strings.NewReader(colored), 1<<20)
	require.NoError(t, err)
	require.Equal(t, want, got)

	escape := strings.Replace(plain, "+two", "+\x1b[31mtwo", 1)
	got, err = diff.Parse(strings.NewReader(escape), 1<<20)
	require.NoError(t, err)
	require.Contains(t, got[0].Patch, "\x1b[31m", "of an uncoloured diff it is part of the file")
}
