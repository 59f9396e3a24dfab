package evalcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/history"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/pull"
	"github.com/org/pr-review-action/internal/wording"
)

func importFlags(f *pflag.FlagSet, o *Options) {
	f.IntVar(&o.last, "last", 50, "`number` of merged pull requests that are looked at, the newest first")
	f.StringVar(&o.out, "out", "", "write the cases to a `file`")
	quietFlag(f, o)
}

func importCases(ctx context.Context, p Program, args []string, o *Options) error {
	var owner, repo string
	err := errors.New("no repository")
	if len(args) == 1 {
		owner, repo, err = pull.ParseRepository(args[0])
	}
	if err != nil || o.last < 1 || o.last > history.MaxLast {
		return problem.Usage(fmt.Sprintf("eval import takes one owner/repo, and --last 1 to %d", history.MaxLast),
			p.Name+" eval import owner/repo --last 50 --out cases.jsonl")
	}
	api, err := p.GitHub(pull.Ref{Host: pull.DefaultHost, Owner: owner, Repo: repo}.On(p.Getenv("GITHUB_SERVER_URL")),
		o.Settings)
	if err != nil {
		return err
	}
	// people grade cases by hand, so no file is overwritten
	return p.write(o.out, os.O_EXCL, 0o600, "name a file that is not there yet", func(out io.Writer) error {
		return p.buildCases(ctx, out, api, owner, repo, o)
	})
}

func (p Program) buildCases(ctx context.Context, out io.Writer, api history.API, owner, repo string, o *Options) error {
	tell := p.tell(o)
	tell(fmt.Sprintf("At most %d requests to GitHub's API, and none to a model.", history.Estimate(o.last)))
	line := p.Progress(o.quiet)
	pulls := func(done, total int) { line.Line("%d of %d pull requests", done, total) }
	cases, notes, err := history.Build(ctx, api, owner, repo,
		history.Options{Last: o.last, OnProgress: pulls})
	line.Stop()
	if err != nil {
		return err
	}
	for _, note := range notes {
		tell(guard.Line(note, 0))
	}
	next := ". Read them, grade their severities, and take out what is not a defect: " + p.Name +
		" eval run takes them then."
	if len(cases) == 0 {
		next = ": no person's comment on a merged change makes one."
	}
	tell(wording.Count(len(cases), "case") + next)
	return dataset.Encode(out, cases)
}
