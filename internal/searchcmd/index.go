package searchcmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/pr-review-action/internal/config"
	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/github"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/org/pr-review-action/internal/wording"
)

// place returns the place named by the flags, and its settings. Those of a repository on GitHub
// are not read; --config or the defaults apply.
func (p Program) place(ctx context.Context, o *Options) (place wire.Place, c config.Config, err error) {
	if o.repo == "" {
		if place, err = p.Place(ctx, o.dir, o.rev); err == nil {
			c, err = place.Settings(ctx, o.File())
		}
	} else if c, err = wire.NamedConfig(o.File(), config.Config{}); err == nil {
		place, err = p.remote(ctx, o)
	}
	return place, c, err
}

// index indexes a place and returns an engine that searches it.
func (p Program) index(ctx context.Context, place wire.Place, of index.Options, c config.Config,
	o *Options) (x wire.Indexed, engine *retrieve.Engine, err error) {
	e, err := p.Searching(c, o.Settings, wire.Asking{})
	if err == nil {
		x, err = p.Indexed(ctx, place, of, c, e, p.Warn)
	}
	for _, note := range x.Notes {
		p.Warn(note)
	}
	if err != nil {
		return x, nil, err
	}
	if x.Source.Vectors().Model == "" { // the notes say why
		e.Embedder = nil
	}
	return x, &retrieve.Engine{Index: x.Source, Instead: x.Instead, Embedder: e.Embedder, Reranker: e.Reranker}, nil
}

// remote returns a commit of a repository on GitHub. It is fetched as one archive and not
// kept on this machine.
func (p Program) remote(ctx context.Context, o *Options) (wire.Place, error) {
	at, err := p.Repository(o.repo)
	if err != nil {
		return wire.Place{}, problem.Usage(err.Error(), "name it owner/name")
	}
	api, err := p.GitHub(at, o.Settings)
	if err != nil {
		return wire.Place{}, err
	}
	commit, err := revision(ctx, api, at, o.rev)
	return wire.Place{Commit: commit, Name: at.FullName(), Tree: wire.ArchiveOf(api, at.Owner, at.Repo, commit)}, err
}

// revision returns the commit of a revision, by default the default branch's tip.
func revision(ctx context.Context, api *github.Client, at pull.Ref, rev string) (string, error) {
	if rev != "" {
		return api.Commit(ctx, at.Owner, at.Repo, rev)
	}
	repo, err := api.Repository(ctx, at.Owner, at.Repo)
	if err != nil {
		return "", err
	}
	tip, err := api.Tip(ctx, at.Owner, at.Repo, repo.DefaultBranch)
	return tip.SHA, err
}

// Index runs the index command: it builds the index that a search would use, and prints what it contains.
func (p Program) Index(ctx context.Context, _ []string, o *Options) error {
	place, c, err := p.place(ctx, o)
	if err != nil {
		return err
	}
	x, _, err := p.index(ctx, place, index.Options{}, c, o)
	if err != nil {
		return err
	}
	r := x.Report
	if o.JSON {
		return driver.PrintJSON(p.Stdout, struct {
			Commit string `json:"commit,omitempty"`
			index.Report
		}{place.Commit, r})
	}
	fmt.Fprintf(p.Stdout, "%s of %s, %.1f MB, in %.1f s; %s unchanged since the last index\n",
		wording.Count(r.Chunks, "chunk"), wording.Count(r.Files, "file"), float64(r.Bytes)/1e6, r.Seconds,
		wording.Count(r.Reused, "file"))
	skipped := map[bool][]string{} // true: indexed, but not cut by definitions
	for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
		name, uncut := strings.CutPrefix(reason, index.Windows)
		skipped[uncut] = append(skipped[uncut], fmt.Sprintf("%d %s", r.Skipped[reason], name))
	}
	if len(skipped[false]) > 0 {
		fmt.Fprintln(p.Stdout, "not indexed: "+strings.Join(skipped[false], ", "))
	}
	if len(skipped[true]) > 0 {
		fmt.Fprintln(p.Stdout, "cut by lines, not by definitions: "+strings.Join(skipped[true], ", "))
	}
	if place.Cache.Folder != "" && len(x.Notes) == 0 && c.Index.Postgres() == "" {
		fmt.Fprintln(p.Stdout, "kept in "+guard.Line(place.Cache.Folder, driver.MaxLine))
	}
	return nil
}
