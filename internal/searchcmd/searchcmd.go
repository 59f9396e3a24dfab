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

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/pattern"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/retrieve"
)

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
	engine, commit, err := p.open(ctx, o)
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
		return driver.PrintJSON(p.Stdout, objectOf(query, commit, r, o.explain))
	}
	_, err = fmt.Fprint(p.Stdout, p.text(query, r, o.explain))
	return err
}
