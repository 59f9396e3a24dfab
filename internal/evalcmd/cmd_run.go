package evalcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/eval/dataset"
	"github.com/org/pr-review-action/internal/eval/score"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wording"
)

func run(ctx context.Context, p Program, args []string, o *Options) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(args) == 0 {
		return problem.Usage("eval run takes files of cases",
			p.Name+" eval run starter runs the set that comes with it")
	}
	cases, err := dataset.ReadWith(eval.InRepos(ctx, o.repos), args...)
	if err != nil {
		return p.printMistakes(err)
	}
	if o.limit > 0 {
		cases = cases[:min(uint(len(cases)), o.limit)]
	}
	options, err := p.options(cases, args, o)
	if err != nil {
		return err
	}
	baseline, err := readBaseline(o.baseline, options)
	if err != nil {
		return err
	}
	line, since := p.Progress(o.quiet || o.json), p.Now()
	options.Observe = func(e eval.Progress) {
		took := p.Now().Sub(since).Round(time.Second)
		line.Line("%d of %d cases · %s · %s · %s", e.Cases, e.Total, wording.Count(e.Asked, "question"), e.Cost,
			wording.Span(took))
	}
	do := eval.Run
	if o.scripted.shown {
		do = eval.RunShown
	}
	report, err := do(ctx, options)
	line.Stop()
	if err != nil {
		return err
	}
	return p.printReport(report, baseline, options.Dir, o)
}

// printMistakes prints what is wrong with the cases, one mistake per line with its position first,
// as editors parse them.
func (p Program) printMistakes(err error) error {
	if all, ok := errors.AsType[dataset.Problems](err); ok {
		fmt.Fprintf(p.Stderr, "error: %s in the cases, so nothing was run\n%s\n",
			wording.Count(len(all), "mistake"), all)
		err = driver.Reported{Err: err}
	}
	return problem.As(problem.Misuse, err, "")
}

const newBaseline = "make a new one with the same cases and judge: --json > "

// printReport prints the report and compares it with the baseline.
func (p Program) printReport(report score.Report, baseline *score.Report, dir string, o *Options) error {
	var err error
	if o.json {
		err = driver.PrintJSON(p.Stdout, report)
	} else {
		_, err = fmt.Fprint(p.Stdout, report.Markdown())
	}
	if err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintln(p.Stderr, eval.Took(report))
		fmt.Fprintf(p.Stderr, "Kept in %s: %s eval show CASE --out %s says why.\n", guard.Line(dir, 0), p.Name,
			guard.Line(dir, 0))
	}
	if baseline == nil {
		return nil
	}
	if missed := report.Missed(*baseline, o.tolerance); len(missed) > 0 {
		return problem.New("the baseline is missed", strings.Join(missed, "; "),
			p.Name+" eval diff names the cases, given the folders of both runs")
	}
	return nil
}

// readBaseline reads the baseline and checks, before anything is paid for, that the run that
// options describe can be compared with it.
func readBaseline(path string, options eval.Options) (*score.Report, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	var r score.Report
	if err == nil {
		r, err = score.ReadReport(text)
	}
	if err != nil {
		return nil, problem.Usage("the baseline cannot be read: "+path+": "+err.Error(), newBaseline+path)
	}
	if err := r.Comparable(options.Fingerprints()); err != nil {
		return nil, problem.Usage("the baseline cannot be compared: "+err.Error(), newBaseline+path)
	}
	return &r, nil
}
