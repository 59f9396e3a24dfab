package evalcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/problem"
)

func show(ctx context.Context, p Program, args []string, o *Options) error {
	if len(args) != 1 || o.out == "" {
		return problem.Usage("eval show takes one case, and --out the folder of the run",
			p.Name+" eval show CASE --out DIR")
	}
	page, err := eval.Page(ctx, o.out, args[0])
	if err != nil {
		return unreadable(err, "cases.jsonl in that folder has the names; eval run makes a run")
	}
	_, err = fmt.Fprint(p.Stdout, page)
	return err
}

// unreadable reports a run whose files cannot be read, or, with the next step, that there is none.
func unreadable(err error, next string) error {
	if errors.Is(err, eval.ErrNoRun) || errors.Is(err, eval.ErrNoCase) {
		return problem.Usage(err.Error(), next)
	}
	return problem.New(err.Error(), "", "run those cases again in the same folder: what was paid is kept there")
}

func diff(_ context.Context, p Program, args []string, o *Options) error {
	if len(args) != 2 {
		return problem.Usage("eval diff takes the folders of two runs", "the earlier one first")
	}
	var runs [2]eval.Kept
	for i, dir := range args {
		var err error
		if runs[i], err = eval.ReadRun(dir); err != nil {
			return unreadable(err, "name a folder that eval run --out has filled")
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
