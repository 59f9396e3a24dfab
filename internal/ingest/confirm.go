package ingest

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/org/pr-review-action/internal/diff"
	"github.com/org/pr-review-action/internal/finding"
	"github.com/org/pr-review-action/internal/linguist"
)

// maxAsked is the largest number of questions to a base for one change. A claim whose question is
// not asked is not confirmed.
const maxAsked = 200

// Additional questions to a pull request's base about generators' headers. Each is a request to
// GitHub, so the longest patches come first.
const (
	maxUnseen = 50 // files
	maxBeside = 4  // folders of new files; their names and three of their files are read
)

// base reads the repository as it was before a change.
type base interface {
	listFolder(ctx context.Context, path string) ([]string, error) // the names of its entries
	readBase(ctx context.Context, path string) ([]byte, error)     // a file's content, at most maxBlob
	readHead(ctx context.Context, path string) ([]byte, error)     // a file's content after the change, likewise
}

// question is what has to be known about the base to confirm a claim.
type question struct {
	path   string
	reason finding.Reason
	folder bool
	unseen bool   // whether the file begins with a generator's header
	beside string // end of the folder's files that are checked for such a header
	media  bool   // whether the file's own bytes are those of a picture or the like
}

// confirmClaims records for each file which of its claims the base confirms. A change without claims asks
// nothing, and what cannot be read is not confirmed.
func confirmClaims(ctx context.Context, files []diff.File, b base) error {
	open := claims(files)
	if _, remote := b.(pullBase); remote {
		limitHeaderClaims(files, open)
	}
	of, known := questions(files, open)
	if err := ask(ctx, of, known, b); err != nil {
		return err
	}
	recordVouched(files, of, known)
	return nil
}

func claims(files []diff.File) [][]linguist.Claim {
	open := make([][]linguist.Claim, len(files))
	for i, f := range files {
		if diff.CheckPath(f.Path) == nil && (f.OldPath == "" || diff.CheckPath(f.OldPath) == nil) {
			open[i] = linguist.Open(f)
		}
	}
	return open
}

// limitHeaderClaims removes the claims about generators' headers that are beyond the limits.
func limitHeaderClaims(files []diff.File, open [][]linguist.Claim) {
	order := make([]int, len(files))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(files[b].Changes(), files[a].Changes()) })
	unseen, beside := 0, map[string]bool{}
	for _, i := range order {
		open[i] = slices.DeleteFunc(open[i], func(c linguist.Claim) bool {
			kind := c.Beside + linguist.Kind(files[i].Path)
			switch {
			case c.Unseen && unseen < maxUnseen:
				unseen++
			case c.Beside != "" && (beside[kind] || len(beside) < maxBeside):
				beside[kind] = true
			default:
				return c.Unseen || c.Beside != ""
			}
			return false
		})
	}
}

// questions returns the questions of each file's open claims, and what the change itself answers.
func questions(files []diff.File, open [][]linguist.Claim) (of [][]question, known map[question]bool) {
	of, known = make([][]question, len(files)), map[question]bool{}
	for i, f := range files {
		for _, c := range open[i] {
			q := question{path: linguist.Before(f), reason: c.Reason, unseen: c.Unseen}
			switch {
			case c.Folder != "":
				q.path, q.folder = c.Folder, true
			case c.Beside != "":
				q.path, q.beside = c.Beside, linguist.Kind(f.Path)
			case c.Media:
				q.path, q.media = f.Path, true
			}
			of[i] = append(of[i], q)
			if _, looked := known[q]; !looked {
				source := q.path + ".map" // beside what a build made
				known[q] = slices.ContainsFunc(files, func(f diff.File) bool {
					old := linguist.Before(f)
					return q.folder && linguist.Under(old, q.path) || q.unseen && old == source
				})
			}
		}
	}
	return of, known
}

func recordVouched(files []diff.File, of [][]question, known map[question]bool) {
	for i := range files {
		if at := slices.IndexFunc(of[i], func(q question) bool { return known[q] }); at >= 0 {
			files[i].Vouched = string(of[i][at].reason)
		}
	}
}

// ask looks up, in the order of the files, what the change itself does not answer.
func ask(ctx context.Context, of [][]question, known map[question]bool, b base) error {
	var group errgroup.Group
	var mu sync.Mutex
	group.SetLimit(4)
	seen, asked := map[question]bool{}, 0
	for _, q := range slices.Concat(of...) {
		header := q.unseen || q.beside != ""
		mu.Lock()
		skip := known[q] || seen[q] || !header && asked >= maxAsked
		mu.Unlock()
		if skip {
			continue
		}
		if seen[q] = true; !header {
			asked++
		}
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
		names, err := b.listFolder(ctx, q.path)
		return len(names) > 0 && err == nil
	case q.beside != "":
		return q.isGenerated(ctx, b)
	case q.media:
		text, err := b.readHead(ctx, q.path)
		return err == nil && linguist.IsMedia(text)
	}
	text, err := b.readBase(ctx, q.path)
	return err == nil && linguist.Bears(q.path, text, q.reason)
}

// isGenerated reports whether a folder's files with an extension are generated: there are at least
// two, and the first, middle and last of them by name all are. If a folder has none, the nearest
// of the next two folders above that has some decides.
func (q question) isGenerated(ctx context.Context, b base) bool {
	for dir, up := q.path, 0; dir != "." && up < 3; dir, up = path.Dir(dir), up+1 {
		names, err := b.listFolder(ctx, dir)
		if err != nil {
			return false
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !strings.HasSuffix(name, q.beside)
		})
		if len(names) > 0 {
			slices.Sort(names)
			return len(names) > 1 && !slices.ContainsFunc(slices.Compact([]string{names[0], names[len(names)/2],
				names[len(names)-1]}), func(name string) bool {
				text, err := b.readBase(ctx, path.Join(dir, name))
				return err != nil || !linguist.Bears(name, text, q.reason)
			})
		}
	}
	return false
}
