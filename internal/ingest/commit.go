package ingest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/problem"
)

// Base is a commit of a clone that something is to be built on.
type Base struct {
	Folder string // name of the clone's
	Commit string // full hash
	Branch string // its name; empty where a hash was named
	Config config.Config

	clone clone
}

// BaseAt reads a commit of the clone around dir, HEAD where name is empty, with the settings
// file that it has at file. Errors that are the caller's to mend are ErrNoClone,
// ErrNoGit and ErrNoRange.
func BaseAt(ctx context.Context, dir, name string, file config.File) (b Base, err error) {
	if b.clone, err = open(ctx, dir); err != nil {
		return b, err
	}
	b.Folder = b.clone.name()
	if name == "" {
		name = "HEAD"
		b.Branch, _ = b.clone.line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD") // detached: it has none
	} else if _, err := b.clone.line(ctx, "show-ref", "--verify", "refs/heads/"+name); err == nil {
		b.Branch = name
	}
	if b.Commit, err = b.clone.commit(ctx, name); err != nil {
		return b, err
	}
	text, err := b.clone.file(ctx, b.Commit, file.Path)
	if err == nil {
		b.Config, err = file.Parse(text)
	}
	return b, err
}

// mostBranches is how many names are tried where a branch of another commit has one.
const mostBranches = 9

// Write makes files one commit on the base, to a branch of its own, with the user's name
// and no hook; work tree, index and present branch stay as they are. A branch that has
// these very files is taken for it; where another commit has the name, a number is counted
// up behind it.
func (b Base) Write(ctx context.Context, name, message string, files []change.File) (branch, commit string,
	err error) {
	tree, err := b.tree(ctx, files)
	if err != nil {
		return "", "", err
	}
	for i := 1; i <= mostBranches; i++ {
		branch = name
		if i > 1 {
			branch += fmt.Sprintf("-%d", i)
		}
		commit, err = b.clone.commit(ctx, "refs/heads/"+branch)
		if err != nil {
			commit, err = b.commitTree(ctx, tree, message)
			if err == nil {
				_, err = b.git(ctx, "", nil, "update-ref", "refs/heads/"+branch, commit,
					strings.Repeat("0", len(commit)))
			}
			return branch, commit, err
		}
		about, err := b.clone.line(ctx, "show", "-s", "--format=%T %P", commit)
		if err == nil && about == tree+" "+b.Commit {
			return branch, commit, nil
		}
	}
	return "", "", problem.New("there are branches of this name, up to "+branch, "", "delete those that are not needed")
}

func (b Base) tree(ctx context.Context, files []change.File) (tree string, err error) {
	err = b.indexed(ctx, files, func(index string) error {
		tree, err = b.git(ctx, index, nil, "write-tree")
		return err
	})
	return tree, err
}

// Export checks the base's files out into an empty folder, with some replaced. Filters that
// the clone's owner has configured run, and no hook.
func (b Base) Export(ctx context.Context, dir string, files []change.File) error {
	return b.indexed(ctx, files, func(index string) error {
		_, err := b.git(ctx, index, nil, "--work-tree="+dir, "checkout-index", "--all", "--force")
		return err
	})
}

// indexed does something with an index of its own: the base's files, with some replaced.
func (b Base) indexed(ctx context.Context, files []change.File, do func(index string) error) error {
	dir, err := os.MkdirTemp("", "pr-review-index-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(dir, "index")
	if _, err := b.git(ctx, index, nil, "read-tree", b.Commit); err != nil {
		return err
	}
	var entries bytes.Buffer
	for _, f := range files {
		blob, err := b.git(ctx, index, []byte(f.Content), "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return err
		}
		fmt.Fprintf(&entries, "100644 %s\t%s\x00", blob, f.Path)
	}
	if _, err := b.git(ctx, index, entries.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	return do(index)
}

func (b Base) commitTree(ctx context.Context, tree, message string) (string, error) {
	commit, err := b.git(ctx, "", []byte(message+"\n"), "commit-tree", tree, "-p", b.Commit, "-F", "-")
	if err != nil && strings.Contains(err.Error(), "ident") {
		err = problem.New("Git does not know who is committing here", "", `git config user.name "…" and user.email, then `+
			"resume the draft: the decision is kept")
	}
	return commit, err
}

// git runs git on the clone with an index and an input; no hook runs.
func (b Base) git(ctx context.Context, index string, input []byte, args ...string) (string, error) {
	env := []string{"GIT_DIR=" + b.clone.dir, "GIT_INDEX_FILE=" + filepath.Join(b.clone.dir, "no-index")}
	if index != "" {
		env[1] = "GIT_INDEX_FILE=" + index
	}
	out, err := git(ctx, b.clone.dir, bytes.NewReader(input), env, append([]string{"-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false", "-c", "core.bare=false"}, args...)...)
	return strings.TrimSpace(string(out)), err
}
