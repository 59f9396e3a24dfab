package evalcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/problem"
)

func showFlags(f *pflag.FlagSet, o *Options) {
	f.StringVar(&o.out, "out", "", "`folder` of the run")
}

func show(ctx context.Context, p Program, args []string, o *Options) error {
	if len(args) != 1 || o.out == "" {
		return problem.Usage("eval show takes one case, and --out the folder of the run",
			p.Name+" eval show CASE --out DIR")
	}
	page, err := eval.Page(ctx, o.out, args[0])
	if errors.Is(err, eval.ErrNoRun) || errors.Is(err, eval.ErrNoCase) {
		return problem.Usage(err.Error(), "cases.jsonl in that folder has the names; eval run makes a run")
	}
	if err != nil {
		return unreadable(err)
	}
	_, err = fmt.Fprint(p.Stdout, page)
	return err
}

// unreadable reports a run whose files cannot be read.
func unreadable(err error) error {
	return problem.New(err.Error(), "", "run those cases again in the same folder: what was paid is kept there")
}

func diffFlags(f *pflag.FlagSet, o *Options) {
	f.BoolVar(&o.json, "json", false, "print one JSON object")
}

func diff(_ context.Context, p Program, args []string, o *Options) error {
	if len(args) != 2 {
		return problem.Usage("eval diff takes the folders of two runs", "the earlier one first")
	}
	var runs [2]eval.Kept
	for i, dir := range args {
		var err error
		if runs[i], err = eval.ReadRun(dir); errors.Is(err, eval.ErrNoRun) {
			return problem.Usage(err.Error(), "name a folder that eval run --out has filled")
		} else if err != nil {
			return unreadable(err)
		}
	}
	c := score.Compare(runs[0].Results, runs[1].Results)
	c.Differs = score.Differing(runs[0].Report, runs[1].Report)
	if o.json {
		return driver.PrintJSON(p.Stdout, c)
	}
	_, err := fmt.Fprint(p.Stdout, c.Markdown())
	return err
}
