package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// ErrNoDefaultBranch reports that a clone does not say which branch is its default.
var ErrNoDefaultBranch = problem.Sentinel("this clone does not say which branch is its default",
	"name the base: main...HEAD reviews commits; git remote set-head origin --auto tells Git which one")

// WorkTree is a clone's folder with its uncommitted changes.
type WorkTree struct {
	Base      string   // the default branch, as Git names it: origin/main
	Untracked []string // paths that Git neither tracks nor ignores, in order

	clone Clone
	root  string // the folder
}

// OpenWorkTree finds the work tree around dir, its default branch and its untracked files. Errors
// that the caller can fix are ErrNoClone, ErrBare, ErrNoGit and ErrNoDefaultBranch.
func OpenWorkTree(ctx context.Context, dir string) (WorkTree, error) {
	g, err := OpenClone(ctx, dir)
	if err != nil {
		return WorkTree{}, err
	}
	root, err := g.Top(ctx)
	if err == nil && os.Getenv("GIT_DIR") == "" { // a folder that a stranger's clone lays out as one has no .git
		_, err = os.Lstat(filepath.Join(root, ".git"))
	}
	if err != nil {
		return WorkTree{}, ErrBare
	}
	w := WorkTree{clone: g, root: root}
	if w.Base, err = g.defaultBranch(ctx); err != nil {
		return WorkTree{}, err
	}
	names, err := git(ctx, w.root, nil, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return WorkTree{}, fmt.Errorf("listing untracked files: %w", err)
	}
	w.Untracked = strings.FieldsFunc(string(names), func(r rune) bool { return r == 0 })
	return w, nil
}

// defaultBranch returns the remote's default branch, or else a local branch with a common name.
func (g Clone) defaultBranch(ctx context.Context) (string, error) {
	if name, err := g.runLine(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		return name, nil
	}
	for _, name := range []string{"origin/main", "origin/master", "main", "master"} {
		if _, err := g.Commit(ctx, name); err == nil {
			return name, nil
		}
	}
	return "", ErrNoDefaultBranch
}

// Change reads the changes of the work tree since the commit at which its branch left the default
// branch, with or without untracked files. Git's own index and objects stay unchanged: uncommitted
// content is stored in the folder Change.Objects, which the caller must remove.
func (w WorkTree) Change(ctx context.Context, untracked bool, file config.File) (c Change, err error) {
	base, err := w.clone.runLine(ctx, "merge-base", w.Base, "HEAD")
	if err != nil {
		return Change{}, fmt.Errorf("HEAD and %s have no common commit, or it is %w", w.Base, ErrNoRange)
	}
	c = Change{Name: "the work tree", Settings: file.InRepository(), Branch: w.clone.branch(ctx)}
	if c.Objects, err = os.MkdirTemp("", "pr-review-objects-"); err != nil {
		return Change{}, problem.New("there is no folder to hold what is not committed", err.Error(),
			"set TMPDIR to one that can be written; in a container --tmpfs /tmp makes one")
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(c.Objects) // the first error says more
		}
	}()
	if c.Tree, err = w.tree(ctx, c.Objects, untracked); err != nil {
		return c, err
	}
	g := w.clone.withObjects(ctx, c.Objects)
	if err := g.read(ctx, base, c.Tree, file, &c); err != nil {
		return c, err
	}
	c.Clone, c.Thread = g, guard.Line(fmt.Sprintf("local/%s#%s..worktree:%s", g.name(), w.Base, c.Digest()), 0)
	return c, nil
}

// tree writes the work tree as Git would commit it, using a separate index and object folder, and
// returns the tree's hash.
func (w WorkTree) tree(ctx context.Context, objects string, untracked bool) (string, error) {
	index := filepath.Join(objects, "index")
	at, err := git(ctx, w.root, nil, nil, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	if err := copyIndex(strings.TrimSuffix(string(at), "\n"), index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("copying Git's index: %w", err)
	}
	env := append(w.clone.objectEnv(objects), "GIT_INDEX_FILE="+index)
	which := "--update"
	if untracked {
		which = "--all"
	}
	if _, err := git(ctx, w.root, nil, env, "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", "add",
		"--sparse", which, "--", "."); err != nil {
		return "", fmt.Errorf("reading the work tree: %w", err)
	}
	tree, err := git(ctx, w.root, nil, env, "write-tree")
	return strings.TrimSpace(string(tree)), err
}

// copyIndex copies an index, which has what is staged and which files are unchanged, with its time: Git reads the files
// that changed at that time or later.
func copyIndex(from, to string) error {
	written, err := os.Stat(from)
	if err != nil {
		return err
	}
	known, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, known, 0o600)
	}
	return cmp.Or(err, os.Chtimes(to, time.Time{}, written.ModTime()))
}

// objectEnv returns the environment in which Git writes objects to another folder and also reads the
// clone's.
func (g Clone) objectEnv(objects string) []string {
	common, err := filepath.Abs(filepath.Join(g.Dir, "objects"))
	// in a second work tree
	if text, failed := os.ReadFile(filepath.Join(g.Dir, "commondir")); err == nil && failed == nil {
		common = filepath.Join(g.Dir, strings.TrimSpace(string(text)), "objects")
	}
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(common) + `"` // a colon would end it
	return []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoted}
}

// OpenAt opens the clone around dir and reports whether arg names a commit of it.
func OpenAt(ctx context.Context, dir, arg string) (g Clone, is bool) {
	g, err := OpenClone(ctx, dir)
	if err == nil {
		_, err = g.Commit(ctx, arg)
	}
	return g, err == nil
}

// PullOf returns the pull request with a number in the repository that is the origin of the clone
// in dir.
func PullOf(ctx context.Context, dir, number string) (pull.Ref, error) {
	origin, err := Origin(ctx, dir)
	if err != nil {
		return pull.Ref{}, fmt.Errorf("%w, whose pull request #%s could be meant", err, number)
	}
	return pull.ParseRef(origin.Web() + "/pull/" + number)
}
