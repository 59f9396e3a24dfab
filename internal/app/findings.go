package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/org/pr-review-action/internal/eval"
	"github.com/org/pr-review-action/internal/guard"
	"github.com/org/pr-review-action/internal/ingest"
	"github.com/org/pr-review-action/internal/problem"
)

func evalFindingsFlags(f *pflag.FlagSet, o *options) {
	mirror(f, &o.settings, "provider", "base-url", "model", "concurrency", "config", "max-cost", "allow-http")
	f.StringVar(&o.eval.diff, "diff", "", "the change as a unified diff (RB_DIFF)")
	f.StringVar(&o.eval.repo, "repo", "", "a clone, for a change that comes without a diff: RB_BASE...RB_HEAD is read")
	f.StringVar(&o.out, "out", "", "where the findings are written (RB_OUT); standard output when empty")
	f.BoolVar(&o.quiet, "quiet", false, "no progress and no notices")
}

// evalFindings is the entry for public benchmarks: it reviews one change and
// writes findings as ReviewBench's agent contract asks, whose variables it reads.
func (a *app) evalFindings(ctx context.Context, args []string, o *options) error {
	if len(args) > 0 {
		return problem.Usage("eval findings takes no argument", "name the change with --diff FILE, or --repo DIR with RB_BASE and RB_HEAD")
	}
	about, err := a.benchmarked()
	if err != nil {
		return err
	}
	o.model = cmp.Or(o.model, a.getenv("RB_CONFIG_MODEL"))
	o.baseURL = cmp.Or(o.baseURL, a.getenv("RB_MODEL_BASE_URL"))
	reviewer, err := a.reviewer(o.settings, nil)
	if err != nil {
		return err
	}
	change, err := a.benchmarkChange(ctx, about, o)
	if err == nil && len(change.Files) == 0 {
		err = problem.Usage("the diff holds no file", "name a whole unified diff with --diff or RB_DIFF")
	}
	if err != nil {
		return err
	}
	reviewer.named(change.Config)
	if err := reviewer.prepare(brief{change: change}); err != nil {
		return err
	}
	out, err := a.submissionFile(cmp.Or(o.out, a.getenv("RB_OUT")))
	if err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(a.Stderr, "model=%s\n", cmp.Or(reviewer.model, "offline")) // the contract wants settings printed
	}
	agent := cmp.Or(a.getenv("RB_AGENT"), "pr-review-action")
	submission, unread, err := eval.Submit(ctx, change, reviewer.Reviewer, o.concurrency, about, agent)
	if err != nil {
		err = errors.Join(err, out.discard())
		if why := reviewer.why(); why != nil {
			return a.because(err.Error(), why)
		}
		return err
	}
	for _, file := range unread {
		a.warn("not read in full: " + guard.Line(file, 0))
	}
	return errors.Join(printJSON(out, submission), out.Close())
}

// benchmarked is the change under review, as the benchmark's variables name it.
func (a *app) benchmarked() (eval.Subject, error) {
	about := eval.Subject{Base: a.getenv("RB_BASE"), Head: a.getenv("RB_HEAD")}
	if name := a.getenv("RB_NWO"); name != "" {
		about.Repo = "https://github.com/" + name
	}
	if text := a.getenv("RB_PR_NUMBER"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return about, problem.Usage(fmt.Sprintf("RB_PR_NUMBER is %q", text), "it is the number of the pull request")
		}
		about.Number = n
	}
	return about, nil
}

func (a *app) benchmarkChange(ctx context.Context, about eval.Subject, o *options) (ingest.Change, error) {
	path := cmp.Or(o.eval.diff, a.getenv("RB_DIFF"))
	if path == "" {
		return a.clonedChange(ctx, about, o)
	}
	f, err := os.Open(path)
	if err != nil {
		return ingest.Change{}, problem.Usage("the diff cannot be read: "+err.Error(), "name one with --diff or RB_DIFF")
	}
	defer f.Close()
	return readDiff(path, f, o)
}

func (a *app) clonedChange(ctx context.Context, about eval.Subject, o *options) (ingest.Change, error) {
	if o.eval.repo == "" || about.Base == "" || about.Head == "" {
		return ingest.Change{}, problem.Usage("no change is named", "--diff FILE (RB_DIFF), or --repo DIR with RB_BASE and RB_HEAD")
	}
	c, err := ingest.Range(ctx, o.eval.repo, about.Base+"..."+about.Head, o.config)
	if err != nil {
		return c, problem.As(problem.Misuse, err, "")
	}
	return c, nil
}

// submissionFile opens the file for the findings. One of an earlier run goes.
func (a *app) submissionFile(path string) (result, error) {
	if path == "" {
		return result{Writer: a.Stdout}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return result{}, problem.Usage("the findings cannot be written: "+err.Error(), "name a file in a folder that is there, with --out or RB_OUT")
	}
	return result{Writer: f, file: f}, nil
}
