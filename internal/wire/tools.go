package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/cost"
	"github.com/org/pr-review-action/internal/flow/reviewpr"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/linter"
	"github.com/org/pr-review-action/internal/llm"
	"github.com/org/pr-review-action/internal/prompt"
	"github.com/org/pr-review-action/internal/review"
	"github.com/org/pr-review-action/internal/secret"
	"github.com/org/pr-review-action/internal/tool"
	"github.com/org/pr-review-action/internal/tree"
)

// Brief holds what Prepare needs to know about a change that was read.
type Brief struct {
	Change    ingest.Change
	Paid      reviewpr.Paid
	API       *github.Client // of a pull request's repository
	Workspace string         // folder of the test results
	Proposed  Proposed       // the change, if no commit has it
	Revises   *cost.Usage    // usage of the draft under revision; nil for a first draft
	Carried   *CarriedIndex  // nil outside a job
	Linted    linter.Report  // the linters' hints on the change
	Once      review.Once    // keeps answers in place of Paid; nil for Paid
}

// Proposed is a change that no commit has yet.
type Proposed struct {
	On    Place             // the commit that it would change
	Files map[string]string // what it would write, by path
}

// repoOptions collects what a model may look at: the files of the change's two commits, from the
// clone or the pull request's repository, and the test results that the glob results matches.
// ok is false for a diff alone.
func (b Brief) repoOptions(w Wire, results string) (l RepoOptions, ok bool) {
	c := b.Change
	l = RepoOptions{Files: c.Files, Tokens: c.Config.Context.Tokens(), Index: c.Config.Index,
		Tests: tool.TestSources{Workspace: b.Workspace, Glob: results}}
	switch {
	case b.Proposed.On.Tree != nil:
		l.Head, l.Tests = b.Proposed.On.Tree.With(b.Proposed.Files), tool.TestSources{}
		l.baseAt(b.Proposed.On, c.Config)
		return l, true
	case c.Base == "" && c.Pull == nil:
		return l, false
	case c.Pull != nil:
		l.Tests.API, l.Tests.Owner, l.Tests.Repo, l.Tests.SHA = b.API, c.Pull.Owner, c.Pull.Repo, c.Pull.HeadSHA
		l.Head = ArchiveOf(b.API, c.Pull.Owner, c.Pull.Repo, c.Pull.HeadSHA)
		l.Base = ArchiveOf(b.API, c.Pull.Owner, c.Pull.Repo, c.Pull.BaseSHA)
		if b.Carried != nil {
			l.Kept = func(ctx context.Context, e Endpoints) (*index.Index, error) {
				return b.carriedIndex(ctx, l.Base, e)
			}
		}
		return l, true
	}
	l.Head = tree.Clone(c.Clone, cmp.Or(c.Tree, c.Head))
	l.baseAt(w.PlaceOf(c.Clone, c.Base), c.Config)
	return l, true
}

// baseAt sets the base, whose index is built when it is needed if the place keeps none.
func (l *RepoOptions) baseAt(base Place, c config.Config) {
	l.Base = base.Tree
	l.Kept = func(ctx context.Context, e Endpoints) (*index.Index, error) {
		if base.Cache.Folder == "" {
			return base.From, nil
		}
		x, err := base.inMemory(ctx, index.Options{}, c.Index, e)
		return x.Index, err
	}
}

// carriedIndex returns the index of the pull request's base that an earlier run left, or builds
// one, or completes it, for the next run.
func (b Brief) carriedIndex(ctx context.Context, base *tree.Tree, e Endpoints) (*index.Index, error) {
	commit := b.Change.Pull.BaseSHA
	stored, exact, err := b.Carried.Load(ctx, commit)
	if exact && err == nil {
		info := stored.Vectors()
		if e.Embedder == nil || info.Missing == 0 && info.Model == e.Embedder.Identity() {
			return stored, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	x, made := Place{Tree: base, Commit: commit, From: stored}.inMemory(ctx, index.Options{},
		b.Change.Config.Index, e)
	if made != nil || exact && x.Index == stored {
		return x.Index, errors.Join(err, made)
	}
	return x.Index, errors.Join(err, b.Carried.Keep(ctx, commit, x.Index))
}

// ArchiveOf returns a commit of a repository on GitHub. It is fetched when the first
// file is read, and held in memory: nothing is checked out.
func ArchiveOf(api *github.Client, owner, repo, sha string) *tree.Tree {
	return tree.Archive(func(ctx context.Context) (io.ReadCloser, error) { return api.Archive(ctx, owner, repo, sha) })
}

// discussionReader reads the discussion of a pull request; notes name the sections that could not be
// read.
type discussionReader func(context.Context) (all []prompt.Document, notes []string)

// discussion returns a reader of the commits, comments and reviews, through
// get_pr_discussion; nil without a pull request. The sections are fixed here, not chosen by a
// model, and leave out issues, which are tickets.
func (b Brief) discussion(own *secret.Redactor) discussionReader {
	if b.Change.Pull == nil || b.API == nil {
		return nil
	}
	tools := tool.NewSet(tool.Discussion(tool.DiscussionSource{API: b.API, Ref: b.Change.Pull.Ref})).Redacting(own)
	return func(ctx context.Context) (all []prompt.Document, notes []string) {
		for _, section := range []string{"commits", "comments", "reviews"} {
			r := tools.Call(ctx, llm.Call{Name: "get_pr_discussion", Arguments: fmt.Sprintf(`{"section":%q}`, section)})
			if r.Problem != "" {
				notes = append(notes, fmt.Sprintf("The %s of the pull request could not be read; the look at the "+
					"whole change did without them.", section))
				continue
			}
			all = append(all, prompt.Document{Path: section, Text: r.Text})
		}
		return all, notes
	}
}
