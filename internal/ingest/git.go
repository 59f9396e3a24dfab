package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/problem"
)

const inClone = "go into the clone, or pass a pull request's address or a diff's file"

// Errors of Range that are the caller's to mend.
var (
	ErrNoRange = problem.Sentinel("not a range of this clone",
		"name two commits of this clone, such as main...HEAD; a shallow clone may need git fetch --unshallow")
	ErrNoClone = problem.Sentinel("this folder is not in a clone", inClone)
	ErrBare    = problem.Sentinel("this clone is bare, without a work tree", "name two commits, such as main...HEAD")
	ErrNoGit   = problem.Sentinel("a range needs git, which is not in PATH", inClone)
	ErrPartial = problem.Sentinel("this clone is a partial one (git clone --filter), and lacks what is needed here",
		"nothing is fetched here by itself: git fetch --refetch --no-filter brings the rest")
)

// IsRange reports whether an argument has the form base..head or base...head.
func IsRange(arg string) bool {
	base, head, ok := strings.Cut(arg, "..")
	return ok && base != "" && strings.TrimPrefix(head, ".") != "" && !strings.ContainsAny(arg, " \t\n")
}

// Range reads what changed between two commits of the clone in dir: base...head from the
// merge base, as a pull request does, base..head from base itself. Errors of the argument
// are ErrNoRange, of the place ErrNoClone, ErrNoGit and ErrPartial.
func Range(ctx context.Context, dir, arg string, file config.File) (Change, error) {
	g, err := open(ctx, dir)
	if err != nil {
		return Change{}, err
	}
	baseName, headName, _ := strings.Cut(arg, "..")
	headName, fromMergeBase := strings.CutPrefix(headName, ".")
	head, err := g.commit(ctx, headName)
	if err != nil {
		return Change{}, err
	}
	base, err := g.commit(ctx, baseName)
	if err != nil {
		return Change{}, err
	}
	if fromMergeBase {
		if base, err = g.line(ctx, "merge-base", base, head); err != nil {
			return Change{}, fmt.Errorf("%s and %s have no common commit: %w", baseName, headName, ErrNoRange)
		}
	}
	c := Change{
		Name: arg, Head: head, Settings: file.Path,
		Thread: fmt.Sprintf("local/%s#%s..%s:%s", g.name(), baseName, headName, head),
	}
	err = g.read(ctx, base, head, file, &c)
	return c, err
}

// clone runs git on the repository in dir. Nothing that the reviewed change
// could configure (external diff programs, text conversions, hooks, pagers,
// attributes) takes part: git runs in the .git folder, without work tree and
// index, so that it finds no .gitattributes which would call a source binary.
type clone struct {
	dir     string // the .git folder, absolute
	objects string // a folder of further objects, or empty
}

// notGit is what git says of a folder that is in no clone.
const notGit = "not a git repository"

func open(ctx context.Context, dir string) (clone, error) {
	out, err := git(ctx, dir, nil, nil, "rev-parse", "--absolute-git-dir")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return clone{}, ErrNoGit
	case err != nil && strings.Contains(err.Error(), notGit):
		return clone{}, ErrNoClone
	}
	return clone{dir: strings.TrimSuffix(string(out), "\n")}, err
}

// Git returns what runs git on the clone around dir, with an input and in the way
// described above. objects is Change.Objects.
func Git(ctx context.Context, dir, objects string) (func(ctx context.Context, input io.Reader, args ...string) ([]byte,
	error),
	error) {
	g, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	g.objects = objects
	return g.feed, nil
}

// Commit is the full hash of a commit that a name stands for in the clone around dir,
// and the clone's own folder: ErrNoClone, ErrNoGit, or ErrNoRange where it is none.
func Commit(ctx context.Context, dir, name string) (sha, folder string, err error) {
	g, err := open(ctx, dir)
	if err != nil {
		return "", "", err
	}
	sha, err = g.commit(ctx, name)
	return sha, g.dir, err
}

func (g clone) name() string {
	if filepath.Base(g.dir) == ".git" {
		return filepath.Base(filepath.Dir(g.dir))
	}
	return strings.TrimSuffix(filepath.Base(g.dir), ".git")
}

func (g clone) read(ctx context.Context, base, head string, file config.File, c *Change) error {
	patch, err := g.run(ctx, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames",
		"--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/", "--unified=3", base, head, "--")
	if err != nil {
		return fmt.Errorf("reading the range: %w", err)
	}
	files, err := diff.Parse(bytes.NewReader(patch), MaxDiff)
	if err != nil {
		return fmt.Errorf("reading the range's diff: %w", err)
	}
	c.Files = byPath(files)
	c.Base = base
	err = c.governed(file, func(path string, _ int64) ([]byte, error) { return g.file(ctx, base, path) })
	if err != nil {
		return err
	}
	return vouch(ctx, c.Files, cloneBase{g, base, head})
}

// cloneBase is the commit that a range starts from.
type cloneBase struct {
	clone
	commit, after string
}

func (b cloneBase) folder(ctx context.Context, path string) ([]string, error) {
	out, err := b.run(ctx, "ls-tree", "-z", "--name-only", b.commit, path+"/")
	names := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, path+"/")
	}
	return names, err
}

func (b cloneBase) text(ctx context.Context, path string) ([]byte, error) {
	return b.blob(ctx, b.commit, path)
}

func (b cloneBase) head(ctx context.Context, path string) ([]byte, error) {
	return b.blob(ctx, b.after, path)
}

func (b cloneBase) blob(ctx context.Context, commit, path string) ([]byte, error) {
	size, err := b.line(ctx, "cat-file", "-s", commit+":"+path)
	if n, _ := strconv.Atoi(size); err != nil || n > maxBlob {
		return nil, err
	}
	return b.file(ctx, commit, path)
}

func (g clone) commit(ctx context.Context, name string) (string, error) {
	sha, err := g.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%q is not a commit here: %w", name, ErrNoRange)
	}
	return sha, nil
}

// file reads a file at a commit; one that is not there is nil.
func (g clone) file(ctx context.Context, commit, path string) ([]byte, error) {
	switch _, err := g.line(ctx, "cat-file", "-e", commit+":"+path); {
	case errors.Is(err, ErrPartial):
		return nil, fmt.Errorf("reading %s at the base: %w", path, err)
	case err != nil:
		return nil, nil
	}
	text, err := g.run(ctx, "cat-file", "blob", commit+":"+path)
	if err != nil {
		return nil, fmt.Errorf("reading %s at the base: %w", path, err)
	}
	return append([]byte{}, text...), nil // an empty file is there
}

func (g clone) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

func (g clone) run(ctx context.Context, args ...string) ([]byte, error) {
	return g.feed(ctx, nil, args...)
}

func (g clone) feed(ctx context.Context, input io.Reader, args ...string) ([]byte, error) {
	env := []string{"GIT_DIR=" + g.dir, "GIT_WORK_TREE=" + g.dir, "GIT_INDEX_FILE=" + filepath.Join(g.dir, "no-index")}
	if g.objects != "" {
		env = append(env, g.beside(g.objects)...)
	}
	return git(ctx, g.dir, input, env, append([]string{
		"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.quotePath=true",
		"-c", "diff.suppressBlankEmpty=false", "-c", "diff.interHunkContext=0",
	}, args...)...)
}

// unfetched are the words of git for an object that a partial clone has left out.
const unfetched = "promisor remote"

// git runs git, which starts no transport: versions differ in how they are told that
// a partial clone is not to fetch what it lacks.
func git(ctx context.Context, dir string, input io.Reader, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, input
	cmd.Env = append(os.Environ(), append(env, "LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_TERMINAL_PROMPT=0")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case err != nil && strings.Contains(stderr.String(), unfetched):
		return nil, ErrPartial
	case err != nil && stderr.Len() > 0:
		return nil, fmt.Errorf("running git: %s: %w", strings.TrimSpace(stderr.String()), err)
	}
	return out, err
}
