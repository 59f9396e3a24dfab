package ingest

import (
	"context"
	"path"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/claim"
	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
)

// maxAsked bounds what is asked of a base for one change. What was not asked is
// not borne out.
const maxAsked = 200

// base answers what a repository was like before a change.
type base interface {
	folder(ctx context.Context, path string) ([]string, error) // the names in it
	text(ctx context.Context, path string) ([]byte, error)     // of a file, at most maxBlob
	head(ctx context.Context, path string) ([]byte, error)     // of a file as the change leaves it, likewise
}

// question is what a claim needs to know of the base.
type question struct {
	path   string
	reason finding.Reason
	folder bool
	beside string // the extension of the folder's files that are looked at for a generator's header
	media  bool   // whether the file's own bytes are those of a picture or the like, which nobody reads
}

// vouch notes for each file which of its claims the base bears out. A change that
// claims nothing asks nothing, and what cannot be read is not borne out.
func vouch(ctx context.Context, files []diff.File, b base) error {
	of, known := questions(files)
	if err := ask(ctx, of, known, b); err != nil {
		return err
	}
	note(files, of, known)
	return nil
}

// questions are those of each file that its own patch leaves open, with what the
// other files of the change tell of the base's folders.
func questions(files []diff.File) (of [][]question, known map[question]bool) {
	of, known = make([][]question, len(files)), map[question]bool{}
	for i, f := range files {
		if diff.CheckPath(f.Path) != nil || f.OldPath != "" && diff.CheckPath(f.OldPath) != nil {
			continue
		}
		for _, c := range claim.Open(f) {
			q := question{path: claim.Before(f), reason: c.Reason}
			switch {
			case c.Folder != "":
				q.path, q.folder = c.Folder, true
			case c.Beside != "":
				q.path, q.beside = c.Beside, path.Ext(f.Path)
			case c.Media:
				q.path, q.media = f.Path, true
			}
			of[i] = append(of[i], q)
			if _, looked := known[q]; !looked {
				known[q] = q.folder && slices.ContainsFunc(files, func(f diff.File) bool {
					return claim.Under(claim.Before(f), q.path)
				})
			}
		}
	}
	return of, known
}

// note marks the files of which an answer was yes.
func note(files []diff.File, of [][]question, known map[question]bool) {
	for i := range files {
		if at := slices.IndexFunc(of[i], func(q question) bool { return known[q] }); at >= 0 {
			files[i].Vouched = string(of[i][at].reason)
		}
	}
}

// ask looks up what the change itself does not tell, in the order of its files.
func ask(ctx context.Context, of [][]question, known map[question]bool, b base) error {
	var group errgroup.Group
	var mu sync.Mutex
	group.SetLimit(4)
	seen := map[question]bool{}
	for _, q := range slices.Concat(of...) {
		mu.Lock()
		skip := known[q] || seen[q] || len(seen) >= maxAsked
		mu.Unlock()
		if skip {
			continue
		}
		seen[q] = true
		group.Go(func() error {
			is := q.ask(ctx, b)
			mu.Lock()
			defer mu.Unlock()
			known[q] = is
			return ctx.Err()
		})
	}
	return group.Wait()
}

func (q question) ask(ctx context.Context, b base) bool {
	switch {
	case q.folder:
		names, err := b.folder(ctx, q.path)
		return len(names) > 0 && err == nil
	case q.beside != "":
		return q.generated(ctx, b)
	case q.media:
		text, err := b.head(ctx, q.path)
		return err == nil && claim.IsMedia(text)
	}
	text, err := b.text(ctx, q.path)
	return err == nil && claim.Bears(text, q.reason)
}

// generated reports whether a folder's files of a kind are a generator's: two at least, and
// each of the first, the middle and the last of them by name. Of a folder that has none,
// it is the nearest one above that counts.
func (q question) generated(ctx context.Context, b base) bool {
	for dir := q.path; dir != "."; dir = path.Dir(dir) {
		names, err := b.folder(ctx, dir)
		if err != nil {
			return false
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return path.Ext(name) != q.beside })
		if len(names) > 0 {
			slices.Sort(names)
			return len(names) > 1 && !slices.ContainsFunc(slices.Compact([]string{names[0], names[len(names)/2],
				names[len(names)-1]}), func(name string) bool {
				text, err := b.text(ctx, path.Join(dir, name))
				return err != nil || !claim.Bears(text, q.reason)
			})
		}
	}
	return false
}
