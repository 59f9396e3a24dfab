package evalcmd

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

func findingsFlags(f *pflag.FlagSet, o *Options) {
	f.StringVar(&o.diff, "diff", "", "the change as a unified diff (RB_DIFF)")
	f.StringVar(&o.repo, "repo", "", "a clone, for a change that comes without a diff: RB_BASE...RB_HEAD is read")
	f.StringVar(&o.out, "out", "", "where the findings are written (RB_OUT); standard output when empty")
	quietFlag(f, o)
}

// findings is the entry for public benchmarks: it reviews one change and
// writes findings as ReviewBench's agent contract asks, whose variables it reads.
func findings(ctx context.Context, h Host, args []string, o *Options) error {
	if len(args) > 0 {
		return problem.Usage("eval findings takes no argument",
			"name the change with --diff FILE, or --repo DIR with RB_BASE and RB_HEAD")
	}
	about, err := h.benchmarked()
	if err != nil {
		return err
	}
	change, err := h.benchmarkChange(ctx, about, o)
	if err == nil && len(change.Files) == 0 {
		err = problem.Usage("the diff holds no file", "name a whole unified diff with --diff or RB_DIFF")
	}
	if err != nil {
		return err
	}
	m := h.Model
	m.Name = cmp.Or(m.Name, h.Getenv("RB_CONFIG_MODEL"))
	m.BaseURL = cmp.Or(m.BaseURL, h.Getenv("RB_MODEL_BASE_URL"))
	reviewer, err := h.Reviewer(ctx, m, change)
	if err != nil {
		return err
	}
	out, err := h.open(cmp.Or(o.out, h.Getenv("RB_OUT")), os.O_TRUNC, 0o666)
	if err != nil {
		return problem.Usage("the findings cannot be written: "+err.Error(),
			"name a file in a folder that is there, with --out or RB_OUT")
	}
	if !o.quiet {
		fmt.Fprintf(h.Stderr, "model=%s\n", cmp.Or(reviewer.Model, "offline")) // the contract wants settings printed
	}
	agent := cmp.Or(h.Getenv("RB_AGENT"), "pr-review-action")
	submission, unread, err := eval.Submit(ctx, change, reviewer.Reviewer, h.Concurrency, about, agent)
	if err != nil {
		err = errors.Join(err, out.discard())
		if why := reviewer.Why(); why != nil {
			return h.Because(err.Error(), why)
		}
		return err
	}
	for _, file := range unread {
		h.warn("not read in full: " + guard.Line(file, 0))
	}
	return errors.Join(h.JSON(out, submission), out.Close())
}

// benchmarked is the change under review, as the benchmark's variables name it.
func (h Host) benchmarked() (eval.Subject, error) {
	about := eval.Subject{Base: h.Getenv("RB_BASE"), Head: h.Getenv("RB_HEAD")}
	if name := h.Getenv("RB_NWO"); name != "" {
		about.Repo = "https://github.com/" + name
	}
	if text := h.Getenv("RB_PR_NUMBER"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return about, problem.Usage(fmt.Sprintf("RB_PR_NUMBER is %q", text), "it is the number of the pull request")
		}
		about.Number = n
	}
	return about, nil
}

func (h Host) benchmarkChange(ctx context.Context, about eval.Subject, o *Options) (ingest.Change, error) {
	path := cmp.Or(o.diff, h.Getenv("RB_DIFF"))
	if path == "" {
		return h.clonedChange(ctx, about, o)
	}
	f, err := os.Open(path)
	if err != nil {
		return ingest.Change{}, problem.Usage("the diff cannot be read: "+err.Error(),
			"name one with --diff or RB_DIFF")
	}
	defer f.Close()
	c, err := ingest.Diff(path, f)
	if err != nil {
		return c, problem.Usage(err.Error(), "pass a whole unified diff, such as `git diff main...` prints")
	}
	c.Config, err = h.Config(c.Config)
	return c, err
}

func (h Host) clonedChange(ctx context.Context, about eval.Subject, o *Options) (ingest.Change, error) {
	if o.repo == "" || about.Base == "" || about.Head == "" {
		return ingest.Change{}, problem.Usage("no change is named",
			"--diff FILE (RB_DIFF), or --repo DIR with RB_BASE and RB_HEAD")
	}
	c, err := ingest.Range(ctx, o.repo, about.Base+"..."+about.Head, h.ConfigPath)
	if err != nil {
		return c, problem.As(problem.Misuse, err, "")
	}
	return c, nil
}
