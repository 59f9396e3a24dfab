package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/settings"
	"github.com/org/pr-review-action/internal/wire"
	"github.com/org/pr-review-action/internal/wording"
)

// indexOptions holds the flags of index.
type indexOptions struct {
	settings.Settings
	dir, rev string
	json     bool
}

func (a *app) indexCommand() command {
	o := &indexOptions{Settings: settings.Defaults()}
	return command{
		name: "index", help: "build the index that search and reviews use",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.dir, "dir", "", "the clone, or any `folder`; the default is the clone that holds this one")
			f.StringVar(&o.rev, "rev", "", "the `commit` to index; the default is HEAD")
			o.Flags(f, "index")
			f.BoolVar(&o.json, "json", false, "print one JSON object")
		},
		run: func(ctx context.Context, _ []string) error { return a.index(ctx, o) },
	}
}

// index builds the index that a search would use, and prints what it contains.
func (a *app) index(ctx context.Context, o *indexOptions) error {
	place, err := a.Place(ctx, o.dir, o.rev)
	if err != nil {
		return err
	}
	c, err := place.Settings(ctx, o.File())
	if err != nil {
		return err
	}
	e, err := a.Searching(c, o.Settings, wire.Asking{})
	if err != nil {
		return err
	}
	x, err := a.Indexed(ctx, place, index.Options{}, c, e, a.Warn)
	if err != nil {
		return err
	}
	for _, note := range x.Notes {
		a.Warn(note)
	}
	r := x.Report
	if o.json {
		return driver.PrintJSON(a.Stdout, struct {
			Commit string `json:"commit,omitempty"`
			index.Report
		}{place.Commit, r})
	}
	fmt.Fprintf(a.Stdout, "%s of %s, %.1f MB, in %.1f s; %s unchanged since the last index\n",
		wording.Count(r.Chunks, "chunk"), wording.Count(r.Files, "file"), float64(r.Bytes)/1e6, r.Seconds,
		wording.Count(r.Reused, "file"))
	skipped := map[bool][]string{} // true: indexed, but not cut by definitions
	for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
		name, uncut := strings.CutPrefix(reason, index.Windows)
		skipped[uncut] = append(skipped[uncut], fmt.Sprintf("%d %s", r.Skipped[reason], name))
	}
	if len(skipped[false]) > 0 {
		fmt.Fprintln(a.Stdout, "not indexed: "+strings.Join(skipped[false], ", "))
	}
	if len(skipped[true]) > 0 {
		fmt.Fprintln(a.Stdout, "not cut by definitions: "+strings.Join(skipped[true], ", "))
	}
	if place.Cache.Folder != "" && len(x.Notes) == 0 && c.Index.Postgres() == "" {
		fmt.Fprintln(a.Stdout, "kept in "+guard.Line(place.Cache.Folder, driver.MaxLine))
	}
	return nil
}
