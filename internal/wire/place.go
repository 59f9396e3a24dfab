package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/pr-review-action/internal/checkpoint/filestore"
	"github.com/org/pr-review-action/internal/chunker"
	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/tree"
)

// Place is what can be indexed: a commit, or a folder in its current state.
type Place struct {
	Tree   *tree.Tree
	Folder string       // where its files, or its commit's, are on this machine; empty if they are not here
	Commit string       // full hash; empty for a folder that is not a clone
	Name   string       // of the repository in a shared database
	Cache  index.Cache  // where its indexes are kept; without a folder they are not
	From   *index.Index // an index to build on if the cache has none; may be nil
	Unkept bool         // nothing of it is kept, so only a part is worth embedding
	// Changed marks a place with a change in it: paid answers are journalled, since its index
	// is never kept
	Changed bool
}

// Place returns the place at dir: commit rev of a clone (HEAD if empty), or the files of any
// other folder. An empty dir means the clone around the current folder.
func (w Wire) Place(ctx context.Context, dir, rev string) (Place, error) {
	at := cmp.Or(dir, ".")
	if info, err := os.Stat(at); err != nil || !info.IsDir() {
		return Place{}, problem.Usage(fmt.Sprintf("%q is not a folder that can be read", at),
			"--dir names a clone, or any folder")
	}
	var commit string
	clone, err := ingest.OpenClone(ctx, at)
	if err == nil {
		commit, err = clone.Commit(ctx, cmp.Or(rev, "HEAD"))
	}
	switch {
	case err == nil && (dir == "" || isTop(dir, clone.Dir)):
		place := w.PlaceOf(clone, commit)
		place.Folder, _ = clone.Top(ctx) // a bare clone has none
		return place, nil
	case rev == "" && (err == nil || errors.Is(err, ingest.ErrNoClone) || errors.Is(err, ingest.ErrNoGit) ||
		errors.Is(err, ingest.ErrNoRange)): // its files: within a clone, in none, or in one without a commit
		return Place{Tree: tree.Folder(at), Folder: at, Cache: w.cache(at)}, nil
	case errors.Is(err, ingest.ErrNoRange):
		return Place{}, problem.Usage(fmt.Sprintf("%q is not a commit of this clone", cmp.Or(rev, "HEAD")),
			"--rev takes a branch, a tag or a hash; a shallow clone may need git fetch --unshallow")
	case err == nil, errors.Is(err, ingest.ErrNoClone):
		return Place{}, problem.Usage("--rev needs a clone, and "+at+" is not the folder of one",
			"name the clone's own folder with --dir, or leave out --rev to take the files")
	}
	return Place{}, err
}

// PlaceOf returns a commit of an open clone, given by its full hash, without the clone's
// folder.
func (w Wire) PlaceOf(clone ingest.Clone, commit string) Place {
	return Place{Tree: tree.Clone(clone, commit), Commit: commit, Name: "clone", Cache: w.cache(clone.Dir)}
}

// Settings returns the settings in the file that --config names, otherwise the place's own: the
// file in the work tree of a clone, or that of the commit if there is no work tree.
func (p Place) Settings(ctx context.Context, file config.File) (config.Config, error) {
	if file.Path != config.DefaultPath {
		return NamedConfig(file, config.Config{})
	}
	var text []byte
	var err error
	if p.Folder != "" {
		text, err = ReadFile(filepath.Join(p.Folder, file.Path), config.MaxSize)
	} else {
		text, err = p.Tree.Read(ctx, file.Path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err != nil && tree.AboutFile(err):
		return config.Config{}, nil
	case err != nil:
		return config.Config{}, problem.Usage("the settings cannot be read: "+err.Error(),
			"name another file with --config")
	}
	return config.Parse(file.Path, text)
}

// isTop reports whether a folder is the top of a clone rather than one within it.
func isTop(dir, clone string) bool {
	at, err := filepath.EvalSymlinks(dir)
	if err == nil {
		at, err = filepath.Abs(at)
	}
	if err != nil {
		return false
	}
	if resolved, err := filepath.EvalSymlinks(clone); err == nil {
		clone = resolved
	}
	_, err = os.Lstat(filepath.Join(at, ".git"))
	return err == nil || at == clone
}

// cache returns the folder for a place's indexes, within the user's cache folder; empty if
// that is not known.
func (w Wire) cache(of string) index.Cache {
	base, _ := filestore.UserFolder(w.getenv, "XDG_CACHE_HOME", ".cache", "Library/Caches")
	at, err := filepath.Abs(of)
	if base == "" || err != nil {
		return index.Cache{}
	}
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(at)))[:16]
	return index.Cache{Folder: filepath.Join(base, "index", name)}
}

// Index builds the index of a place as configured, reusing what is kept of it, and keeps the result. note
// tells a person why the index could not be kept; the index is complete anyway.
func (p Place) Index(ctx context.Context, o index.Options, c config.Index) (x *index.Index, r index.Report,
	note string, err error) {
	within := o.Ignored
	o.Ignored = func(path string) bool { return within != nil && within(path) || c.Ignores(path) }
	o.MaxFiles, o.Cut, o.Made = c.MaxFiles, chunker.New().Cut, chunker.Version()
	previous, exact := p.From, false
	if p.Cache.Folder != "" {
		if kept, own := p.Cache.Load(p.Commit); kept != nil {
			previous, exact = kept, own
		}
	}
	if x, r, err = index.Build(ctx, p.Tree, previous, o); err != nil {
		return nil, r, "", fmt.Errorf("indexing: %w", err)
	}
	if p.Cache.Folder != "" && !(exact && x == previous) {
		if err := p.Cache.Keep(p.Commit, x); err != nil {
			note = "the index is not kept for the next time: " + err.Error()
		}
	}
	return x, r, note, nil
}
