package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

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

// Brief is what a reviewer by a model is told once the change was read.
type Brief struct {
	Change    ingest.Change
	Paid      reviewpr.Paid
	API       *github.Client // of a pull request's repository
	Workspace string         // folder of the results of tests
	NoTools   bool           // the diff is all that is looked at
	Revises   *cost.Usage    // of the draft that is revised; nil for a first one
	Carried   *CarriedIndex  // of a job; nil for none
	Linted    linter.Report  // what linters say of the change
	Once      review.Once    // keeps answers in place of Paid; nil for Paid
}

// looking says what there is to look at: the files of the change's two commits, of the
// clone of a range or of the pull request's repository, and what there is to tell of
// tests. A diff alone has none. results is a glob of their files.
func (b Brief) looking(ctx context.Context, w Wire, results string) (l Looking, ok bool, err error) {
	c := b.Change
	l = Looking{Files: c.Files, Tokens: c.Config.Context.Tokens(), Index: c.Config.Index, Now: w.now,
		Tests: tool.TestSources{Workspace: b.Workspace, Glob: results}}
	switch {
	case b.NoTools, c.Base == "" && c.Pull == nil:
		return l, false, nil
	case c.Pull != nil:
		l.Tests.API, l.Tests.Owner, l.Tests.Repo, l.Tests.SHA = b.API, c.Pull.Owner, c.Pull.Repo, c.Pull.HeadSHA
		l.Head, l.Base = b.archive(c.Pull.HeadSHA), b.archive(c.Pull.BaseSHA)
		if b.Carried != nil {
			l.Kept = func(ctx context.Context, e Endpoints) (*index.Index, error) {
				return b.carried(ctx, l.Base, e)
			}
		}
		return l, true, nil
	}
	base := w.PlaceOf(c.Clone, c.Base)
	l.Head, l.Base = tree.Clone(c.Clone, cmp.Or(c.Tree, c.Head)), base.Tree
	// the index of the base, made now where none is kept
	l.Kept = func(ctx context.Context, e Endpoints) (*index.Index, error) {
		if base.Cache.Folder == "" {
			return nil, nil
		}
		i := c.Config.Index
		x, err := base.inMemory(ctx, index.Options{Ignored: i.Ignores, MaxFiles: i.MaxFiles}, e)
		return x.Index, err
	}
	return l, true, nil
}

// carried is the index of the pull request's base as an earlier run left it, or made
// now for the next one. What could not be indexed in time the next run adds.
func (b Brief) carried(ctx context.Context, base tree.Tree, e Endpoints) (*index.Index, error) {
	commit, i := b.Change.Pull.BaseSHA, b.Change.Config.Index
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
	o := index.Options{Ignored: i.Ignores, MaxFiles: i.MaxFiles, Limit: carriedTime}
	x, made := Place{Tree: base, Commit: commit, From: stored}.inMemory(ctx, o, e)
	if made != nil || exact { // what is there under a commit's name stays as it is
		return x.Index, errors.Join(err, made)
	}
	return x.Index, errors.Join(err, b.Carried.Keep(ctx, commit, x.Index))
}

// carriedTime is how long a run indexes the base for the runs after it.
const carriedTime = 90 * time.Second

// archive is a commit of the pull request's repository. It is fetched when the first
// file is asked for, and held in memory: nothing is checked out.
func (b Brief) archive(sha string) tree.Tree {
	return tree.Archive(func(ctx context.Context) (io.ReadCloser, error) {
		return b.API.Archive(ctx, b.Change.Pull.Owner, b.Change.Pull.Repo, sha)
	})
}

// said reads what was said on a pull request, and names what of it could not be read.
type said func(context.Context) (all []prompt.Document, notes []string)

// discussion is what get_pr_discussion tells of the commits, comments and reviews. Which
// sections are read is fixed here: no model chooses, and issues, which are tickets, are not
// among them.
func (b Brief) discussion(own *secret.Redactor) said {
	if b.Change.Pull == nil || b.API == nil {
		return nil
	}
	tools := tool.NewSet(tool.Discussion(tool.DiscussionSource{API: b.API, Ref: b.Change.Pull.Ref})).Redacting(own)
	sections := []string{"commits", "comments", "reviews"}
	return func(ctx context.Context) (all []prompt.Document, notes []string) {
		records := make([]tool.Record, len(sections))
		var reads sync.WaitGroup
		for i, section := range sections {
			reads.Go(func() {
				records[i] = tools.Call(ctx, llm.Call{Name: "get_pr_discussion",
					Arguments: fmt.Sprintf(`{"section":%q}`, section)})
			})
		}
		reads.Wait()
		for i, r := range records {
			if r.Problem != "" {
				notes = append(notes, fmt.Sprintf("The %s of the pull request could not be read; the look at the "+
					"whole change did without them.", sections[i]))
				continue
			}
			all = append(all, prompt.Document{Path: sections[i], Text: r.Text})
		}
		return all, notes
	}
}
