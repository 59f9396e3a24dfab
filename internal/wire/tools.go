package wire

import (
	"cmp"
	"context"
	"io"

	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

// Brief is what a reviewer by a model is told once the change was read.
type Brief struct {
	Change    ingest.Change
	Paid      reviewpr.Paid
	API       *github.Client // of a pull request's repository
	Workspace string         // folder of the results of tests
	NoTools   bool           // the diff is all that is looked at
	Revises   *cost.Usage    // of the draft that is revised; nil for a first one
}

// Surroundings are what a model may look at beside the diff. The zero value is nothing.
type Surroundings struct {
	Tools tool.Set
	Head  func(ctx context.Context, path string) ([]byte, error) // a file behind the change; nil for none
}

// tools offers the files of the change's two commits: of the clone of a range, or of
// the pull request's repository, and what there is to tell of tests. A diff alone has
// none. results is a glob of their files.
func (b Brief) tools(ctx context.Context, results string) (Surroundings, error) {
	tests := tool.TestSources{Workspace: b.Workspace, Glob: results}
	switch {
	case b.NoTools, b.Change.Base == "" && b.Change.Pull == nil:
		return Surroundings{}, nil
	case b.Change.Pull != nil:
		p := b.Change.Pull
		tests.API, tests.Owner, tests.Repo, tests.SHA = b.API, p.Owner, p.Repo, p.HeadSHA
		return Around(b.archive(p.HeadSHA), b.archive(p.BaseSHA), tests), nil
	}
	git, err := ingest.Git(ctx, ".", b.Change.Objects)
	if err != nil {
		return Surroundings{}, err
	}
	return Around(tree.Clone(git, cmp.Or(b.Change.Tree, b.Change.Head)), tree.Clone(git, b.Change.Base), tests), nil
}

// archive is a commit of the pull request's repository. It is fetched when the first
// file is asked for, and held in memory: nothing is checked out.
func (b Brief) archive(sha string) tree.Tree {
	return tree.Archive(func(ctx context.Context) (io.ReadCloser, error) {
		return b.API.Archive(ctx, b.Change.Pull.Owner, b.Change.Pull.Repo, sha)
	})
}

// Around offers the files of two commits, and where there are any the results of tests.
func Around(head, base tree.Tree, tests tool.TestSources) Surroundings {
	offers := []tool.Tool{tool.ReadFile(head, base), tool.SearchCode(head), tool.FindReferences(head)}
	if tests.API != nil || tests.Glob != "" {
		offers = append(offers, tool.RunTests(tests))
	}
	return Surroundings{tool.NewSet(offers...), head.Read}
}
