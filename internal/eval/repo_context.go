package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/wire"
)

// Blind withholds from the reviewer of a case with files what a real run provides.
// The zero value withholds nothing.
type Blind struct{ Packs, Tools bool }

// files holds the trees before and after a case's change. The zero value stands for
// a case that has only a diff.
type files struct {
	base, head *tree.Tree
	clone      string // folder; empty if the case has its own files
}

// filesOf returns a case's own files, or those of a clone in the folder repos. The clone stays
// open until ctx is done.
func filesOf(ctx context.Context, c dataset.Case, repos string) (f files, err error) {
	if len(c.Tree) > 0 || repos == "" || c.Repo == "" || c.Base == "" || c.Head == "" {
		f.base, f.head, err = c.Trees()
		return f, err
	}
	if f.clone, err = findClone(repos, c.Repo); err != nil {
		return files{}, err
	}
	clone, err := ingest.OpenClone(ctx, f.clone)
	if err != nil {
		return files{}, err
	}
	f.base, f.head = tree.Clone(clone, c.Base), tree.Clone(clone, c.Head)
	for _, commit := range []*tree.Tree{f.base, f.head} {
		if _, err := commit.Paths(ctx); err != nil {
			return files{}, err
		}
	}
	return f, nil
}

// repository matches owner/name. Neither part can be "..".
var repository = pattern.Lazy(`^[A-Za-z0-9_-][A-Za-z0-9._-]*/[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

// findClone returns the folder of a repository's clone, with a work tree or bare: repos
// contains it as owner+name or owner/name. A clone that repos is inside of does not count.
func findClone(repos, name string) (dir string, err error) {
	if !repository().MatchString(name) {
		return "", fmt.Errorf("repo %.100q is not owner/name", name)
	}
	for _, at := range []string{strings.Replace(name, "/", "+", 1), name} {
		for _, own := range []string{".git", "HEAD"} { // work tree, bare clone
			if _, err := os.Stat(filepath.Join(repos, at, own)); err == nil {
				return filepath.Join(repos, at), nil
			}
		}
	}
	return "", fmt.Errorf("there is no clone of %s in %s", name, repos)
}

// InRepos returns a check of a case against the clone that it names, for dataset.ReadWith.
func InRepos(ctx context.Context, repos string) func(dataset.Case) error {
	return func(c dataset.Case) error {
		ctx, read := context.WithCancel(ctx)
		defer read()
		f, err := filesOf(ctx, c, repos)
		if err == nil && f.head != nil {
			_, err = evidence(ctx, c, f.head)
		}
		return err
	}
}

// repoContext returns what the reviewer of a case may look at, less what Blind withholds, and for
// each known finding the lines that it rests on.
func (r *run) repoContext(ctx context.Context, c dataset.Case,
	changed []diff.File) (all wire.RepoContext, rests [][]oracle.Line, err error) {
	f, err := filesOf(ctx, c, r.Repos)
	if err == nil && f.head == nil && r.Repos != "" && c.Repo != "" {
		r.note(fmt.Errorf("case %s names no base or head, so its diff is all that is read of %s", c.ID, c.Repo))
	}
	if err != nil || f.head == nil {
		return all, nil, err
	}
	options := wire.RepoOptions{Head: f.head, Base: f.base, Files: changed, Tokens: r.packTokens(),
		Index: r.Config.Index, Note: func(text string) { r.note(errors.New(text)) }}
	if f.clone != "" && r.Index != nil {
		options.Kept = func(ctx context.Context, _ wire.Endpoints) (*index.Index, error) {
			r.indexing.Lock() // the next commit of a clone reuses most of this one's index
			defer r.indexing.Unlock()
			return r.Index(ctx, f.clone, c.Base)
		}
	}
	all = wire.NewRepoContext(options)
	if r.Blind.Tools {
		all.Tools = tool.Set{}
	}
	rests, err = evidence(ctx, c, f.head)
	return all, rests, err
}

// packTokens returns the size limit of a pack in tokens, 0 if packs are withheld.
func (r *run) packTokens() int {
	if r.Blind.Packs {
		return 0
	}
	return r.Config.Context.Tokens()
}

// evidence returns for each known finding of a case the lines that decide it.
func evidence(ctx context.Context, c dataset.Case, head *tree.Tree) ([][]oracle.Line, error) {
	all := make([][]oracle.Line, len(c.Golden))
	for i, g := range c.Golden {
		for _, p := range g.Evidence {
			text, err := head.Read(ctx, p.Path)
			if err != nil {
				return nil, fmt.Errorf("golden[%d].evidence: %w", i, err)
			}
			file := strings.Split(string(text), "\n")
			if p.LineEnd > len(file) {
				return nil, fmt.Errorf("golden[%d].evidence: %.200q has %d lines", i, p.Path, len(file))
			}
			for n := p.LineStart; n <= p.LineEnd; n++ {
				all[i] = append(all[i], oracle.Line{Path: p.Path, Number: n, Text: file[n-1]})
			}
		}
	}
	return all, nil
}
