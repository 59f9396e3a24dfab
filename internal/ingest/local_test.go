package ingest_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/prompt"
)

const twoFiles = "--- a/z.go\n+++ b/z.go\n@@ -1 +1 @@\n-1\n+2\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-1\n+2\n"

func TestADiffIsNamedAfterTheHashOfItsBytes(t *testing.T) {
	t.Parallel()
	c, err := ingest.Diff("x.diff", strings.NewReader(twoFiles))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("local/diff:%x", sha256.Sum256([]byte(twoFiles))), c.Thread)
	require.Equal(t, []string{"a.go", "z.go"}, []string{c.Files[0].Path, c.Files[1].Path})
	require.Equal(t, config.Default(), c.Config)
	require.Nil(t, c.Pull)
	again, err := ingest.Diff("-", strings.NewReader(twoFiles))
	require.NoError(t, err)
	require.Equal(t, c.Thread, again.Thread, "P11: the name that people use is not in it")
}

func TestADiffThatIsNoneIsAnErrorWithItsName(t *testing.T) {
	t.Parallel()
	_, err := ingest.Diff("notes.txt", strings.NewReader("hello\n"))
	require.ErrorIs(t, err, diff.ErrNotDiff)
	require.ErrorContains(t, err, "notes.txt")
	c, err := ingest.Diff("empty", strings.NewReader(""))
	require.NoError(t, err)
	require.Empty(t, c.Files)
}

func TestTheDemoIsAChangeWithCode(t *testing.T) {
	t.Parallel()
	c, err := ingest.Demo()
	require.NoError(t, err)
	require.Equal(t, "demo", c.Name)
	require.Equal(t, "local/demo:"+c.Digest(), c.Thread)
	require.GreaterOrEqual(t, len(c.Files), 3)
	for _, f := range c.Files {
		_, err := diff.Hunks(f.Patch)
		require.NoError(t, err, f.Path)
	}
}

// TestTheSettingsOfTheRepositoryAreWatchedWhereOthersAreRead is of settings that a person reads and names.
func TestTheSettingsOfTheRepositoryAreWatchedWhereOthersAreRead(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.commit("a.go", "1\n")
	r.commit("a.go", "2\n")
	for want, file := range map[string]config.File{
		"own.yml":          {Path: "own.yml"},
		config.DefaultPath: {Path: "./" + config.DefaultPath, Here: []byte("language: French\n")},
	} {
		c, err := ingest.Range(t.Context(), r.dir, "HEAD~1..HEAD", file)
		require.NoError(t, err)
		require.Equal(t, want, c.Settings)
	}
}

// TestT16_ALinkToAnotherFileOfTheSameKindGuides has a link at the root, one in a folder, some that lead to no file, and
// a file that only reads like a link.
func TestT16_ALinkToAnotherFileOfTheSameKindGuides(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	links := map[string]string{"AGENTS.md": "CLAUDE.md", "a/AGENTS.md": "../docs/a.md", "out/AGENTS.md": "../../x.md",
		"none/AGENTS.md": "gone.md", "abs/AGENTS.md": "/CLAUDE.md", "dir/AGENTS.md": "of.md", "chain/AGENTS.md": "next.md",
		"chain/next.md": "../CLAUDE.md", ".hid/AGENTS.md": "../CLAUDE.md"}
	text := []string{"CLAUDE.md", "root\n", "docs/a.md", "of a\n", "abs/CLAUDE.md", "no\n", "dir/of.md/x", "no\n",
		"word/AGENTS.md", "CLAUDE.md", "word/CLAUDE.md", "no\n"}
	var changed []string
	for _, dir := range []string{"a", "out", "none", "abs", "dir", "chain", ".hid", "word"} {
		require.NoError(t, os.Mkdir(filepath.Join(r.dir, dir), 0o700))
		text, changed = append(text, dir+"/x.go", "1\n"), append(changed, dir+"/x.go", "2\n")
	}
	for link, to := range links {
		require.NoError(t, os.Symlink(to, filepath.Join(r.dir, link)))
	}
	r.commit(text...)
	r.commit(changed...)
	require.ElementsMatch(t, []prompt.Document{{Path: "a/AGENTS.md", Text: "of a\n"}, {Path: "AGENTS.md", Text: "root\n"},
		{Path: ".hid/AGENTS.md", Text: "root\n"}, {Path: "word/AGENTS.md", Text: "CLAUDE.md"}},
		r.change("HEAD~1..HEAD").Guidance)
}

// TestT16_ALinkThatLeadsToNoFileGuidesNothing is of a file that the settings name.
func TestT16_ALinkThatLeadsToNoFileGuidesNothing(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"gone.md", "dir.md"} {
		r := newTree(t)
		require.NoError(t, os.Symlink(to, filepath.Join(r.dir, "AGENTS.md")))
		r.commit("a.go", "1\n", "dir.md/x", "1\n")
		r.commit("a.go", "2\n")
		require.Empty(t, r.change("HEAD~1..HEAD").Guidance, to)
	}
}

func TestT16_OnlyAFilesTextGuidesARange(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	require.NoError(t, os.MkdirAll(filepath.Join(r.dir, "link"), 0o700))
	require.NoError(t, os.Symlink("../a.go", filepath.Join(r.dir, "link", "AGENTS.md")))
	r.commit("a.go", "1\n", "link/a.go", "1\n", "dir/AGENTS.md/a.go", "1\n", "sub/a.go", "1\n", "x/a.go", "1\n",
		"x/AGENTS.md", "Be brief.\n")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+",sub/AGENTS.md")
	r.git("commit", "--quiet", "--message", "y")
	r.git("reset", "--quiet", "--hard")
	r.commit("link/a.go", "2\n", "dir/AGENTS.md/a.go", "2\n", "sub/a.go", "2\n", "x/a.go", "2\n")
	require.Equal(t, []string{"x/AGENTS.md"}, guides(r.change("HEAD~1..HEAD")))
}
