package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/linguist"
	"github.com/org/pr-review-action/internal/pull"
)

const maxBlob = 2 << 20

// API is the part of GitHub's API that ingest reads.
type API interface {
	Pull(context.Context, pull.Ref) (pull.Pull, error)
	Files(context.Context, pull.Pull) (files []diff.File, complete bool, err error)
	MergeBase(context.Context, pull.Pull) (string, error)
	Content(ctx context.Context, owner, repo, path, ref string, limit int64) ([]byte, error)
	Folder(ctx context.Context, owner, repo, path, ref string) ([]string, error)
	Protected(ctx context.Context, owner, repo, branch string) (bool, error)
	AllEntries(ctx context.Context, owner, repo, commit string) (map[string]diff.Entry, error)
}

// PullOptions configures how a pull request is read.
type PullOptions struct {
	Instance string // of the reviewer; part of the thread's id
	Config   config.File
}

// Pull reads a whole pull request: Open, then Files.
func Pull(ctx context.Context, api API, ref pull.Ref, o PullOptions) (Change, error) {
	c, err := Open(ctx, api, ref, o)
	if err != nil {
		return Change{}, err
	}
	return Files(ctx, api, c)
}

// Open reads what identifies a pull request's thread and decides whether it is reviewed: the
// description and the settings.
func Open(ctx context.Context, api API, ref pull.Ref, o PullOptions) (Change, error) {
	p, err := api.Pull(ctx, ref)
	if err != nil {
		return Change{}, err
	}
	c := Change{Name: fmt.Sprintf("#%d", p.Number), Thread: pull.ThreadID(p.Ref, o.Instance, p.HeadSHA),
		Head: p.HeadSHA, Pull: &p, Settings: o.Config.InRepository()}
	err = readSettings(ctx, api, p, o.Config, &c)
	return c, err
}

// Files reads every file of an open pull request with its patch. A file whose content cannot be
// read has the reason in Problem. A file with more changed lines than the settings allow is not
// diffed here, because it will not be reviewed.
func Files(ctx context.Context, api API, c Change) (Change, error) {
	p := *c.Pull
	c.Pull = &p
	var err error
	if c.Files, err = listFiles(ctx, api, p); err != nil {
		return Change{}, err
	}
	c.Unlisted = max(0, p.ChangedFiles-len(c.Files))
	if err := readGuidance(ctx, api, p, &c); err != nil {
		return Change{}, err
	}
	if err := diffMissing(ctx, api, &p, c.Files, c.Config.Lines()); err != nil {
		return Change{}, err
	}
	return c, confirmClaims(ctx, c.Files, pullBase{api, p.Owner, p.Repo, p.BaseSHA, p.HeadSHA})
}

// Current reads what a decision is checked against: a pull request's state, head and diff. It
// needs no access to content.
func Current(ctx context.Context, api API, ref pull.Ref) (Change, error) {
	p, err := api.Pull(ctx, ref)
	if err != nil {
		return Change{}, err
	}
	c := Change{Head: p.HeadSHA, Pull: &p}
	c.Files, err = listFiles(ctx, api, p)
	return c, err
}

// Settings reads a repository's settings file at a commit or branch that the change itself cannot
// modify. Without a file it returns the defaults.
func Settings(ctx context.Context, api API, ref pull.Ref, file config.File, revision string) (config.Config, error) {
	text, err := readOptional(ctx, api, pull.Pull{Ref: ref}, file.Path, revision, config.MaxSize+1)
	if err != nil {
		return config.Config{}, err
	}
	return parseSettings(file, text, func(dir string) ([]string, error) {
		return api.Folder(ctx, ref.Owner, ref.Repo, dir, revision)
	})
}

func listFiles(ctx context.Context, api API, p pull.Pull) ([]diff.File, error) {
	files, _, err := api.Files(ctx, p)
	if err != nil {
		return nil, err
	}
	return sortByPath(files), nil
}

// readSettings reads settings and attributes from the base, or from the default branch if
// the base is another branch without protection.
func readSettings(ctx context.Context, api API, p pull.Pull, file config.File, c *Change) error {
	ref := p.BaseSHA
	if p.BaseRef != p.DefaultBranch {
		protected, err := api.Protected(ctx, p.Owner, p.Repo, p.BaseRef)
		if err != nil && !errors.Is(err, github.ErrNotFound) && !errors.Is(err, github.ErrNoAccess) {
			return err
		}
		if !protected {
			ref = p.DefaultBranch
		}
	}
	c.Base, c.rulesAt = p.BaseSHA, ref
	return c.readRules(file, func(path string, limit int64) ([]byte, error) {
		return readOptional(ctx, api, p, path, ref, limit)
	}, func(dir string) ([]string, error) { return api.Folder(ctx, p.Owner, p.Repo, dir, ref) })
}

// readGuidance reads what guides the review, of the commit that the settings are from. In a repository of more files
// than GitHub lists, this is what the settings name.
func readGuidance(ctx context.Context, api API, p pull.Pull, c *Change) (err error) {
	var entries map[string]diff.Entry
	if len(c.instructions()) > len(c.Config.Instructions) {
		entries, err = api.AllEntries(ctx, p.Owner, p.Repo, c.rulesAt)
		if err != nil && !errors.Is(err, github.ErrTooLarge) {
			return err
		}
	}
	return c.readGuidance(func(path string, limit int64) ([]byte, error) {
		return readOptional(ctx, api, p, path, c.rulesAt, limit)
	}, func(path string) (string, error) { return entries[path].Mode, nil })
}

func readOptional(ctx context.Context, api API, p pull.Pull, path, ref string, limit int64) ([]byte, error) {
	text, err := api.Content(ctx, p.Owner, p.Repo, path, ref, limit)
	if errors.Is(err, github.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, text...), nil // non-nil: an empty file exists
}

const maxHidden = 50

// diffMissing creates the patches that GitHub left out. A file counts as binary because GitHub
// says so, which attributes of the head may have caused: such a file's content is checked, unless
// its name already marks it as one that is not read.
func diffMissing(ctx context.Context, api API, p *pull.Pull, files []diff.File, maxChanges int) (err error) {
	var missing []int
	hidden := 0
	for i, f := range files {
		if f.Binary && f.Status != diff.Removed && len(linguist.Of(f)) == 1 && hidden < maxHidden {
			missing, hidden = append(missing, i), hidden+1
		}
		if f.Patch == "" && f.Changes() > 0 && f.Changes() <= maxChanges && f.Status != diff.Removed && !f.Binary {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if p.MergeBase, err = api.MergeBase(ctx, *p); err != nil {
		for _, i := range missing {
			if err := noteUnreadable(ctx, &files[i], err); err != nil {
				return err
			}
		}
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, i := range missing {
		group.Go(func() error { return diffBlobs(ctx, api, *p, &files[i]) })
	}
	return group.Wait()
}

// diffBlobs creates a file's patch from its two versions. A read error affects only that file,
// unless the run itself ended.
func diffBlobs(ctx context.Context, api API, p pull.Pull, f *diff.File) error {
	before := ""
	if f.Status != diff.Added {
		text, err := api.Content(ctx, p.Owner, p.Repo, cmp.Or(f.OldPath, f.Path), p.MergeBase, maxBlob)
		if err != nil {
			return noteUnreadable(ctx, f, err)
		}
		before = string(text)
	}
	after, err := api.Content(ctx, p.Owner, p.Repo, f.Path, p.HeadSHA, maxBlob)
	if err != nil {
		return noteUnreadable(ctx, f, err)
	}
	was := linguist.Bears(f.Path, []byte(before), finding.Binary)
	if f.Binary = was || linguist.Bears(f.Path, after, finding.Binary); f.Binary {
		if was {
			f.Vouched = string(finding.Binary)
		}
		return nil
	}
	f.Patch, f.Additions, f.Deletions = diff.Between(before, string(after))
	return nil
}

func noteUnreadable(ctx context.Context, f *diff.File, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f.Binary: // it stays binary, as GitHub reports
	case errors.Is(err, github.ErrTooLarge):
		f.Problem = "GitHub gives no diff for it, and it is too large to be diffed here"
	case errors.Is(err, github.ErrNotFound):
		f.Problem = "GitHub gives neither a diff nor the content of it"
	default:
		f.Problem = "GitHub gives no diff for it, and its content could not be read"
	}
	return nil
}

// pullBase is the commit into which a pull request is to be merged.
type pullBase struct {
	api                     API
	owner, repo, baseCommit string
	headCommit              string
}

func (b pullBase) listFolder(ctx context.Context, path string) ([]string, error) {
	return b.api.Folder(ctx, b.owner, b.repo, path, b.baseCommit)
}

func (b pullBase) readHead(ctx context.Context, path string) ([]byte, error) {
	return b.api.Content(ctx, b.owner, b.repo, path, b.headCommit, maxBlob)
}

func (b pullBase) readBase(ctx context.Context, path string) ([]byte, error) {
	return b.api.Content(ctx, b.owner, b.repo, path, b.baseCommit, maxBlob)
}
