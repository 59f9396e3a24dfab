package ingest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/ingest"
)

// run is git in a folder, as its owner runs it.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// built is a clone with one commit, hooks that leave a mark, and work that is not committed.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "init", "-q", "-b", "main")
	run(t, dir, "config", "user.name", "Maya")
	run(t, dir, "config", "user.email", "maya@example.com")
	for path, text := range map[string]string{"a.txt": "a\n", "sub/b.txt": "b\r\n", "run.sh": "#!/bin/sh\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-qm", "one")
	for _, hook := range []string{"post-commit", "reference-transaction", "pre-commit", "post-checkout"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".git/hooks", hook), []byte("#!/bin/sh\ntouch "+dir+
			"/hooked\n"), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("mine\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "staged.txt"), []byte("s\n"), 0o644))
	run(t, dir, "add", "staged.txt")
	_ = os.Remove(filepath.Join(dir, "hooked"))
	return dir
}

// TestACommitLeavesTheWorkTreeAlone holds what a local branch gets: the very bytes on the
// base, by no hook, and nothing else of the clone changed.
func TestACommitLeavesTheWorkTreeAlone(t *testing.T) {
	t.Parallel()
	dir := built(t)
	before := run(t, dir, "status", "--porcelain")
	base, err := ingest.BaseAt(t.Context(), dir, "", config.File{Path: config.DefaultPath})
	require.NoError(t, err)
	require.Equal(t, "main", base.Branch)
	const name, message = "fix/A-1-x", "fix(A-1): x\n\nwhy"
	files := []change.File{{Path: "a.txt", Content: "A\r\n"}, {Path: "new dir/ü.txt", Content: "no line feed"}}
	branch, commit, err := base.Write(t.Context(), name, message, files)
	require.NoError(t, err)
	require.Equal(t, "fix/A-1-x", branch)
	require.Equal(t, base.Commit, run(t, dir, "rev-parse", commit+"^"))
	require.Equal(t, "Maya <maya@example.com>|fix(A-1): x\n\nwhy",
		run(t, dir, "show", "-s", "--format=%an <%ae>|%B", commit))
	require.Equal(t, "100644 a.txt\n120000 link\n100644 new dir/ü.txt\n100755 run.sh\n100644 sub/b.txt",
		run(t, dir, "-c", "core.quotePath=false", "ls-tree", "-r", "--format=%(objectmode) %(path)", branch))
	text, err := exec.Command("git", "-C", dir, "show", branch+":a.txt").Output()
	require.NoError(t, err)
	require.Equal(t, "A\r\n", string(text))
	require.Equal(t, before, run(t, dir, "status", "--porcelain"))
	require.Equal(t, "main", run(t, dir, "symbolic-ref", "--short", "HEAD"))
	require.NoFileExists(t, filepath.Join(dir, "hooked"))

	again, same, err := base.Write(t.Context(), name, message, files)
	require.NoError(t, err)
	require.Equal(t, []string{branch, commit}, []string{again, same}, "the same change is the same commit")
	files[0].Content = "B\n"
	other, _, err := base.Write(t.Context(), name, message, files)
	require.NoError(t, err)
	require.Equal(t, "fix/A-1-x-2", other, "another change does not take the name")

	out := t.TempDir()
	require.NoError(t, base.Export(t.Context(), out, files))
	text, err = os.ReadFile(filepath.Join(out, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "B\n", string(text))
	require.FileExists(t, filepath.Join(out, "new dir/ü.txt"))
	require.NoFileExists(t, filepath.Join(out, "staged.txt"))
	require.NoFileExists(t, filepath.Join(dir, "hooked"))
	require.Equal(t, before, run(t, dir, "status", "--porcelain"))

	run(t, dir, "branch", "feat")
	_, _, err = base.Write(t.Context(), "feat/A-1-x", message, files)
	require.ErrorContains(t, err, "'refs/heads/feat' exists", "Git names the branch in the way")
	require.ErrorContains(t, err, "\n  next    put right what Git names, then resume the draft")
}

// TestT16_NoSignatureOfACommitIsVerified has a branch that would be signed, in a clone that shows signatures.
func TestT16_NoSignatureOfACommitIsVerified(t *testing.T) {
	t.Parallel()
	dir := built(t)
	base, err := ingest.BaseAt(t.Context(), dir, "", config.File{Path: config.DefaultPath})
	require.NoError(t, err)
	files := []change.File{{Path: "a.txt", Content: "A\n"}}
	branch, commit, err := base.Write(t.Context(), "fix/A-1-x", "x", files)
	require.NoError(t, err)
	signed := strings.Replace(run(t, dir, "cat-file", "commit", commit), "\n\n",
		"\ngpgsig -----BEGIN SSH SIGNATURE-----\n x\n -----END SSH SIGNATURE-----\n\n", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "signed"), []byte(signed), 0o600))
	commit = run(t, dir, "hash-object", "-t", "commit", "-w", "signed")
	run(t, dir, "update-ref", "refs/heads/"+branch, commit)
	require.NoError(t, os.Remove(filepath.Join(dir, "signed")))
	for key, value := range map[string]string{"log.showSignature": "true", "gpg.format": "ssh",
		"gpg.ssh.program": filepath.Join(dir, ".git/hooks/post-commit"), "gpg.ssh.allowedSignersFile": "/dev/null"} {
		run(t, dir, "config", key, value)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "hooked"))) // of update-ref
	again, same, err := base.Write(t.Context(), "fix/A-1-x", "x", files)
	require.NoError(t, err)
	require.Equal(t, []string{branch, commit}, []string{again, same})
	require.NoFileExists(t, filepath.Join(dir, "hooked"))
}

// A thread's id is printed wherever a draft is named, as a part of commands and tables.
func TestAThreadsIdIsOneLineWhateverTheFolderIsCalled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names")
	}
	r := tree{t, filepath.Join(t.TempDir(), "pay\x1b[2J\nments")}
	require.NoError(t, os.Mkdir(r.dir, 0o700))
	r.git("init", "--quiet", "--initial-branch=main")
	r.commit("a.go", "1\n")
	r.git("branch", "\u202emain")
	r.commit("a.go", "2\n")
	require.Regexp(t, `^local/pay<U\+001B>\[2J ments#<U\+202E>main\.\.HEAD:`, r.change("\u202emain..HEAD").Thread)
	b, err := ingest.BaseAt(t.Context(), r.dir, "", config.File{Path: config.DefaultPath})
	require.NoError(t, err)
	require.Equal(t, "pay<U+001B>[2J ments", b.Folder)
	w, err := ingest.OpenWorkTree(t.Context(), r.dir)
	require.NoError(t, err)
	w.Base = "\u202emain"
	c, err := w.Change(t.Context(), false, config.File{Path: config.DefaultPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(c.Objects)) })
	require.Regexp(t, `^local/pay<U\+001B>\[2J ments#<U\+202E>main\.\.worktree:`, c.Thread)
}

func TestABaseKnowsItsBranchAndFilesBesideItsSettings(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		dir := t.TempDir()
		run(t, dir, "init", "-q", "-b", "main", "--object-format="+format)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".github", "workflows"), 0o700))
		for _, path := range []string{".github/a.yml", ".github/pr_review.yml", ".github/workflows/b.yml", "file"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, path), nil, 0o600))
		}
		run(t, dir, "add", ".")
		run(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+run(t, dir, "hash-object", "file")+",pr_review.yml")
		run(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one")
		run(t, dir, "tag", "main")
		const missing = " is not there where settings are read, so it sets nothing"
		for path, meant := range map[string]string{
			config.DefaultPath:            ".github/pr_review.yml is not read: settings are in " + config.DefaultPath,
			"none/pr-review.yml":          "none/pr-review.yml" + missing,
			"file/pr-review.yml":          "file/pr-review.yml" + missing,
			"pr_review.yml/pr-review.yml": "pr_review.yml/pr-review.yml" + missing, // a submodule
		} {
			base, err := ingest.BaseAt(t.Context(), dir, "", config.File{Path: path})
			require.NoError(t, err, path)
			require.Equal(t, "main", base.Branch, "a tag of its name changes nothing")
			require.Equal(t, []string{meant}, base.Config.Overruled)
		}
	}
}
