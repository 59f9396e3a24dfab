// Package searchcmd implements the commands search and index: it searches or indexes a folder or
// a commit, or measures how well the questions in a file are answered. It reads flags and files
// and prints results; retrieve does the searching.
//
// Start reading at Run, then golden.go for the measurement.
package searchcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/index"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
	"github.com/org/pr-review-action/internal/settings"
)

// Options holds the command's flags.
type Options struct {
	settings.Settings
	dir, repo, rev string
	paths          []string
	k              int
	explain        bool
	golden         string
	JSON           bool
}

// Flags registers the flags in a flag set.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.StringVar(&o.dir, "dir", "", "the `folder` that is searched: a clone, or any folder; the default is this one")
	f.StringVar(&o.repo, "repo", "", "search a repository of GitHub instead, as `owner/name`")
	f.StringVar(&o.rev, "rev", "", "the `commit` that is searched: a branch, tag or hash; "+
		"the default is the current one")
	f.StringArrayVar(&o.paths, "path", nil, "search only paths that match this `glob`; may be repeated")
	f.IntVar(&o.k, "k", retrieve.DefaultK, "show at most this `number` of hits")
	f.BoolVar(&o.explain, "explain", false, "show at which rank each list found a hit, and what each stage produced")
	f.StringVar(&o.golden, "golden", "", "measure how well the questions in this `file` are answered; "+
		"--dir holds their sources")
	o.Settings.Flags(f, "search")
	f.BoolVar(&o.JSON, "json", false, "print one JSON object")
}

// IndexFlags registers the flags of index in a flag set.
func (o *Options) IndexFlags(f *pflag.FlagSet) {
	f.StringVar(&o.dir, "dir", "", "the clone, or any `folder`; the default is the clone that holds this one")
	f.StringVar(&o.rev, "rev", "", "the `commit` to index; the default is HEAD")
	o.Settings.Flags(f, "index")
	f.BoolVar(&o.JSON, "json", false, "print one JSON object")
}

// Program holds what the command needs from the program that it is part of.
type Program struct {
	*driver.Front
	Width int // of the terminal, in columns; 0 if there is none
	Color bool
	Warn  func(string)
}

// Run runs the search command; args are the words of the question.
func (p Program) Run(ctx context.Context, args []string, o *Options) error {
	query := strings.Join(args, " ")
	switch {
	case o.golden != "" && query != "":
		return problem.Usage("--golden asks the questions of its file", "leave out "+guard.Code(query))
	case o.golden != "" && (o.repo != "" || o.rev != "" || len(o.paths) > 0):
		return problem.Usage("--golden asks of the folders below --dir, as they are",
			"leave out --repo, --rev and --path")
	case o.golden != "":
		return p.measure(ctx, o)
	case strings.TrimSpace(query) == "":
		return problem.Usage("search needs a question", `such as search "where is the retry limit checked", or a name`)
	case o.dir != "" && o.repo != "":
		return problem.Usage("--dir and --repo name two places", "give one of them")
	case o.k < 1 || o.k > 200:
		return problem.Usage(fmt.Sprintf("--k %d is not a number of hits", o.k), "give 1 to 200")
	}
	for _, glob := range o.paths {
		if flaw := pattern.Flaw(glob); flaw != "" {
			return problem.Usage(fmt.Sprintf("--path: %.60q is not a glob: %s", glob, flaw), "")
		}
	}
	place, c, err := p.place(ctx, o)
	if err != nil {
		return err
	}
	_, engine, err := p.index(ctx, place, index.Options{}, c, o)
	if err != nil {
		return err
	}
	r, err := engine.Search(ctx, retrieve.Request{Query: query, K: o.k, Paths: o.paths})
	if err != nil {
		return err
	}
	for _, note := range r.Notes {
		p.Warn(note)
	}
	if o.JSON {
		return driver.PrintJSON(p.Stdout, objectOf(query, place.Commit, r, o.explain))
	}
	_, err = fmt.Fprint(p.Stdout, p.text(query, r, o.explain))
	return err
}
