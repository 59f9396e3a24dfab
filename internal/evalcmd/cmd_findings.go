package evalcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/driver"
	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
	"github.com/org/pr-review-action/internal/wire"
)

func findingsFlags(f *pflag.FlagSet, o *Options) {
	f.StringVar(&o.diff, "diff", "", "`file` with the change as a unified diff (RB_DIFF)")
	f.StringVar(&o.repo, "repo", "", "a `clone`, for a change that comes without a diff: RB_BASE...RB_HEAD is read")
	f.StringVar(&o.out, "out", "", "`file` that the findings are written to (RB_OUT); standard output when empty")
	quietFlag(f, o)
}

// findings is the entry point for public benchmarks. It reads the variables of ReviewBench's
// agent contract, reviews one change and writes the findings in the form of that contract.
func findings(ctx context.Context, p Program, _ []string, o *Options) error {
	about, err := p.benchmarkSubject()
	if err != nil {
		return err
	}
	change, err := p.benchmarkChange(ctx, about, o)
	if err == nil && len(change.Files) == 0 {
		err = problem.Usage("the diff contains no file", "name a whole unified diff with --diff or RB_DIFF")
	}
	if err != nil {
		return err
	}
	o.Model = cmp.Or(o.Model, p.Getenv("RB_CONFIG_MODEL"))
	o.BaseURL = cmp.Or(o.BaseURL, p.Getenv("RB_MODEL_BASE_URL"))
	reviewer, err := p.NewReviewer(o.Settings, nil)
	if err != nil {
		return err
	}
	reviewer.NameModel(change.Config)
	if err := reviewer.Prepare(wire.Brief{Change: change}); err != nil {
		return err
	}
	return p.write(cmp.Or(o.out, p.Getenv("RB_OUT")), os.O_TRUNC, 0o666, "name a file in a folder that is there, with "+
		"--out or RB_OUT", func(out io.Writer) error { return p.submit(ctx, out, change, reviewer, about, o) })
}

func (p Program) submit(ctx context.Context, out io.Writer, change ingest.Change, reviewer *wire.Reviewer,
	about eval.Subject, o *Options) error {
	p.tell(o)("model=" + cmp.Or(reviewer.Model, "offline")) // the contract asks to print the settings
	agent := cmp.Or(p.Getenv("RB_AGENT"), "pr-review-action")
	submission, unread, err := eval.Submit(ctx, change, reviewer.Reviewer, o.Concurrency, about, agent)
	if err != nil {
		if cause := reviewer.Trouble().Cause; cause != nil {
			return eval.Because(err.Error(), cause)
		}
		return err
	}
	for _, file := range unread {
		fmt.Fprintln(p.Stderr, warning("not read in full: "+guard.Line(file, 0)))
	}
	return driver.PrintJSON(out, submission)
}

// benchmarkSubject returns the change under review, as the benchmark's variables name it.
func (p Program) benchmarkSubject() (eval.Subject, error) {
	about := eval.Subject{Base: p.Getenv("RB_BASE"), Head: p.Getenv("RB_HEAD")}
	if name := p.Getenv("RB_NWO"); name != "" {
		about.Repo = "https://github.com/" + name
	}
	if text := p.Getenv("RB_PR_NUMBER"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return about, problem.Usage(fmt.Sprintf("RB_PR_NUMBER is %q", text), "it is the number of the pull request")
		}
		about.Number = n
	}
	return about, nil
}

func (p Program) benchmarkChange(ctx context.Context, about eval.Subject, o *Options) (ingest.Change, error) {
	path := cmp.Or(o.diff, p.Getenv("RB_DIFF"))
	if path == "" {
		if o.repo == "" || about.Base == "" || about.Head == "" {
			return ingest.Change{}, problem.Usage("no change is named",
				"--diff FILE (RB_DIFF), or --repo DIR with RB_BASE and RB_HEAD")
		}
		c, err := ingest.Range(ctx, o.repo, about.Base+"..."+about.Head, o.File())
		if err != nil {
			return c, problem.As(problem.Misuse, err, "")
		}
		return c, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return ingest.Change{}, problem.Usage("the diff cannot be read: "+err.Error(),
			"name one with --diff or RB_DIFF")
	}
	defer f.Close()
	c, err := ingest.Diff(path, f)
	if err != nil {
		return c, problem.Usage(err.Error(),
			"pass a whole unified diff, such as `git diff --output=FILE main...` writes")
	}
	c.Config, err = wire.NamedConfig(o.File(), c.Config)
	return c, err
}
