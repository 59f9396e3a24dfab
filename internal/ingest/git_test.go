package ingest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
)

// tree is a folder with a clone in it.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) tree {
	t.Helper()
	r := tree{t, filepath.Join(t.TempDir(), "payments")}
	require.NoError(t, os.Mkdir(r.dir, 0o700))
	r.git("init", "--quiet", "--initial-branch=main")
	return r
}

func (r tree) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@example.com"},
		args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (r tree) write(path, text string) {
	r.t.Helper()
	path = filepath.Join(r.dir, path)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(r.t, os.WriteFile(path, []byte(text), 0o600))
}

// commit writes path, text, path, text, …; an empty text removes the file.
func (r tree) commit(files ...string) string {
	r.t.Helper()
	for i := 0; i < len(files); i += 2 {
		if files[i+1] == "" {
			require.NoError(r.t, os.Remove(filepath.Join(r.dir, files[i])))
			continue
		}
		r.write(files[i], files[i+1])
	}
	r.git("add", "--all", "--force")
	r.git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", "x")
	return r.git("rev-parse", "HEAD")
}

func (r tree) change(arg string) ingest.Change {
	r.t.Helper()
	c, err := ingest.Range(r.t.Context(), r.dir, arg, config.File{Path: config.DefaultPath})
	require.NoError(r.t, err)
	return c
}

func sortByPath(files []diff.File) map[string]diff.File {
	all := map[string]diff.File{}
	for _, f := range files {
		all[f.Path] = f
	}
	return all
}

func TestARangeStartsAtItsBaseOrAtTheMergeBase(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.commit("a.go", "1\n")
	r.git("checkout", "--quiet", "-b", "topic")
	head := r.commit("b.go", "2\n")
	r.git("checkout", "--quiet", "main")
	r.commit("c.go", "3\n")
	three, two := r.change("main...topic"), r.change("main..topic")
	require.Equal(t, []string{"main...topic", head, "local/payments#main..topic:" + head},
		[]string{three.Name, three.Head, three.Thread})
	require.Len(t, three.Files, 1)
	require.Equal(t, "@@ -0,0 +1 @@\n+2", three.Files[0].Patch)
	require.Len(t, two.Files, 2)
	require.Equal(t, diff.Removed, sortByPath(two.Files)["c.go"].Status)
	require.NotEqual(t, three.Digest(), two.Digest())
	require.Empty(t, r.change("topic..topic").Files)
	require.Nil(t, three.Pull)
}

func TestARangeKnowsRenamesModesBinariesAndOddNames(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	odd := "d ir/q\"uo\tteü\n.go"
	r.commit("old.go", strings.Repeat("line\n", 20), "x.bin", "\x00\x01", "run.sh", "echo\n", "gone.go", "1\n", odd,
		"1\n")
	r.git("mv", "old.go", "new.go")
	r.git("update-index", "--chmod=+x", "run.sh")
	require.NoError(t, os.Chmod(filepath.Join(r.dir, "run.sh"), 0o700))
	r.commit("x.bin", "\x00\x02", "gone.go", "", odd, "2", "-dash.go", "3\n")
	files := sortByPath(r.change("HEAD~1..HEAD").Files)
	require.Len(t, files, 6)
	require.Equal(t, diff.File{Path: "new.go", OldPath: "old.go", Status: diff.Renamed}, files["new.go"])
	require.True(t, files["x.bin"].Binary)
	require.Equal(t, diff.Changed, files["run.sh"].Status)
	require.Equal(t, diff.Removed, files["gone.go"].Status)
	require.Equal(t, "@@ -1 +1 @@\n-1\n+2\n\\ No newline at end of file", files[odd].Patch)
	require.Equal(t, diff.Added, files["-dash.go"].Status)
}

func TestTheSettingsOfARangeAreThoseOfItsBase(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.commit(config.DefaultPath, "ignore: [base]\n", ".gitattributes", "base linguist-generated\n")
	r.commit(config.DefaultPath, "ignore: ['**']\n", ".gitattributes", "** linguist-generated\n", "a.go", "1\n")
	c := r.change("HEAD~1..HEAD")
	require.Equal(t, []string{"base"}, c.Config.Ignore)
	require.Equal(t, "base linguist-generated\n", string(c.Attributes))
	none := r.change("HEAD~0..HEAD")
	require.Equal(t, []string{"**"}, none.Config.Ignore)
	r.git("rm", "--quiet", config.DefaultPath, ".gitattributes")
	r.commit()
	require.Equal(t, config.Default(), r.change("HEAD..HEAD").Config)
	r.commit(config.DefaultPath, "ignores: []\n")
	_, err := ingest.Range(t.Context(), r.dir, "HEAD..HEAD", config.File{Path: config.DefaultPath})
	require.ErrorContains(t, err, config.DefaultPath+":1:1")
}

func TestANamedSettingsFileThatIsNotThereIsTold(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "empty.yml"), nil, 0o600))
	r.git("add", "empty.yml")
	r.commit()
	for name, want := range map[string][]string{
		"empty.yml": nil, "named.yml": {"named.yml is not there where settings are read, so it sets nothing"},
		config.DefaultPath: nil,
	} {
		c, err := ingest.Range(t.Context(), r.dir, "HEAD..HEAD", config.File{Path: name})
		require.NoError(t, err)
		require.Equal(t, want, c.Config.Overruled, name)
	}
}

// TestT16_NothingOfTheChangeRunsOrHidesCode gives the clone everything by which
// a commit or the clone's settings could run a program or bend the diff.
func TestT16_NothingOfTheChangeRunsOrHidesCode(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	ran := filepath.Join(r.dir, "..", "ran")
	r.commit("a.go", "1\n\n3\n4\n5\n6\n7\n8\n9\n", "sub/b.go", "1\n")
	plain := func() string {
		r.commit("a.go", "one\n\n3\n4\n5\n6\n7\n8\nnine\n", "sub/b.go", "2\n")
		return r.change("HEAD~1..HEAD").Digest()
	}()
	r.git("reset", "--quiet", "--hard", "HEAD~1")
	program := filepath.Join(r.dir, "..", "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat \"$1\" 2>/dev/null\n"), 0o700))
	r.commit("a.go", "one\n\n3\n4\n5\n6\n7\n8\nnine\n", "sub/b.go", "2\n",
		".gitattributes", "*.go -diff\nb.go diff=evil filter=evil binary\n", "sub/.gitattributes", "* -diff\n")
	for name, value := range map[string]string{
		"diff.external": program, "diff.evil.command": program, "diff.evil.textconv": program,
		"filter.evil.smudge": program, "filter.evil.clean": program,
		"core.fsmonitor": program, "core.pager": program, "pager.diff": program,
		"core.hooksPath": filepath.Dir(program),
		"diff.noprefix":  "true", "diff.mnemonicPrefix": "true", "color.ui": "always", "color.diff": "always",
		"core.quotePath": "false",
		"diff.renames":   "false", "diff.context": "0", "diff.interHunkContext": "9", "diff.suppressBlankEmpty": "true",
		"diff.relative":  "true",
		"diff.wordRegex": ".", "diff.colorMoved": "zebra", "diff.submodule": "log", "diff.orderFile": program,
		"diff.algorithm": "patience", "core.attributesFile": program,
		"diff.ignoreSubmodules": "all", "diff.statGraphWidth": "1", "diff.dirstat": "lines",
	} {
		r.git("config", name, value)
	}
	for _, dir := range []string{r.dir, filepath.Join(r.dir, "sub")} {
		c, err := ingest.Range(t.Context(), dir, "HEAD~1..HEAD", config.File{Path: config.DefaultPath})
		require.NoError(t, err)
		c.Files = c.Files[1:] // .gitattributes
		require.Equal(t, "sub/.gitattributes", c.Files[1].Path)
		c.Files = append(c.Files[:1], c.Files[2])
		require.Equal(t, plain, c.Digest(), "%+v", c.Files)
	}
	require.NoFileExists(t, ran)
}

// TestARangeIsOfTheVeryCommitsThatItNames has a clone that shows other content for their hashes.
func TestARangeIsOfTheVeryCommitsThatItNames(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.commit("a.go", "1\n")
	r.commit("a.go", "2\n")
	digest := r.change("HEAD~1..HEAD").Digest()
	r.git("replace", "HEAD", r.git("commit-tree", "-p", "HEAD~1", "-m", "harmless", "HEAD~1^{tree}"))
	require.Equal(t, digest, r.change("HEAD~1..HEAD").Digest())
	require.Len(t, r.change("HEAD~1..HEAD").Files, 1)
}

func TestARangeThatIsNoneIsAnErrorOfTheArgument(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.commit("a.go", "1\n")
	r.git("checkout", "--quiet", "--orphan", "other")
	r.commit("b.go", "1\n")
	out := filepath.Join(r.dir, "out")
	for _, arg := range []string{"main..none", "none..main", "main...other", "--output=" + out + "..main",
		"main..--output=" + out, "main..HEAD:b.go", "-h..main"} {
		require.True(t, ingest.IsRange(arg), arg)
		_, err := ingest.Range(t.Context(), r.dir, arg, config.File{Path: config.DefaultPath})
		require.ErrorIs(t, err, ingest.ErrNoRange, arg)
	}
	require.NoFileExists(t, out)
	_, err := ingest.Range(t.Context(), t.TempDir(), "main..HEAD", config.File{Path: config.DefaultPath})
	require.ErrorIs(t, err, ingest.ErrNoClone)
}

func TestABareCloneAndAWorkTreeAreClones(t *testing.T) {
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "safe.bareRepository")
	t.Setenv("GIT_CONFIG_VALUE_0", "all")
	r := newTree(t)
	r.commit("a.go", "1\n")
	r.commit("a.go", "2\n")
	want := r.change("HEAD~1..HEAD")
	parent := filepath.Dir(r.dir)
	r.git("clone", "--quiet", "--bare", r.dir, filepath.Join(parent, "copy.git"))
	r.git("worktree", "add", "--quiet", filepath.Join(parent, "beside"), "HEAD")
	for dir, name := range map[string]string{"copy.git": "copy", "beside": "beside"} {
		c, err := ingest.Range(t.Context(), filepath.Join(parent, dir), "HEAD~1..HEAD",
			config.File{Path: config.DefaultPath})
		require.NoError(t, err)
		require.Equal(t, want.Digest(), c.Digest())
		require.True(t, strings.HasPrefix(c.Thread, "local/"+name+"#"), c.Thread)
	}
	t.Setenv("GIT_CONFIG_VALUE_0", "explicit") // the default from Git 3.0 on
	t.Chdir(filepath.Join(parent, "copy.git"))
	_, err := ingest.OpenClone(t.Context(), ".")
	require.ErrorIs(t, err, ingest.ErrShut)
	t.Setenv("GIT_DIR", ".")
	_, err = ingest.OpenClone(t.Context(), ".")
	require.NoError(t, err)
}

func TestABranchIsKnownHoweverTheCloneStoresIt(t *testing.T) {
	t.Parallel()
	for _, stored := range []string{"symbolic link", "reftable"} { // which is Git 3.0's default
		t.Run(stored, func(t *testing.T) {
			r := newTree(t)
			r.commit("a.go", "1\n")
			r.commit("a.go", "2\n")
			switch head := filepath.Join(r.dir, ".git", "HEAD"); stored {
			case "reftable":
				if out, err := exec.Command("git", "-C", r.dir, "refs", "migrate", "--ref-format=reftable").
					CombinedOutput(); err != nil && !strings.Contains(string(out), "already uses") {
					t.Skipf("Git is older than 2.46: %s", out)
				}
			default:
				require.NoError(t, os.Remove(head))
				require.NoError(t, os.Symlink("refs/heads/main", head))
			}
			require.Equal(t, "refs/heads/main", r.change("HEAD~1..HEAD").Branch)
			r.git("checkout", "--quiet", "--detach")
			require.Empty(t, r.change("HEAD~1..HEAD").Branch)
		})
	}
}

// TestAWorkTreeMayLieApartFromItsGitFolder opens the three kinds whose .git is a file.
func TestAWorkTreeMayLieApartFromItsGitFolder(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.commit("a.go", "1\n")
	parent := t.TempDir()
	at := func(name string) string { return filepath.Join(parent, name) }
	r.git("worktree", "add", "--quiet", "-b", "topic", at("linked"), "main")
	r.git("clone", "--quiet", "--separate-git-dir", at("apart.git"), r.dir, at("apart"))
	r.git("init", "--quiet", at("outer"))
	r.git("-C", at("outer"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.dir, "inner")
	for _, dir := range []string{"linked", "apart", "outer/inner"} {
		require.NoError(t, os.WriteFile(filepath.Join(at(dir), "a.go"), []byte("2\n"), 0o600))
		w, err := ingest.OpenWorkTree(t.Context(), at(dir))
		require.NoError(t, err, dir)
		c, err := w.Change(t.Context(), false, config.File{Path: config.DefaultPath})
		require.NoError(t, err, dir)
		require.NoError(t, os.RemoveAll(c.Objects))
		require.Len(t, c.Files, 1, dir)
	}
}

// Git compares the content of a file that is as old as its index. A copy of the index is younger.
func TestAFileThatChangedAsItsIndexWasWrittenIsSeen(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.git("config", "core.trustctime", "false")
	file, then := filepath.Join(r.dir, "a.go"), time.Now().Add(-time.Hour)
	r.write("a.go", "1\n")
	require.NoError(t, os.Chtimes(file, then, then))
	r.commit()
	r.write("a.go", "2\n")
	for _, path := range []string{file, filepath.Join(r.dir, ".git", "index")} {
		require.NoError(t, os.Chtimes(path, then, then))
	}
	w, err := ingest.OpenWorkTree(t.Context(), r.dir)
	require.NoError(t, err)
	c, err := w.Change(t.Context(), false, config.File{Path: config.DefaultPath})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(c.Objects))
	require.Len(t, c.Files, 1)
}

func TestAPartialCloneSaysWhatToFetchAndFetchesNothing(t *testing.T) {
	t.Parallel()
	r := newTree(t)
	r.commit("a.go", "1\n", config.DefaultPath, "ignore: [b/**]\n")
	base, head := r.commit("a.go", "2\n"), r.commit("a.go", "3\n")
	r.git("config", "uploadpack.allowFilter", "true")
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			part := tree{t, filepath.Join(t.TempDir(), "part")}
			part.fetched("clone", "--quiet", "--no-checkout", "--filter="+filter, "file://"+r.dir, part.dir)
			refused := func() {
				_, err := ingest.Range(t.Context(), part.dir, base+".."+head, config.File{Path: config.DefaultPath})
				require.ErrorIs(t, err, ingest.ErrPartial)
				require.Contains(t, problem.Of(err).Error(), "git fetch --refetch --no-filter")
			}
			refused() // the remote is there, and would have answered
			part.fetched("-C", part.dir, "diff", base, head)
			refused() // the base's settings are not known: that is not to have none
			part.fetched("-C", part.dir, "fetch", "--quiet", "--refetch", "--no-filter")
			require.Len(t, part.change(base+".."+head).Files, 1)
		})
	}
}

// fetched runs git where it may fetch.
func (r tree) fetched(args ...string) {
	r.t.Helper()
	out, err := exec.Command("git", append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false"},
		args...)...).CombinedOutput()
	require.NoError(r.t, err, "%v: %s", args, out)
}

func TestOnlyTwoOrThreeDotsMakeARange(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]bool{
		"a..b": true, "a...b": true, "main...HEAD": true, "..b": false, "a..": false, "a...": false, "..": false,
		"demo": false, "-": false, "a b..c": false,
	} {
		require.Equal(t, want, ingest.IsRange(arg), arg)
	}
}

func TestAWorkTreeNeedsATemporaryFolder(t *testing.T) {
	r := newTree(t)
	r.commit("a.go", "1\n")
	r.write("a.go", "2\n")
	w, err := ingest.OpenWorkTree(t.Context(), r.dir)
	require.NoError(t, err)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	_, err = w.Change(t.Context(), false, config.File{Path: config.DefaultPath})
	require.ErrorContains(t, err, "set TMPDIR")
}

func TestNoSettingOfAUsersGitHidesAChange(t *testing.T) {
	t.Setenv("GIT_LITERAL_PATHSPECS", "1") // as Magit and the hooks that it starts have it
	r := newTree(t)
	require.NoError(t, os.Rename(r.dir, r.dir+`:1"\`)) // Git's lists of folders are cut at a colon
	r.dir += `:1"\`
	r.commit("in/a", "1", "out/b", "1")
	r.git("sparse-checkout", "set", "in")
	r.write("out/b", "2")
	r.write("out/new", "1")
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, ".git/hooks/post-index-change"),
		[]byte("#!/bin/sh\ntouch hooked\n"), 0o700))
	w, err := ingest.OpenWorkTree(t.Context(), r.dir)
	require.NoError(t, err)
	for untracked, files := range map[bool]int{false: 1, true: 2} {
		c, err := w.Change(t.Context(), untracked, config.File{Path: config.DefaultPath})
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(c.Objects))
		require.Len(t, c.Files, files)
		require.NoFileExists(t, filepath.Join(r.dir, "hooked"))
	}
}
