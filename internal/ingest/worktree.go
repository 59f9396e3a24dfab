package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
)

// ErrNoDefaultBranch reports that a clone does not say which branch is its default.
var ErrNoDefaultBranch = problem.Sentinel("this clone does not say which branch is its default",
	"name the base: main...HEAD reviews commits; git remote set-head origin --auto tells Git which one")

// WorkTree is a clone's folder with what is not committed in it.
type WorkTree struct {
	Base      string   // the default branch, as Git names it: origin/main
	Untracked []string // paths that Git neither tracks nor ignores, in their order

	clone clone
	root  string // the folder
}

// OpenWorkTree finds the work tree around dir, its default branch and its untracked
// files. Errors that are the caller's to mend are ErrNoClone, ErrBare, ErrNoGit and
// ErrNoDefaultBranch.
func OpenWorkTree(ctx context.Context, dir string) (WorkTree, error) {
	g, err := open(ctx, dir)
	if err != nil {
		return WorkTree{}, err
	}
	root, err := git(ctx, dir, nil, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return WorkTree{}, ErrBare
	}
	w := WorkTree{clone: g, root: strings.TrimSuffix(string(root), "\n")}
	if w.Base, err = g.defaultBranch(ctx); err != nil {
		return WorkTree{}, err
	}
	names, err := git(ctx, w.root, nil, nil, "-c", "core.fsmonitor=false", "ls-files", "--others", "--exclude-standard",
		"-z")
	if err != nil {
		return WorkTree{}, fmt.Errorf("listing untracked files: %w", err)
	}
	w.Untracked = strings.FieldsFunc(string(names), func(r rune) bool { return r == 0 })
	return w, nil
}

// defaultBranch is the remote's default branch, else the local branch of a usual name.
func (g clone) defaultBranch(ctx context.Context) (string, error) {
	if name, err := g.line(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		return name, nil
	}
	for _, name := range []string{"origin/main", "origin/master", "main", "master"} {
		if _, err := g.commit(ctx, name); err == nil {
			return name, nil
		}
	}
	return "", ErrNoDefaultBranch
}

// Change reads what the work tree changes against the commit that its branch left the
// default branch at, with the untracked files or without. Git's own index and objects stay
// as they are: what is not committed is held in the folder Change.Objects, which the caller
// removes.
func (w WorkTree) Change(ctx context.Context, untracked bool, file config.File) (c Change, err error) {
	base, err := w.clone.line(ctx, "merge-base", w.Base, "HEAD")
	if err != nil {
		return Change{}, fmt.Errorf("HEAD and %s have no common commit: %w", w.Base, ErrNoRange)
	}
	c = Change{Name: "the work tree", Settings: file.Path}
	if c.Objects, err = os.MkdirTemp("", "pr-review-objects-"); err != nil {
		return Change{}, problem.New("there is no folder to hold what is not committed", err.Error(),
			"set TMPDIR to one that can be written; in a container --tmpfs /tmp makes one")
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(c.Objects) // the error at hand tells more
		}
	}()
	if c.Tree, err = w.tree(ctx, c.Objects, untracked); err != nil {
		return c, err
	}
	g := w.clone
	g.objects = c.Objects
	if err := g.read(ctx, base, c.Tree, file, &c); err != nil {
		return c, err
	}
	c.Thread = fmt.Sprintf("local/%s#%s..worktree:%s", g.name(), w.Base, c.Digest())
	return c, nil
}

// tree writes the work tree as Git would commit it, with an index and a folder of
// objects of its own, and returns the tree's hash.
func (w WorkTree) tree(ctx context.Context, objects string, untracked bool) (string, error) {
	index := filepath.Join(objects, "index")
	at, err := git(ctx, w.root, nil, nil, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	known, err := os.ReadFile(strings.TrimSuffix(string(at), "\n")) // of what is staged, and which files are unchanged
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading Git's index: %w", err)
	}
	if err == nil {
		if err := os.WriteFile(index, known, 0o600); err != nil {
			return "", err
		}
	}
	env := append(w.clone.beside(objects), "GIT_INDEX_FILE="+index)
	which := "--update"
	if untracked {
		which = "--all"
	}
	if _, err := git(ctx, w.root, nil, env, "-c", "core.fsmonitor=false", "-c", "core.safecrlf=false",
		"-c", "advice.addEmbeddedRepo=false", "add", which, "--", ":/"); err != nil {
		return "", fmt.Errorf("reading the work tree: %w", err)
	}
	tree, err := git(ctx, w.root, nil, env, "write-tree")
	return strings.TrimSpace(string(tree)), err
}

// beside is the environment in which Git writes objects to another folder and reads
// the clone's too.
func (g clone) beside(objects string) []string {
	common, err := filepath.Abs(filepath.Join(g.dir, "objects"))
	// of a second work tree
	if text, failed := os.ReadFile(filepath.Join(g.dir, "commondir")); err == nil && failed == nil {
		common = filepath.Join(g.dir, strings.TrimSpace(string(text)), "objects")
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + common}
}

// IsRevision reports whether an argument names a commit of the clone in dir.
func IsRevision(ctx context.Context, dir, arg string) bool {
	_, _, err := Commit(ctx, dir, arg)
	return err == nil
}

// PullOf is the pull request of a number in the repository that the clone in dir has
// for its origin.
func PullOf(ctx context.Context, dir, number string) (pull.Ref, error) {
	origin, err := Origin(ctx, dir)
	if err != nil {
		return pull.Ref{}, fmt.Errorf("%w, whose pull request #%s could be meant", err, number)
	}
	return pull.ParseRef(origin.Web() + "/pull/" + number)
}
