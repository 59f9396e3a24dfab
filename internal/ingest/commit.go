package ingest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/change"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
)

// Base is a commit of a clone on which a change is built.
type Base struct {
	Folder string // name of the clone's folder
	Commit string // full hash
	Branch string // its name; empty if a hash was given
	Config config.Config

	Clone Clone
}

// BaseAt reads a commit of the clone around dir, or HEAD if name is empty, with the settings file
// that the commit has at file's path. Errors that the caller can fix are ErrNoClone, ErrNoGit and
// ErrNoRange.
func BaseAt(ctx context.Context, dir, name string, file config.File) (b Base, err error) {
	if b.Clone, err = OpenClone(ctx, dir); err != nil {
		return b, err
	}
	b.Folder = guard.Line(b.Clone.name(), 0)
	if name == "" {
		name = "HEAD"
		b.Branch = strings.TrimPrefix(b.Clone.branch(ctx), "refs/heads/") // a detached HEAD has none
	} else if _, err := b.Clone.runLine(ctx, "show-ref", "--verify", "refs/heads/"+name); err == nil {
		b.Branch = name
	}
	if b.Commit, err = b.Clone.Commit(ctx, name); err != nil {
		return b, err
	}
	text := file.Here
	if text == nil {
		text, err = b.Clone.file(ctx, b.Commit, file.Path)
	}
	if err == nil {
		b.Config, err = parseSettings(file, text, b.Clone.names(ctx, b.Commit))
	}
	return b, err
}

// mostBranches is the number of branch names that Write tries.
const mostBranches = 9

// Write commits files on the base, to a new branch, under the user's name and without
// hooks. Work tree, index and current branch stay unchanged. If the branch exists with the same
// content and parent, it is returned; if it is another commit, Write appends -2, -3 and so on.
func (b Base) Write(ctx context.Context, name, message string, files []change.File) (branch, commit string,
	err error) {
	tree := ""
	err = b.withIndex(ctx, files, func(index string) (err error) {
		tree, err = b.git(ctx, index, nil, "write-tree")
		return err
	})
	if err != nil {
		return "", "", err
	}
	for i := 1; i <= mostBranches; i++ {
		branch = name
		if i > 1 {
			branch += fmt.Sprintf("-%d", i)
		}
		commit, err = b.Clone.Commit(ctx, "refs/heads/"+branch)
		if err != nil {
			commit, err = b.commitTree(ctx, tree, message)
			if err != nil {
				return "", "", err
			}
			if _, err = b.git(ctx, "", nil, "update-ref", "refs/heads/"+branch, commit,
				strings.Repeat("0", len(commit))); err != nil {
				err = problem.New("the branch "+branch+" could not be made", err.Error(),
					"put right what Git names, then resume the draft: the decision is kept")
			}
			return branch, commit, err
		}
		about, err := b.Clone.runLine(ctx, "rev-parse", commit+"^{tree}", commit+"^@") // not show, which may run gpg
		if err == nil && about == tree+"\n"+b.Commit {
			return branch, commit, nil
		}
	}
	return "", "", problem.New("there are branches of this name, up to "+branch, "", "delete those that are not needed")
}

// Export checks the base's files out into an empty folder, with some of them replaced. Filters
// that the clone's owner has configured run; hooks do not.
func (b Base) Export(ctx context.Context, dir string, files []change.File) error {
	return b.withIndex(ctx, files, func(index string) error {
		_, err := b.git(ctx, index, nil, "--work-tree="+dir, "checkout-index", "--all", "--force")
		return err
	})
}

// withIndex calls do with a temporary index of the base's files, with some of them replaced.
func (b Base) withIndex(ctx context.Context, files []change.File, do func(index string) error) error {
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
		err = problem.New("Git does not know who is committing here", "",
			`git config user.name "…" and user.email, then resume the draft: the decision is kept`)
	}
	return commit, err
}

// git runs git on the clone with an index and an input.
func (b Base) git(ctx context.Context, index string, input []byte, args ...string) (string, error) {
	index = cmp.Or(index, filepath.Join(b.Clone.Dir, "no-index"))
	env := []string{"GIT_DIR=" + b.Clone.Dir, "GIT_INDEX_FILE=" + index}
	args = append([]string{"-c", "core.bare=false"}, args...)
	out, err := git(ctx, b.Clone.Dir, bytes.NewReader(input), env, args...)
	return strings.TrimSpace(string(out)), err
}
