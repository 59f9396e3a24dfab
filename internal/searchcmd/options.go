package searchcmd

import (
	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
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
