package searchcmd

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/tree"
	"github.com/org/pr-review-action/internal/wire"
)

// open gives an engine over the place that the flags name, and its commit.
func (p Program) open(ctx context.Context, o *Options) (*retrieve.Engine, string, error) {
	c, err := o.config(cmp.Or(o.dir, "."))
	if err != nil {
		return nil, "", err
	}
	var place wire.Place
	if o.repo != "" {
		place, err = p.remote(ctx, o)
	} else {
		place, err = p.Place(ctx, o.dir, o.rev)
	}
	if err != nil {
		return nil, "", err
	}
	e, err := p.index(ctx, place, index.Options{}, c, o)
	return e, place.Commit, err
}

// index makes the engine over a place.
func (p Program) index(ctx context.Context, place wire.Place, of index.Options, c config.Config,
	o *Options) (*retrieve.Engine, error) {
	e, err := p.Searching(c, o.Settings)
	if err != nil {
		return nil, err
	}
	x, err := p.Indexed(ctx, place, of, c, e, p.Warn)
	if err != nil {
		return nil, err
	}
	for _, note := range x.Notes {
		p.Warn(note)
	}
	return &retrieve.Engine{Index: x.Source, Instead: x.Instead, Embedder: e.Embedder, Reranker: e.Reranker,
		Now: p.Now}, nil
}

// remote is a commit of a repository on GitHub. It is fetched as one archive and
// nothing of it is kept.
func (p Program) remote(ctx context.Context, o *Options) (wire.Place, error) {
	owner, name, err := pull.ParseRepository(o.repo)
	if err != nil {
		return wire.Place{}, problem.Usage(err.Error(), "name it owner/name")
	}
	at := pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: name}.On(p.Getenv("GITHUB_SERVER_URL"))
	api, err := p.GitHub(at, o.Settings)
	if err != nil {
		return wire.Place{}, err
	}
	commit, err := api.Commit(ctx, owner, name, cmp.Or(o.rev, "HEAD"))
	if err != nil {
		return wire.Place{}, err
	}
	files := tree.Archive(func(ctx context.Context) (io.ReadCloser, error) {
		return api.Archive(ctx, owner, name, commit)
	})
	return wire.Place{Commit: commit, Name: owner + "/" + name, Tree: files}, nil
}

// config is the settings file: the one of --config, else that of the folder, which need
// not be there. A repository on GitHub brings none.
func (o *Options) config(dir string) (config.Config, error) {
	name := o.Settings.Config
	named := name != settings.Defaults().Config
	if !named {
		if o.repo != "" {
			return config.Config{}, nil
		}
		name = filepath.Join(dir, name)
	}
	text, err := os.ReadFile(name)
	switch {
	case os.IsNotExist(err) && !named:
		return config.Config{}, nil
	case err != nil:
		return config.Config{}, problem.Usage("the settings cannot be read: "+err.Error(),
			"name the file with --config")
	}
	return config.Parse(name, text)
}
