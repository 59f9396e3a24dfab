package eval

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/oracle"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/wire"
)

// Blind keeps from the reviewer, where a case has files, what a real run gives it.
// The zero value keeps nothing.
type Blind struct{ Packs, Tools bool }

// trees are the files before and after a case's change: its own, or those of a
// clone in the folder of repositories; nil for a case whose diff is all there is.
func trees(ctx context.Context, c dataset.Case, repos string) (base, head tree.Tree, err error) {
	if len(c.Tree) > 0 || repos == "" || c.Repo == "" || c.Base == "" || c.Head == "" {
		return c.Trees()
	}
	git, err := cloned(ctx, repos, c.Repo)
	if err != nil {
		return nil, nil, err
	}
	base, head = tree.Clone(git, c.Base), tree.Clone(git, c.Head)
	for _, commit := range []tree.Tree{base, head} {
		if _, err := commit.Paths(ctx); err != nil {
			return nil, nil, err
		}
	}
	return base, head, nil
}

// repository is owner/name, neither of them a step up.
var repository = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*/[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

// cloned finds the clone of a repository: owner+name or owner/name in the folder,
// with a work tree or bare. No clone around the folder is taken for it.
func cloned(ctx context.Context, repos, name string) (tree.Git, error) {
	if !repository.MatchString(name) {
		return nil, fmt.Errorf("repo %.100q is no owner/name", name)
	}
	for _, at := range []string{strings.Replace(name, "/", "+", 1), name} {
		for _, inner := range []string{".git", "", "repo"} {
			dir := filepath.Join(repos, at, inner)
			if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
				return ingest.Git(ctx, dir, "")
			}
		}
	}
	return nil, fmt.Errorf("there is no clone of %s in %s", name, repos)
}

// InRepos checks a case against the clones that it names, for dataset.Read: it gives
// what is wrong, or "".
func InRepos(ctx context.Context, repos string) func(dataset.Case) string {
	return func(c dataset.Case) string {
		_, head, err := trees(ctx, c, repos)
		if err == nil && head != nil {
			_, err = evidence(ctx, c, head)
		}
		if err != nil {
			return err.Error()
		}
		return ""
	}
}

// around is what the reviewer of a case may look at, the whole of it unless it is
// kept blind, and the lines that the known findings rest on.
func (r *run) around(ctx context.Context, c dataset.Case) (all wire.Surroundings, rests [][]oracle.Line, err error) {
	base, head, err := trees(ctx, c, r.Repos)
	if err != nil || head == nil {
		return all, nil, err
	}
	change, err := c.Change()
	if err != nil {
		return all, nil, err
	}
	all = wire.Around(wire.Looking{Head: head, Base: base, Files: change.Files, Tokens: r.Config.Context.Tokens(),
		Index: r.Config.Index})
	if r.Blind.Tools {
		all.Tools = tool.Set{}
	}
	if r.Blind.Packs {
		all.Pack = nil
	}
	rests, err = evidence(ctx, c, head)
	return all, rests, err
}

// evidence gives, for each known finding of a case, the lines that decide it.
func evidence(ctx context.Context, c dataset.Case, head tree.Tree) ([][]oracle.Line, error) {
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
